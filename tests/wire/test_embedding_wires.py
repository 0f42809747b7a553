"""Vectors on the wire: both dialects, both ways, and answers that hold no usable vectors."""

from typing import Any

import numpy as np
import ollama
import orjson
import pytest
from openai.types import CreateEmbeddingResponse

from mnemoir.core.embeddings import EmbeddingReply, EmbeddingRequest
from mnemoir.core.errors import InvalidRequest, NotSupported, ProviderError, ProviderInvalidOutput
from mnemoir.wire import ollama_embed, openai_embeddings

VECTORS = np.array([[0.6, 0.8], [1.0, 0.0]], dtype=np.float32)


@pytest.mark.parametrize("encoding", ["float", "base64"])
def test_openai_vectors_come_back_as_they_were(encoding: str) -> None:
    request = openai_embeddings.read_request({"model": "m", "input": ["a", "b"], "encoding_format": encoding})
    data = openai_embeddings.write_reply(EmbeddingReply(vectors=VECTORS, tokens=2), request=request, model="m")
    assert (openai_embeddings.read_reply(orjson.loads(data), count=2) == VECTORS).all()
    if encoding == "float":
        assert CreateEmbeddingResponse.model_validate_json(data).usage.total_tokens == 2


def test_ollama_vectors_come_back_as_they_were() -> None:
    reply = EmbeddingReply(vectors=VECTORS, tokens=2)
    data = ollama_embed.write_reply(reply, model="m")
    assert len(ollama.EmbedResponse.model_validate_json(data).embeddings) == 2
    assert (ollama_embed.read_reply(orjson.loads(data), count=2) == VECTORS).all()
    old = ollama.EmbeddingsResponse.model_validate_json(ollama_embed.write_prompt_reply(reply))
    assert old.embedding == pytest.approx([0.6, 0.8])


def test_vectors_are_put_in_the_order_of_the_texts() -> None:
    data = [{"index": 1, "embedding": [2]}, {"index": 0, "embedding": [1]}]
    assert openai_embeddings.read_reply({"data": data}, count=2).tolist() == [[1], [2]]


def test_requests_of_both_dialects_are_read() -> None:
    given = {"model": "m", "input": "a", "dimensions": 2}
    expected = EmbeddingRequest(model="m", texts=("a",), dimension=2, is_single=True)
    assert openai_embeddings.read_request(given) == expected
    assert ollama_embed.read_request(given) == expected
    assert ollama_embed.read_prompt_request({"model": "m", "prompt": "a"}).texts == ("a",)


@pytest.mark.parametrize(
    "given", [None, [], {}, 7, ["a", 7], [None], [[]], [[7], []], [7, "a"], [-1], [True], [[1.5]]]
)
def test_an_input_that_is_neither_text_nor_tokens_is_refused_by_its_field(given: object) -> None:
    for dialect in (openai_embeddings, ollama_embed):
        with pytest.raises((InvalidRequest, NotSupported)) as caught:
            dialect.read_request({"model": "m", "input": given})
        assert str(caught.value.field).startswith("input")


@pytest.mark.parametrize(("given", "tokens"), [([7, 8], ((7, 8),)), ([[7], [8, 9]], ((7,), (8, 9)))])
def test_tokens_are_written_as_they_were_sent(given: list[Any], tokens: object) -> None:
    request = openai_embeddings.read_request({"model": "m", "input": given})
    assert (request.tokens, request.texts) == (tokens, ())
    assert openai_embeddings.write_client_request(request, model="far")["input"] == given
    with pytest.raises(NotSupported, match="token numbers"):
        ollama_embed.read_request({"model": "m", "input": given})


@pytest.mark.parametrize(
    "rows",
    [
        None,
        [],
        [[1.0]],
        [[1.0], [1.0, 2.0]],
        [["x"], ["y"]],
        [1.0, 2.0],
        [[], []],
        ["AAA", "!!"],
        [{}, {}],
        [[[1]], [[2]]],
    ],
)
def test_an_answer_without_usable_vectors_is_refused(rows: Any) -> None:
    with pytest.raises(ProviderInvalidOutput):
        ollama_embed.read_reply({"embeddings": rows}, count=2)
    with pytest.raises(ProviderInvalidOutput):
        openai_embeddings.read_reply({"data": rows and [{"embedding": row} for row in rows]}, count=2)


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "no such model", "code": 404}},
        {"error": True, "message": "no such model"},
        {"detail": "no such model"},
        {"code": 400, "msg": "no such model", "data": None},
        {"errors": ["no such model"]},
        {"object": "error", "message": "no such model"},
    ],
)
def test_an_error_in_place_of_vectors_keeps_its_words(body: dict[str, Any]) -> None:
    for dialect in (openai_embeddings, ollama_embed):
        with pytest.raises(ProviderError, match="no such model"):
            dialect.read_reply(body, count=1)
