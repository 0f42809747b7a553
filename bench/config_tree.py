"""Config trees for benchmarks: one user with a one-node workflow, memory, and any number of further files."""

from collections.abc import Mapping
from pathlib import Path

import orjson

USER = "bench"
SLOW_USER = "slow"
_TYPE = {
    "type": "openAIChatCompletion",
    "presetType": "OpenAI",
    "maxNewTokensPropertyName": "max_tokens",
    "streamPropertyName": "stream",
}


def write_tree(root: Path, upstream: str) -> Path:
    """Write a tree with two users, of `upstream` and of its slow route; the tree's Configs folder."""
    _write(root / "ApiTypes" / "Chat.json", _TYPE)
    _write(root / "Presets" / "OpenAI" / "Plain.json", {"temperature": 0.7, "top_p": 0.9})
    for user, url in ((USER, upstream), (SLOW_USER, f"{upstream}/slow")):
        settings = {
            "customWorkflowOverride": True,
            "customWorkflow": "Answer",
            "endpointConfigsSubDirectory": user,
            "chatPromptTemplateName": "",
        }
        _write(root / "Users" / f"{user}.json", settings)
        _write(root / "Endpoints" / user / "Main.json", _endpoint(url))
        _write(root / "Workflows" / user / "Answer.json", [_answer()])
    return root


def write_large_tree(root: Path, files: int) -> Path:
    """Write the same tree with endpoints, presets and workflows of ten nodes, `files` in all; its Configs folder."""
    write_tree(root, "http://127.0.0.1:1")
    for number in range(max(0, files - sum(1 for _ in root.rglob("*.json")))):
        folder, content = (
            (root / "Workflows" / USER, [_answer(prompt=f"Say {{agent1Output}} {n}.") for n in range(10)]),
            (root / "Endpoints" / USER, _endpoint("http://127.0.0.1:1")),
            (root / "Presets" / "OpenAI", {"temperature": number / 1000, "top_p": 0.9, "top_k": None}),
        )[number % 3]
        _write(folder / f"File-{number}.json", content)
    return root


def write_memory_tree(root: Path, upstream: str, kept: Path, endpoints: int) -> Path:
    """Write a tree whose user's only node makes chunk summaries, over this number of delayed endpoints.

    `kept` is the discussion folder. Returns the tree's Configs folder.
    """
    write_tree(root, upstream)
    names = [f"Model-{number}" for number in range(endpoints)]
    for name in names:
        _write(root / "Endpoints" / USER / f"{name}.json", _endpoint(f"{upstream}/waiting"))
    settings = {
        "multiModelList": [{"endpointName": name} for name in names],
        "systemPrompt": "You write notes.",
        "prompt": "Sum this up:\n[TextChunk]",
        "chunkEstimatedTokenSize": 1000,
    }
    _write(root / "Workflows" / USER / "Settings.json", settings)
    _write(root / "Workflows" / USER / "Answer.json", [{"title": "Make memories", "type": "QualityMemory"}])
    user = root / "Users" / f"{USER}.json"
    said = {"discussionDirectory": str(kept), "discussionIdMemoryFileWorkflowSettings": "Settings"}
    _write(user, orjson.loads(user.read_bytes()) | said)
    return root


def _endpoint(url: str) -> Mapping[str, object]:
    return {
        "endpoint": url,
        "apiTypeConfigFileName": "Chat",
        "maxContextTokenSize": 8192,
        "modelNameToSendToAPI": "bench",
    }


def _answer(prompt: str = "") -> Mapping[str, object]:
    return {
        "title": "Answer",
        "type": "Standard",
        "systemPrompt": "You are a helpful assistant.",
        "prompt": prompt,
        "lastMessagesToSendInsteadOfPrompt": 10,
        "endpointName": "Main",
        "preset": "Plain",
        "maxResponseSizeInTokens": 400,
        "returnToUser": True,
    }


def _write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(content))
