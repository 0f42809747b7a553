"""Vectors that clients ask for themselves: as the model's server makes them, in any shape the protocols have."""

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
import ollama
import openai
import orjson
import pytest
import tiktoken

from mnemoir.models import client_embedding
from tests.scripted_llm import Answer, ScriptedLLM
from tests.server.conftest import OpenServer
from tests.server.server_kit import Server, asks, error_of
from tests.server.test_official_clients import openai_client

OPENAI = "/v1/embeddings"
OLLAMA = "/api/embed"


def embeds(llm: ScriptedLLM, provider: str = "openai", model: str = "far-vectors", **more: Any) -> dict[str, Any]:
    """Settings of a server whose embedding model is the scripted one."""
    url = llm.openai_url if provider == "openai" else llm.url
    return asks(llm) | {"embedding.provider": provider, "embedding.base_url": url, "embedding.model": model} | more


async def passed(server: Server, llm: ScriptedLLM, path: str, **members: Any) -> tuple[Mapping[str, Any], str | None]:
    """What the model's server was asked, and what the answer says of the rest."""
    answer = await server.ask("POST", path, members)
    assert answer.status == 200, answer.body
    return llm.requests[-1].body, answer.headers.get("x-mnemoir-dropped")


@pytest.fixture
def letters(monkeypatch: pytest.MonkeyPatch) -> None:
    """An encoding of single bytes in place of cl100k, whose file is on no test machine."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    made = tiktoken.Encoding("letters", pat_str=r"\S+|\s+", mergeable_ranks=ranks, special_tokens={})
    monkeypatch.setattr(client_embedding, "local_encoding", lambda name: made if name == "cl100k_base" else None)


# --- token arrays


@pytest.mark.parametrize("given", [[9, 8, 7], [[9, 8], [7]]])
async def test_a_model_of_openais_protocol_gets_tokens_as_they_were_sent(
    listen: OpenServer, llm: ScriptedLLM, given: list[Any]
) -> None:
    server = await listen(embeds(llm))
    rows = [[0.6, 0.8]] * (2 if isinstance(given[0], list) else 1)
    llm.queue_embedding(Answer(vectors=rows))
    async with openai_client(server) as client:
        made = await client.embeddings.create(model="text-embedding-3-small", input=given)
    assert [item.embedding for item in made.data] == [pytest.approx(row) for row in rows]
    assert llm.requests[-1].body == {"model": "far-vectors", "input": given, "encoding_format": "float"}


@pytest.mark.parametrize("model", ["text-embedding-ada-002", "openai/text-embedding-3-small"])
async def test_other_models_get_the_text_of_the_tokens(
    listen: OpenServer, llm: ScriptedLLM, letters: None, model: str
) -> None:
    server = await listen(embeds(llm, "ollama"))
    async with openai_client(server) as client:
        made = await client.embeddings.create(model=model, input=[list(b"Graz"), list(b"Lake")])
    assert llm.requests[-1].body["input"] == ["Graz", "Lake"]
    assert made.data[0].embedding == pytest.approx(llm.vector_of("Graz"))


async def test_the_builtin_model_reads_the_text_of_the_tokens(open_server: OpenServer, letters: None) -> None:
    server = await open_server()
    body = {"model": "text-embedding-ada-002", "input": list(b"Lives in Graz")}
    by_tokens = await server.post(OPENAI, body)
    by_text = await server.post(OPENAI, {**body, "input": "Lives in Graz"})
    assert by_tokens["data"] == by_text["data"]


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("text-embedding-3-small", ["mnemoir[tiktoken]", "TIKTOKEN_CACHE_DIR", "cl100k_base", "Send the texts"]),
        ("minilm", ["minilm", "mnemoir[tiktoken]", "TIKTOKEN_CACHE_DIR", "Send the texts"]),
    ],
)
async def test_tokens_that_cannot_be_read_here_are_refused_with_the_extra_and_the_file(
    listen: OpenServer, monkeypatch: pytest.MonkeyPatch, model: str, words: list[str]
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    server = await listen()
    async with openai_client(server) as client:
        with pytest.raises(openai.BadRequestError) as caught:
            await client.embeddings.create(model=model, input=[1, 2, 3])
    assert [word for word in words if word not in caught.value.message] == []
    assert (caught.value.code, caught.value.param) == ("not_supported", "input")


async def test_a_number_that_is_no_token_is_refused_by_its_place(open_server: OpenServer, letters: None) -> None:
    server = await open_server()
    body = {"model": "text-embedding-ada-002", "input": [[71], [300]]}
    answer = await server.ask("POST", OPENAI, body)
    assert error_of(answer)[0] == 400
    assert b"input[1]" in answer.body


# --- dimensions


@pytest.mark.parametrize(("path", "provider"), [(OPENAI, "openai"), (OLLAMA, "ollama"), (OPENAI, "ollama")])
async def test_dimensions_go_to_the_models_server(
    open_server: OpenServer, llm: ScriptedLLM, path: str, provider: str
) -> None:
    server = await open_server(embeds(llm, provider))
    llm.queue_embedding(Answer(vectors=[[0.6, 0.8]]))
    sent, dropped = await passed(server, llm, path, model="m", input="Graz", dimensions=2)
    assert (sent["dimensions"], dropped) == (2, None)


async def test_a_server_that_makes_no_shorter_vectors_has_those_of_a_matryoshka_model_cut(
    open_server: OpenServer, llm: ScriptedLLM
) -> None:
    server = await open_server(embeds(llm, "ollama", "qwen3-embedding:0.6b"))
    llm.queue_embedding(Answer(vectors=[[3.0, 4.0, 12.0]]))
    answer = await server.post(OPENAI, {"model": "m", "input": "Graz", "dimensions": 2})
    assert answer["data"][0]["embedding"] == pytest.approx([0.6, 0.8])


@pytest.mark.parametrize(("dimensions", "model"), [(2, "far"), (2, "nomic-embed-text"), (4, "qwen3-embedding")])
async def test_other_vectors_are_not_cut_and_none_is_made_longer(
    open_server: OpenServer, llm: ScriptedLLM, dimensions: int, model: str
) -> None:
    server = await open_server(embeds(llm, "ollama", model))
    llm.queue_embedding(Answer(vectors=[[3.0, 4.0, 12.0]]))
    answer = await server.ask("POST", OPENAI, {"model": "m", "input": "Graz", "dimensions": dimensions})
    assert error_of(answer)[0] == 400
    assert b"vectors of 3 numbers only" in answer.body


async def test_the_builtin_model_refuses_other_dimensions(open_server: OpenServer) -> None:
    server = await open_server()
    answer = await server.ask("POST", OPENAI, {"model": "m", "input": "Graz", "dimensions": 256})
    assert error_of(answer)[0] == 400
    assert b"vectors of 384 numbers only" in answer.body


# --- members


async def test_members_that_mnemoir_does_not_use_go_to_a_model_of_the_same_protocol(
    open_server: OpenServer, llm: ScriptedLLM
) -> None:
    server = await open_server(embeds(llm))
    own = {"input_type": "query", "x_new": {"a": [1, None]}}
    used_here = {"user": "mira", "encoding_format": "base64", "store": False, "session_id": "s1"}
    sent, dropped = await passed(server, llm, OPENAI, model="m", input=["Graz"], **own, **used_here)
    assert (sent, dropped) == ({"model": "far-vectors", "input": ["Graz"], "encoding_format": "float", **own}, None)


@pytest.mark.parametrize("path", [OLLAMA, "/api/embeddings"])
async def test_an_ollama_gets_options_and_keep_alive_as_they_were_sent(
    open_server: OpenServer, llm: ScriptedLLM, path: str
) -> None:
    server = await open_server(embeds(llm, "ollama"))
    own = {"options": {"num_ctx": 512}, "keep_alive": "1m", "truncate": False}
    text = {"prompt": "Graz"} if path == "/api/embeddings" else {"input": "Graz"}
    sent, dropped = await passed(server, llm, path, model="m", **text, **own)
    assert (sent, dropped) == ({"model": "far-vectors", "input": "Graz", **own}, None)


@pytest.mark.parametrize(
    ("path", "provider", "members", "named"),
    [
        (OLLAMA, "openai", {"options": {"num_ctx": 512}, "truncate": True}, "options.num_ctx, truncate"),
        (OPENAI, "ollama", {"x_new": 1}, "x_new"),
        (OPENAI, "openai", {"api_base": "http://elsewhere.example"}, "api_base"),
        (OLLAMA, "builtin", {"keep_alive": 0, "truncate": False}, "keep_alive, truncate"),
        (OLLAMA, "builtin", {"truncate": True}, None),
    ],
)
async def test_what_the_model_does_not_get_is_named(
    open_server: OpenServer, llm: ScriptedLLM, path: str, provider: str, members: dict[str, Any], named: str | None
) -> None:
    server = await open_server({} if provider == "builtin" else embeds(llm, provider))
    answer = await server.ask("POST", path, {"model": "m", "input": "Graz", **members})
    assert (answer.status, answer.headers.get("x-mnemoir-dropped")) == (200, named)
    assert [name for asked in llm.requests for name in members if name in asked.body] == []


async def test_the_setting_that_forwards_nothing_holds_for_embeddings_too(
    open_server: OpenServer, llm: ScriptedLLM
) -> None:
    server = await open_server(embeds(llm, **{"llm.forward": "none"}))
    sent, dropped = await passed(server, llm, OPENAI, model="m", input="Graz", input_type="query")
    assert ("input_type" in sent, dropped) == (False, "input_type")


# --- answers


async def test_vectors_usage_and_members_of_an_answer_come_back_as_they_came(
    open_server: OpenServer, llm: ScriptedLLM
) -> None:
    server = await open_server(embeds(llm))
    usage = {"prompt_tokens": 3, "total_tokens": 5, "prompt_tokens_details": {"text_tokens": 3}}
    item = {"object": "embedding", "index": 0, "embedding": [0.12345678901, -3.0]}
    body = {"object": "list", "id": "e-1", "model": "far-vectors", "data": [item], "usage": usage}
    llm.queue_embedding(Answer(body=orjson.dumps(body)))
    answer = await server.post(OPENAI, {"model": "m", "input": "Graz"})
    assert answer == {**body, "model": "m"}


async def test_base64_holds_the_same_vector(open_server: OpenServer, llm: ScriptedLLM) -> None:
    server = await open_server(embeds(llm))
    llm.queue_embedding(Answer(vectors=[[0.1, -3.0]]))
    answer = await server.post(OPENAI, {"model": "m", "input": "Graz", "encoding_format": "base64"})
    packed = base64.b64decode(answer["data"][0]["embedding"])
    assert np.frombuffer(packed, dtype="<f4").tolist() == np.array([0.1, -3.0], dtype=np.float32).tolist()


async def test_an_ollamas_own_counts_and_durations_come_back(listen: OpenServer, llm: ScriptedLLM) -> None:
    server = await listen(embeds(llm, "ollama"))
    counted = {"total_duration": 14_143_917, "load_duration": 1_019_500, "prompt_eval_count": 8}
    llm.queue_embedding(Answer(body=orjson.dumps({"model": "far", "embeddings": [[0.6, 0.8]], **counted})))
    async with ollama.AsyncClient(host=server.url) as client:
        made = await client.embed("m", "Graz", dimensions=2, keep_alive="1m")
    assert {name: made[name] for name in counted} == counted
    assert made.embeddings == [[0.6, 0.8]]


async def test_a_model_here_tells_how_long_it_took_and_what_it_read(open_server: OpenServer) -> None:
    server = await open_server()
    answer = await server.post(OLLAMA, {"model": "m", "input": ["Lives in Graz"]})
    assert answer["total_duration"] > 0
    assert answer["prompt_eval_count"] > 0
