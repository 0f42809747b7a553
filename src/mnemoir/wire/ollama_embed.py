"""Ollama's `/api/embed`, both ways, and the older `/api/embeddings` of one prompt for clients that still use it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson

from mnemoir.wire import members, upstream
from mnemoir.wire.embedding_request import EmbeddingRequest, Vectors, read_texts, read_vectors
from mnemoir.wire.members import Json
from mnemoir.wire.ollama_options import write_error

__all__ = [
    "read_prompt_request",
    "read_reply",
    "read_request",
    "write_error",
    "write_prompt_reply",
    "write_reply",
    "write_request",
]


def read_request(body: Json) -> EmbeddingRequest:
    """What a client asks of `/api/embed`. Raises InvalidRequest naming the field."""
    body = members.as_object(body, "body")
    return EmbeddingRequest(
        model=members.text(body, "model") or "",
        texts=read_texts(body, "input"),
        dimension=members.integer(body, "dimensions", least=1),
        is_single=isinstance(body.get("input"), str),
    )


def read_prompt_request(body: Json) -> EmbeddingRequest:
    """What a client asks of `/api/embeddings`."""
    body = members.as_object(body, "body")
    prompt = members.as_text(body.get("prompt"), "prompt")
    return EmbeddingRequest(model=members.text(body, "model") or "", texts=(prompt,), is_single=True)


def write_request(texts: Sequence[str], *, model: str) -> dict[str, Any]:
    """What we ask; a text over the model's window is cut there."""
    return {"model": model, "input": list(texts), "truncate": True}


def write_reply(vectors: Vectors, *, model: str, tokens: int, took_ns: int = 0) -> bytes:
    """Our answer to `/api/embed`: one row of `vectors` per text; `tokens` were read."""
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    body = {
        "model": model,
        "embeddings": rows,
        "total_duration": took_ns,
        "load_duration": 0,
        "prompt_eval_count": tokens,
    }
    return orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY)


def write_prompt_reply(vectors: Vectors) -> bytes:
    """Our answer to `/api/embeddings`: the first row."""
    row = np.ascontiguousarray(vectors[0], dtype=np.float32)
    return orjson.dumps({"embedding": row}, option=orjson.OPT_SERIALIZE_NUMPY)


def read_reply(body: Json, *, count: int) -> Vectors:
    """`count` vectors in the order of the texts. Raises ProviderInvalidOutput, or the error the body holds."""
    if body.get("error"):
        raise upstream.error_in_body(body)
    return read_vectors(body.get("embeddings"), count)
