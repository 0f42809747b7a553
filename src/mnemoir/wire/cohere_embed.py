"""The client's side of Cohere's `/embed`."""

from collections.abc import Mapping, Sequence
from typing import Any

from mnemoir.wire import upstream
from mnemoir.wire.embedding_request import Vectors, read_vectors
from mnemoir.wire.members import Json

__all__ = ["read_reply", "write_question", "write_request"]


def write_request(texts: Sequence[str], *, model: str) -> dict[str, Any]:
    """The request for vectors of texts that searches are to find."""
    return {"model": model, "texts": list(texts), "input_type": "search_document"}


def write_question(texts: Sequence[str], *, model: str) -> dict[str, Any]:
    """The request for vectors of questions."""
    return {**write_request(texts, model=model), "input_type": "search_query"}


def read_reply(body: Json, *, count: int) -> Vectors:
    """`count` vectors in either format: a list, or lists by type, of which `float` is read.

    Raises ProviderInvalidOutput.
    """
    found = upstream.member(body, "embeddings")
    return read_vectors(found.get("float") if isinstance(found, Mapping) else found, count)
