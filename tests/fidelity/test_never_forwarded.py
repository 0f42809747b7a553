"""What clients say to Mnemoir alone, and what would redirect a request, reaches no model, no log and no trace."""

import json
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.fidelity.conftest import environment
from tests.scripted_llm import ScriptedLLM
from tests.serving import ServerProcess

CANARY = "canary-2718281828"
OWN = ("memoryEnabled", "history", "parent_id", "user", "store", "metadata")
REDIRECTING = (
    *("api_key", "api_base", "base_url", "extra_headers", "headers", "organization", "fallbacks"),
    *("model_list", "user_config", "chat_template"),
)
FIELDS = ("conversation_id", "session_id", "metadata.session_id", "thread.id")
PLAIN: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "user", "content": "Hello"}],
    "prompt": "Hello",
    "input": "Hello",
    "suffix": ".",
}
ROUTES = ("/v1/chat/completions", "/v1/completions", "/api/chat", "/api/generate", "/v1/embeddings", "/api/embed")


def bodies() -> list[dict[str, Any]]:
    """A body for each name: the canary is its value, or stands in the object that it is a path into."""
    given: list[dict[str, Any]] = [{name: CANARY} for name in (*OWN, *REDIRECTING) if name != "history"]
    given += [{name: {"inner": [CANARY]}} for name in (*OWN, *REDIRECTING)]
    for field in FIELDS:
        outer, _, inner = field.rpartition(".")
        given.append({outer: {inner: CANARY}} if outer else {inner: CANARY})
    return given


@pytest.mark.costly("it asks with each member")
@pytest.mark.parametrize(
    "provider",
    ["openai-chat", *(pytest.param(name, marks=pytest.mark.slow) for name in ("openai-responses", "ollama"))],
)
def test_no_canary_reaches_a_model_a_log_or_a_trace(tmp_path: Path, provider: str) -> None:
    with ScriptedLLM.in_thread() as llm:
        settings = environment(
            llm, provider, MNEMOIR_SERVER__SESSION_FIELDS=",".join(FIELDS), MNEMOIR_LOG__LEVEL="debug"
        )
        with ServerProcess(tmp_path / "data", environment=settings) as server, requests.Session() as client:
            for route in ROUTES:
                for more in bodies():
                    client.post(server.url + route, json={**PLAIN, **more}, timeout=60)
            traces = [client.get(f"{server.url}/api/runs/{run}", timeout=60).text for run in runs(client, server)]
        assert len(llm.requests) > len(ROUTES)
        assert len(traces) > len(REDIRECTING)
        told = [asked.prompt + str(asked.headers) for asked in llm.requests]
        told += [without_scope(trace) for trace in traces]
        assert [text for text in (*told, server.log.read_text()) if CANARY in text] == []


def runs(client: requests.Session, server: ServerProcess) -> list[str]:
    """The ids of all runs that were kept."""
    page = client.get(f"{server.url}/api/runs?limit=200", timeout=60).json()
    return [run["id"] for run in page["results"]]


def without_scope(trace: str) -> str:
    """A trace without whose it is and which conversation it belongs to: there these names are used."""
    members = {name: value for name, value in json.loads(trace).items() if name != "scope"}
    return json.dumps(members)
