"""Ollama's `/api/embed`, read and written, and the older `/api/embeddings` of one prompt, for clients that use it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson

from mnemoir.core.embeddings import EmbeddingReply, EmbeddingRequest
from mnemoir.core.messages import Route
from mnemoir.wire import members, upstream
from mnemoir.wire.answers.error_shapes import raise_error_in_place, raise_error_of
from mnemoir.wire.embedding_request import Vectors, inputs_of, read_exact_vectors, read_texts, read_vectors
from mnemoir.wire.members import OWN_MEMBERS, Json, asked_extra, extra_of, members_for, merged_members
from mnemoir.wire.ollama_options import write_error

__all__ = [
    "read_client_reply",
    "read_prompt_reply",
    "read_prompt_request",
    "read_reply",
    "read_request",
    "write_client_request",
    "write_error",
    "write_prompt",
    "write_prompt_reply",
    "write_reply",
    "write_request",
]

ROUTE: Route = "ollama-embed"
_OF_REQUESTS = OWN_MEMBERS | {"model", "input", "dimensions"}
_OF_PROMPT_REQUESTS = OWN_MEMBERS | {"model", "prompt"}
_OF_ANSWERS = frozenset({"model", "embeddings", "error"})


def read_request(body: Json) -> EmbeddingRequest:
    """Read a request to `/api/embed`. Raises InvalidRequest naming the field; unknown members go to `extra`."""
    body = members.as_object(body, "body")
    return EmbeddingRequest(
        model=members.text(body, "model") or "",
        texts=read_texts(body, "input"),
        dimension=members.integer(body, "dimensions", least=1),
        is_single=isinstance(body.get("input"), str),
        extra=asked_extra(body, _OF_REQUESTS, ROUTE),
    )


def read_prompt_request(body: Json) -> EmbeddingRequest:
    """Read a request to `/api/embeddings`."""
    body = members.as_object(body, "body")
    prompt = members.as_text(body.get("prompt"), "prompt")
    return EmbeddingRequest(
        model=members.text(body, "model") or "",
        texts=(prompt,),
        is_single=True,
        extra=asked_extra(body, _OF_PROMPT_REQUESTS, ROUTE),
    )


def write_request(texts: Sequence[str], *, model: str) -> dict[str, Any]:
    """The request for Mnemoir's own vectors; the Ollama cuts a text that exceeds the model's window."""
    return {"model": model, "input": list(texts), "truncate": True}


def write_prompt(texts: Sequence[str], *, model: str) -> dict[str, Any]:
    """The request to `/api/embeddings` for the one text in `texts`."""
    return {"model": model, "prompt": texts[0]}


def write_client_request(request: EmbeddingRequest, *, model: str) -> dict[str, Any]:
    """The request for a client: its texts as it sent them, with the members that are forwarded."""
    body: dict[str, Any] = {"model": model, "input": inputs_of(request)}
    if request.dimension is not None:
        body["dimensions"] = request.dimension
    return merged_members(members_for(request.extra, ROUTE), body)


def write_reply(reply: EmbeddingReply, *, model: str, took_ns: int = 0) -> bytes:
    """The answer of `/api/embed`; the durations are those of the Ollama behind it, else the time it took here."""
    ours = {"total_duration": took_ns, "load_duration": 0, "prompt_eval_count": reply.tokens or 0}
    rows = np.ascontiguousarray(reply.vectors)
    body = {**ours, **members_for(reply.extra, ROUTE), "model": model, "embeddings": rows}
    return orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY)


def write_prompt_reply(reply: EmbeddingReply) -> bytes:
    """The answer of `/api/embeddings`: the first row."""
    return orjson.dumps({"embedding": np.ascontiguousarray(reply.vectors[0])}, option=orjson.OPT_SERIALIZE_NUMPY)


def read_reply(body: Json, *, count: int) -> Vectors:
    """`count` vectors in the order of the texts. Raises ProviderInvalidOutput, or the error the body holds."""
    return read_vectors(_rows(body), count)


def read_prompt_reply(body: Json, *, count: int) -> Vectors:
    """The vector of the one prompt. Raises ProviderInvalidOutput."""
    return read_vectors([upstream.member(body, "embedding")], count)


def read_client_reply(body: Json, *, count: int) -> EmbeddingReply:
    """The answer with all members for the client, vectors unchanged. Raises like `read_reply`."""
    counted = body.get("prompt_eval_count")
    return EmbeddingReply(
        vectors=read_exact_vectors(_rows(body), count),
        tokens=None if counted is None else upstream.count(counted),
        extra=extra_of(body, _OF_ANSWERS, ROUTE),
    )


def _rows(body: Json) -> object:
    raise_error_of(body)
    if body.get("embeddings") is None:
        raise_error_in_place(body)
    return body.get("embeddings")
