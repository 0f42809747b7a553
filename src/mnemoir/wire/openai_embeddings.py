"""OpenAI's embeddings, read and written. Its own client requests base64: float32, little endian."""

import base64
import binascii
from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson

from mnemoir.core.embeddings import EmbeddingReply, EmbeddingRequest
from mnemoir.core.errors import InvalidRequest
from mnemoir.core.messages import Route
from mnemoir.wire import members, upstream
from mnemoir.wire.answers.error_shapes import raise_error_in_place, raise_error_of
from mnemoir.wire.embedding_request import (
    Vectors,
    inputs_of,
    read_exact_vectors,
    read_texts,
    read_tokens,
    read_vectors,
)
from mnemoir.wire.members import OWN_MEMBERS, Json, asked_extra, extra_of, members_for, merged_members
from mnemoir.wire.openai_chat import write_error

__all__ = [
    "read_client_reply",
    "read_reply",
    "read_request",
    "write_client_request",
    "write_error",
    "write_reply",
    "write_request",
]

ROUTE: Route = "openai-embeddings"
_OF_REQUESTS = OWN_MEMBERS | {"model", "input", "encoding_format", "dimensions"}
_OF_ANSWERS = frozenset({"object", "data", "model", "error"})


def read_request(body: Json) -> EmbeddingRequest:
    """Read a client's request. Raises InvalidRequest naming the field; unknown members are kept in `extra`."""
    body = members.as_object(body, "body")
    encoding = members.text(body, "encoding_format") or "float"
    if encoding not in ("float", "base64"):
        raise InvalidRequest("encoding_format must be float or base64.", field="encoding_format")
    given, tokens = body.get("input"), read_tokens(body, "input")
    return EmbeddingRequest(
        model=members.text(body, "model") or "",
        texts=() if tokens else read_texts(body, "input"),
        tokens=tokens,
        is_single=isinstance(given, str) or (bool(tokens) and isinstance(given, list) and isinstance(given[0], int)),
        dimension=members.integer(body, "dimensions", least=1),
        encoding="base64" if encoding == "base64" else "float",
        extra=asked_extra(body, _OF_REQUESTS, ROUTE),
    )


def write_request(texts: Sequence[str], *, model: str) -> dict[str, Any]:
    """The request for Mnemoir's own vectors; plain numbers, because many compatible servers know no other format."""
    return {"model": model, "input": list(texts), "encoding_format": "float"}


def write_client_request(request: EmbeddingRequest, *, model: str) -> dict[str, Any]:
    """The request for a client: its texts or tokens as it sent them, with the members that are forwarded."""
    body: dict[str, Any] = {"model": model, "input": inputs_of(request), "encoding_format": "float"}
    if request.dimension is not None:
        body["dimensions"] = request.dimension
    return merged_members(members_for(request.extra, ROUTE), body)


def write_reply(reply: EmbeddingReply, *, request: EmbeddingRequest, model: str) -> bytes:
    """The answer's body; the usage is that of the model's server where it speaks this protocol."""
    if request.encoding == "base64":
        rows = np.ascontiguousarray(reply.vectors, dtype="<f4")
        written = [base64.b64encode(row.tobytes()).decode() for row in rows]
    else:
        written = list(np.ascontiguousarray(reply.vectors))
    passed = members_for(reply.extra, ROUTE)
    usage = passed.get("usage") or {"prompt_tokens": reply.tokens or 0, "total_tokens": reply.tokens or 0}
    data = [{"object": "embedding", "index": n, "embedding": row} for n, row in enumerate(written)]
    body = {**passed, "object": "list", "data": data, "model": model, "usage": usage}
    return orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY)


def read_reply(body: Json, *, count: int) -> Vectors:
    """`count` vectors in the order of the texts. Raises ProviderInvalidOutput, or the error the body holds."""
    return read_vectors(_rows(body), count)


def read_client_reply(body: Json, *, count: int) -> EmbeddingReply:
    """The answer with all members for the client, vectors unchanged. Raises like `read_reply`."""
    counted = upstream.member(body.get("usage"), "prompt_tokens")
    return EmbeddingReply(
        vectors=read_exact_vectors(_rows(body), count),
        tokens=None if counted is None else upstream.count(counted),
        extra=extra_of(body, _OF_ANSWERS, ROUTE),
    )


def _rows(body: Json) -> list[object]:
    raise_error_of(body)
    data = body.get("data")
    if not isinstance(data, list):
        raise_error_in_place(body)
        raise upstream.unusable("no data")
    numbers = [upstream.member(item, "index") for item in data]
    if all(isinstance(number, int) for number in numbers):
        data = [item for _, item in sorted(zip(numbers, data, strict=True), key=lambda pair: pair[0])]
    return [_row(upstream.member(item, "embedding")) for item in data]


def _row(value: object) -> object:
    """The numbers of one vector, decoded where they are base64."""
    if not isinstance(value, str):
        return value
    try:
        return np.frombuffer(base64.b64decode(value, validate=True), dtype="<f4").tolist()
    except (binascii.Error, ValueError) as exc:
        raise upstream.unusable("a vector that is not base64 of float32") from exc
