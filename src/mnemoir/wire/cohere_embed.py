"""Cohere's `/embed`, as its client."""

from collections.abc import Mapping, Sequence
from typing import Any

from mnemoir.wire import upstream
from mnemoir.wire.embedding_request import Vectors, read_vectors
from mnemoir.wire.members import Json

__all__ = ["read_reply", "write_question", "write_request"]


def write_request(texts: Sequence[str], *, model: str) -> dict[str, Any]:
    """What we ask for the vectors of texts that are to be found."""
    return {"model": model, "texts": list(texts), "input_type": "search_document"}


def write_question(texts: Sequence[str], *, model: str) -> dict[str, Any]:
    """What we ask for the vectors of questions."""
    return {**write_request(texts, model=model), "input_type": "search_query"}


def read_reply(body: Json, *, count: int) -> Vectors:
    """`count` vectors of either release: in a list, or in lists by type, of which `float` is read.

    Raises ProviderInvalidOutput.
    """
    found = upstream.member(body, "embeddings")
    return read_vectors(found.get("float") if isinstance(found, Mapping) else found, count)
