"""OpenAI's embeddings, both ways. Its own client asks for base64: float32, little endian."""

import base64
import binascii
from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson

from mnemoir.core.errors import InvalidRequest
from mnemoir.wire import members, upstream
from mnemoir.wire.embedding_request import EmbeddingRequest, Vectors, read_texts, read_vectors
from mnemoir.wire.members import Json
from mnemoir.wire.openai_chat import write_error

__all__ = ["read_reply", "read_request", "write_error", "write_reply", "write_request"]


def read_request(body: Json) -> EmbeddingRequest:
    """What a client asks of us. Raises InvalidRequest naming the field."""
    body = members.as_object(body, "body")
    encoding = members.text(body, "encoding_format") or "float"
    if encoding not in ("float", "base64"):
        raise InvalidRequest("encoding_format must be float or base64.", field="encoding_format")
    return EmbeddingRequest(
        model=members.text(body, "model") or "",
        texts=read_texts(body, "input"),
        encoding="base64" if encoding == "base64" else "float",
        dimension=members.integer(body, "dimensions", least=1),
        is_single=isinstance(body.get("input"), str),
    )


def write_request(texts: Sequence[str], *, model: str) -> dict[str, Any]:
    """What we ask; plain numbers, because many compatible servers know nothing else."""
    return {"model": model, "input": list(texts), "encoding_format": "float"}


def write_reply(vectors: Vectors, *, request: EmbeddingRequest, model: str, tokens: int) -> bytes:
    """Our answer: one row of `vectors` per text; `tokens` were read."""
    rows = np.ascontiguousarray(vectors, dtype="<f4")
    data = [
        {
            "object": "embedding",
            "index": n,
            "embedding": base64.b64encode(row.tobytes()).decode() if request.encoding == "base64" else row,
        }
        for n, row in enumerate(rows)
    ]
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    body = {"object": "list", "data": data, "model": model, "usage": usage}
    return orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY)


def read_reply(body: Json, *, count: int) -> Vectors:
    """`count` vectors in the order of the texts. Raises ProviderInvalidOutput, or the error the body holds."""
    if body.get("error"):
        raise upstream.error_in_body(body)
    data = body.get("data")
    if not isinstance(data, list):
        raise upstream.unusable("no data")
    numbers = [upstream.member(item, "index") for item in data]
    if all(isinstance(number, int) for number in numbers):
        data = [item for _, item in sorted(zip(numbers, data, strict=True), key=lambda pair: pair[0])]
    return read_vectors([_row(upstream.member(item, "embedding")) for item in data], count)


def _row(value: object) -> object:
    """The numbers of one vector, from base64 if need be."""
    if not isinstance(value, str):
        return value
    try:
        return np.frombuffer(base64.b64decode(value, validate=True), dtype="<f4").tolist()
    except (binascii.Error, ValueError) as exc:
        raise upstream.unusable("a vector that is not base64 of float32") from exc
