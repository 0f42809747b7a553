"""A config tree of one user, as a server of a test serves it; its endpoints are played by scripted models."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.server.server_kit import JSON

KEY = "sk-canary-2718281828"
BEHIND = "You run behind the answer."
BEFORE = "You run before the answer."
KINDS: Mapping[str, str] = {
    "OpenAiChat": "openAIChatCompletion",
    "OpenAiText": "openAIV1Completion",
    "Kobold": "koboldCppGenerate",
    "OllamaChat": "ollamaApiChat",
    "OllamaText": "ollamaApiGenerate",
}


def endpoint(url: str, kind: str = "OpenAiChat", **more: Any) -> JSON:
    """An endpoint file; its key is a canary."""
    named = {"endpoint": url, "apiTypeConfigFileName": kind, "apiKey": KEY, "modelNameToSendToAPI": "far"}
    return {**named, "promptTemplate": "_chatonly", **more}


def asking(name: str = "Main", **more: Any) -> JSON:
    """A node that asks an endpoint: with its own prompts where it has any, else with the conversation."""
    return {"title": f"Ask {name}", "type": "Standard", "endpointName": name, "prompt": "", **more}


def answering(name: str = "Main", **more: Any) -> JSON:
    """The node that answers the client."""
    return asking(name, title="Answer", returnToUser=True, **more)


def before(name: str = "Main") -> JSON:
    """A node in front of the answer."""
    return asking(name, title="Before", systemPrompt=BEFORE, prompt="Think.")


def behind(name: str = "Main") -> JSON:
    """A node behind the answer."""
    return asking(name, title="Behind", systemPrompt=BEHIND, prompt="{agent1Output}")


def locking(lock: str = "one") -> JSON:
    """A node that lets one run past at a time."""
    return {"title": "Lock", "type": "WorkflowLock", "workflowLockId": lock}


def calling(workflow: str, **more: Any) -> JSON:
    """A node that runs another workflow."""
    return {"title": f"Call {workflow}", "type": "CustomWorkflow", "workflowName": workflow, **more}


def served(
    folder: Path,
    url: str,
    *nodes: JSON,
    files: Mapping[str, object] | None = None,
    kind: str = "OpenAiChat",
    user: Mapping[str, object] | None = None,
    **main: Any,
) -> JSON:
    """Settings of a server for one user, Ann, whose workflow is `nodes`; without any, it asks the endpoint Main.

    `files` are further files below `Configs`, `user` further settings of Ann, `main` further members of the endpoint.
    """
    fields = {"truncateLengthPropertyName": "", "maxNewTokensPropertyName": "max_tokens", "presetType": "Any"}
    tree: dict[str, object] = {
        "Users/ann.json": {"customWorkflowOverride": True, "customWorkflow": "Chat", **(user or {})},
        "Endpoints/Main.json": endpoint(url, kind, **main),
        "PromptTemplates/_chatonly.json": {"promptTemplateUserSuffix": "\n"},
        "Workflows/Ann/Chat.json": nodes or [answering()],
        **{
            f"ApiTypes/{name}.json": {"type": kind, "streamPropertyName": "stream", **fields}
            for name, kind in KINDS.items()
        },
        **(files or {}),
    }
    root = folder / "Public" / "Configs"
    for name, content in tree.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(json.dumps(content))
    return {"workflows.config_dir": str(root), "workflows.users": "Ann", "llm.tries": 1}
