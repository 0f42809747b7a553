"""One server for each protocol that a model may speak, and one with config trees, over one scripted model.

They last as long as a file of tests. A place is where a request can go: a server, and for a tree the user whose
workflow answers.
"""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
import requests

from tests.scripted_llm import ScriptedLLM, ThreadedLLM
from tests.serving import ServerProcess
from tests.tree_kit import user, write_tree

Json = dict[str, Any]
MODEL = "far-model"
_PASSES = {"allowTools": True, "allowStructuredOutput": True, "acceptImages": True}
_ANSWERS: Json = {"title": "Answer", "type": "Standard", "prompt": "", "returnToUser": True}
# place -> what `model` says there, and the server
_USERS = {
    "tree": ("open", "tree"),
    "closed tree": ("closed", "tree"),
    "ollama tree": ("openollama", "tree"),
    "closed ollama tree": ("closedollama", "tree"),
    "listed tree": ("listed", "tree"),
    "preset tree": ("preset", "tree"),
    "inner tree": ("inner", "tree"),
}
EMBEDDING_ROUTES = ("/v1/embeddings", "/api/embed", "/api/embeddings")
_PROVIDERS = ("openai-chat", "openai-responses", "ollama")


# of the rows of a table, `make test` has the first
first_and_others = pytest.mark.parametrize(
    "rows",
    [pytest.param(slice(1), id="first"), pytest.param(slice(1, None), id="others", marks=pytest.mark.slow)],
)


@dataclass(frozen=True, kw_only=True)
class Sent:
    """One request of a client: the answer, and the bodies that the model's server got for it."""

    answer: requests.Response
    upstream: list[Json]
    paths: list[str]

    @property
    def dropped(self) -> tuple[str, ...]:
        """The names that the answer tells."""
        told = self.answer.headers.get("X-Mnemoir-Dropped", "")
        return tuple(told.split(", ")) if told else ()

    @property
    def body(self) -> Json:
        """The one body that the model's server got."""
        assert self.answer.status_code == 200, self.answer.text
        (body,) = self.upstream
        return body


@dataclass(frozen=True, kw_only=True)
class House:
    """All servers of these tests, and the model behind them."""

    llm: ThreadedLLM
    servers: Mapping[str, ServerProcess]
    client: requests.Session
    plain: dict[tuple[str, str, str], Json] = field(default_factory=dict)  # what a model's server gets of no member

    def ask(self, place: str, path: str, body: Json, **headers: str) -> Sent:
        """Send a request to a place; a body with `model` of "?" names what is asked there."""
        model, server = _USERS.get(place, ("mnemoir", place))
        named = {**body, "model": model} if body.get("model") == "?" else body
        before = len(self.llm.requests)
        answer = self.client.post(self.servers[server].url + path, json=named, headers=headers, timeout=60)
        # a conversation that is kept is embedded behind its answer
        kept = path in EMBEDDING_ROUTES
        asked = [one for one in self.llm.requests[before:] if (one.path in EMBEDDING_ROUTES) is kept]
        return Sent(answer=answer, upstream=[one.body for one in asked], paths=[one.path for one in asked])


def environment(llm: ThreadedLLM, provider: str, **more: str) -> dict[str, str]:
    """Settings of a server whose model is the scripted one and speaks that protocol."""
    embedding = "ollama" if provider == "ollama" else "openai"
    return {
        "OPENAI_BASE_URL": llm.openai_url,
        "OPENAI_API_KEY": "sk-test",
        "MNEMOIR_LLM__OLLAMA_URL": llm.url,
        "MNEMOIR_LLM__PROVIDER": provider,
        "MNEMOIR_LLM__MODEL": MODEL,
        "MNEMOIR_LLM__TRIES": "1",
        "MNEMOIR_EMBEDDING__PROVIDER": embedding,
        "MNEMOIR_EMBEDDING__MODEL": MODEL,
        **more,
    }


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """The servers, started once for a file."""
    folder = tmp_path_factory.mktemp("house")
    with ScriptedLLM.in_thread() as llm, contextlib.ExitStack() as running:
        servers = {
            provider: running.enter_context(ServerProcess(folder / provider, environment=environment(llm, provider)))
            for provider in _PROVIDERS
        }
        tree = write_tree(folder / "Public", llm.url, trees(llm.url))
        users = [argument for name, _ in _USERS.values() for argument in ("--user", name)]
        servers["tree"] = running.enter_context(
            ServerProcess(
                folder / "tree",
                arguments=["--config-dir", str(tree), *users],
                environment=environment(llm, "openai-chat"),
            )
        )
        client = running.enter_context(requests.Session())
        yield House(llm=llm, servers=servers, client=client)


def trees(url: str) -> Json:
    """Users of one node: with all that passes a client's members on, and with none of it, for both protocols."""
    ollama = {"endpoint": url, "apiTypeConfigFileName": "Ollama", "modelNameToSendToAPI": MODEL}
    chat = {"endpoint": url, "apiTypeConfigFileName": "Open-AI-API", "modelNameToSendToAPI": MODEL}
    kind = {"type": "ollamaApiChat", "presetType": "Ollama", "streamPropertyName": "stream"}
    forwards = {"forwardClientParameters": True}
    files: Json = {
        "ApiTypes/Ollama.json": {**kind, "maxNewTokensPropertyName": "num_predict"},
        "Endpoints/OpenChat.json": {**chat, **forwards},
        "Endpoints/ListedChat.json": {**chat, "forwardClientParameters": "listed"},
        "Endpoints/ClosedChat.json": chat,
        "Endpoints/OpenOllama.json": {**ollama, **forwards},
        "Endpoints/ClosedOllama.json": ollama,
    }
    for name, endpoint, passes in (
        ("open", "OpenChat", _PASSES),
        ("closed", "ClosedChat", {}),
        ("openollama", "OpenOllama", _PASSES),
        ("closedollama", "ClosedOllama", {}),
        ("listed", "ListedChat", _PASSES),
        ("preset", "OpenChat", {**_PASSES, "preset": "Calm"}),
        ("inner", "OpenChat", _PASSES),
    ):
        files[f"Users/{name}.json"] = user()
        files[f"Workflows/{name}/Chat.json"] = [{**_ANSWERS, "endpointName": endpoint, **passes}]
    before = {"title": "Before", "type": "Standard", "endpointName": "OpenChat", "prompt": "Think.", **_PASSES}
    files["Workflows/inner/Chat.json"].insert(0, before)
    return files
