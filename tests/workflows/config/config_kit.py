"""Config trees in a folder of a test."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mnemoir.workflows.config.tree import ConfigTree

SETTLED = 1_700_000_000  # seconds; long before any test

SMALL: Mapping[str, Any] = {
    "Users/_current-user.json": {"currentUser": "Ann"},
    "Users/ann.json": {
        "customWorkflowOverride": True,
        "customWorkflow": "Chat",
        "chatPromptTemplateName": "_chatonly",
    },
    "ApiTypes/Open-AI-API.json": {"type": "openAIChatCompletion", "presetType": "OpenAiCompatibleApis"},
    "Endpoints/Main.json": {"endpoint": "http://127.0.0.1:8080", "apiTypeConfigFileName": "Open-AI-API"},
    "Presets/OpenAiCompatibleApis/Ann/Calm.json": {"temperature": 0.2},
    "PromptTemplates/_chatonly.json": {"promptTemplateUserPrefix": "\n"},
    "Workflows/Ann/Chat.json": [
        {"type": "Standard", "endpointName": "Main", "preset": "Calm", "prompt": "", "returnToUser": True}
    ],
}


def write(root: Path, files: Mapping[str, object]) -> Path:
    """Write each file as JSON, or unchanged for bytes, with a modification time long past."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        os.utime(path, (SETTLED, SETTLED))
    return root


def tree_of(folder: Path, files: Mapping[str, object] | None = None) -> ConfigTree:
    """The small tree with additional files, opened."""
    return ConfigTree.open(write(folder / "Public" / "Configs", {**SMALL, **(files or {})}))
