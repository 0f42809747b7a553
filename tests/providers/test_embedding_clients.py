"""Embedding clients of session memory, with a scripted server."""

import asyncio
import json
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from mnemoir.conversations.search.embedding import check_embedding_client
from mnemoir.core.errors import (
    ProviderError,
    ProviderInvalidOutput,
    ProviderNotConfigured,
    SettingsError,
)
from mnemoir.providers.embedding_clients.local import BuiltInEmbedding, SentenceTransformerEmbedding
from mnemoir.providers.embedding_clients.remote import HttpEmbedding, OllamaEmbedding
from tests.conversations.documented import given_as

Reply = Callable[[dict[str, Any]], Any]


def _vector(text: str) -> list[float]:
    return [float(len(text)), 1.0, 0.5]


class Server:
    """Answers every POST with what `reply` makes of its body, after the failures that were queued."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any], str | None]] = []
        self.failures: list[tuple[int, dict[str, str]]] = []
        self.reply: Reply = dict
        self.url = ""

    async def __call__(self, request: web.BaseRequest) -> web.Response:
        body = await request.json()
        self.asked.append((request.path, body, request.headers.get("Authorization")))
        if self.failures:
            status, headers = self.failures.pop(0)
            return web.json_response({"error": "not now"}, status=status, headers=headers)
        return web.json_response(self.reply(body))


async def _served(server: Server) -> web.ServerRunner:
    runner = web.ServerRunner(web.Server(server))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    return runner


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    made = Server()
    runner = await _served(made)
    yield made
    await runner.cleanup()


def _openai(body: dict[str, Any]) -> dict[str, Any]:
    data = [{"index": number, "embedding": _vector(text)} for number, text in enumerate(body["input"])]
    return {"data": data[::-1]}  # in another order: the index counts


def _ollama(body: dict[str, Any]) -> dict[str, Any]:
    return {"embedding": _vector(body["prompt"])}


def _cohere(body: dict[str, Any]) -> dict[str, Any]:
    return {"embeddings": [_vector(text) for text in body["texts"]]}


async def test_ollama_gets_one_request_per_text_in_order(server: Server) -> None:
    server.reply = _ollama
    client = OllamaEmbedding("some-model", host=server.url + "/")
    with pytest.raises(ProviderNotConfigured, match="after its first embedding"):
        _ = client.dimension
    texts = [f"{'x' * length}" for length in range(1, 10)]
    assert await client.embed(texts) == [_vector(text) for text in texts]
    assert [path for path, _, _ in server.asked] == ["/api/embeddings"] * 9
    assert server.asked[0][1] == {"model": "some-model", "prompt": "x"}
    assert (client.dimension, client.model_name) == (3, "some-model")


def test_ollama_has_the_documented_defaults() -> None:
    client = OllamaEmbedding()
    assert (client.model_name, client.dimension) == ("nomic-embed-text", 768)


async def test_openai_vectors_come_in_the_order_of_the_texts_in_batches(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", "secret-key")
    server.reply = _openai
    client = HttpEmbedding("m", server.url + "/v1/", api_key_env="A_KEY", most_texts=2)
    assert await client.embed(["a", "bb", "ccc"]) == [_vector(text) for text in ("a", "bb", "ccc")]
    assert await client.embed([]) == []
    assert sorted(body["input"] for _, body, _ in server.asked) == [["a", "bb"], ["ccc"]]
    assert {(path, key) for path, _, key in server.asked} == {("/v1/embeddings", "Bearer secret-key")}
    assert "secret" not in repr(vars(client))


@pytest.mark.parametrize("wrap", [lambda found: found, lambda found: {"embeddings": {"float": found["embeddings"]}}])
async def test_cohere_gets_the_input_type_of_queries_and_texts(server: Server, wrap: Reply) -> None:
    server.reply = lambda body: wrap(_cohere(body))
    client = HttpEmbedding("m", server.url, format="cohere")
    assert await client.embed(["a", "bb"]) == [_vector("a"), _vector("bb")]
    assert await client.embed_single("what?") == _vector("what?")
    assert [(path, body["input_type"]) for path, body, _ in server.asked] == [
        ("/embed", "search_document"),
        ("/embed", "search_query"),
    ]


@pytest.mark.parametrize("status", [429, 503])
async def test_a_temporary_failure_is_retried_after_the_servers_wait(server: Server, status: int) -> None:
    server.reply = _openai
    server.failures = [(status, {"Retry-After": "0"})] * 2
    assert await HttpEmbedding("m", server.url).embed(["a"]) == [_vector("a")]
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    "answer", [{}, {"data": []}, {"data": [{"embedding": "no"}]}, {"data": [{"embedding": []}]}], ids=json.dumps
)
async def test_an_answer_without_vectors_is_an_error(server: Server, answer: dict[str, Any]) -> None:
    server.reply = lambda body: answer
    with pytest.raises(ProviderError):
        await HttpEmbedding("m", server.url, tries=1).embed(["a"])


async def test_vectors_of_another_length_than_before_are_refused(server: Server) -> None:
    lengths = iter([3, 4])
    server.reply = lambda body: {"embedding": [1.0] * next(lengths)}
    client = OllamaEmbedding("some-model", host=server.url)
    await client.embed_single("a")
    with pytest.raises(ProviderInvalidOutput, match=r"4 numbers, where 3"):
        await client.embed_single("a")


def test_an_unset_key_and_an_invalid_url_are_reported() -> None:
    with pytest.raises(ProviderNotConfigured, match="NO_SUCH_KEY"):
        HttpEmbedding("m", "http://localhost:1", api_key_env="NO_SUCH_KEY")
    with pytest.raises(SettingsError):
        HttpEmbedding("m", "nowhere")


def test_a_client_works_in_several_event_loops(server_in_thread: str) -> None:
    client = OllamaEmbedding("some-model", host=server_in_thread)
    assert [asyncio.run(client.embed_single(text)) for text in ("a", "bb")] == [_vector("a"), _vector("bb")]


@pytest.fixture
def server_in_thread() -> Iterator[str]:
    made = Server()
    made.reply = _ollama
    with asyncio.Runner() as runner:
        served = runner.run(_served(made))
        thread = threading.Thread(target=runner.get_loop().run_forever)
        thread.start()
        yield made.url
        runner.get_loop().call_soon_threadsafe(runner.get_loop().stop)
        thread.join()
        runner.run(served.cleanup())


async def test_the_built_in_model_is_a_client() -> None:
    client = BuiltInEmbedding()
    assert client.dimension == 384
    assert await check_embedding_client(client) == 384
    await client.model.aclose()


def test_the_default_model_needs_no_extra_and_others_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert SentenceTransformerEmbedding().dimension == 384
    assert "MiniLM" in SentenceTransformerEmbedding().model_name
    with pytest.raises(ProviderNotConfigured, match="sentence-transformers"):
        SentenceTransformerEmbedding("all-mpnet-base-v2")


LIBRARY = """
class SentenceTransformer:
    def __init__(self, name, device=None, cache_folder=None):
        self.made_with = name, device, cache_folder

    def encode(self, texts, **options):
        return [[1.0, 0.0] for text in texts]
"""


async def test_device_and_folder_reach_the_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "sentence_transformers.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)  # so that the import below is undone at the end
    monkeypatch.delitem(sys.modules, "sentence_transformers")
    client = SentenceTransformerEmbedding("some-model", "cpu", tmp_path / "models")
    assert await client.embed_single("Hi") == [1.0, 0.0]
    made = client.model._model.made_with  # type: ignore[attr-defined]  # what the library was given
    assert made == ("some-model", "cpu", str(tmp_path / "models"))
    await client.model.aclose()


async def test_the_built_in_model_ignores_device_and_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    client = SentenceTransformerEmbedding(device="cuda:7", cache_dir=tmp_path / "models")
    assert await check_embedding_client(client) == 384
    assert not (tmp_path / "models").exists()
    await client.model.aclose()


def test_the_constructor_of_the_library_is_as_documented() -> None:
    documented = "model_name='sentence-transformers/all-MiniLM-L6-v2', device=None, cache_dir=None"
    assert given_as(documented, SentenceTransformerEmbedding) == documented


@pytest.mark.parametrize("name", [5, None, "", "   ", "a\nb"])
@pytest.mark.parametrize(
    "make",
    [SentenceTransformerEmbedding, OllamaEmbedding, lambda name: HttpEmbedding(name, "http://127.0.0.1:9/v1")],
)
def test_a_blank_model_name_is_refused(make: Callable[[Any], Any], name: Any) -> None:
    with pytest.raises(SettingsError, match=r"Embedding has a model_name that cannot be used: .*; set it to"):
        make(name)
