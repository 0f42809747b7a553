"""Shared parts of the embedding dialects: reading the texts of a request and the vectors of an answer."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mnemoir.core.embeddings import EmbeddingRequest
from mnemoir.core.errors import InvalidRequest, NotSupported
from mnemoir.wire import members, upstream
from mnemoir.wire.members import Json

Vectors = NDArray[np.float32]
ExactVectors = NDArray[np.float64]
_LARGEST_TOKEN = 2**32 - 1


def read_texts(body: Json, field: str) -> tuple[str, ...]:
    """One text or a list of texts; lists of token numbers are refused."""
    value = body.get(field)
    if isinstance(value, list) and value and isinstance(value[0], int | list):
        raise NotSupported(f"{field} holds token numbers; send the texts themselves.", field=field)
    texts = members.texts(body, field)
    if not texts:
        raise InvalidRequest(f"{field} must be a text or a list of texts, and not empty.", field=field)
    return texts


def read_tokens(body: Json, field: str) -> tuple[tuple[int, ...], ...]:
    """One list of token numbers, or a list of such lists; () for a member of another type.

    Raises InvalidRequest for a list that begins with token numbers and is not made of them.
    """
    value = body.get(field)
    if not isinstance(value, list) or not value or not isinstance(value[0], int | list):
        return ()
    if isinstance(value[0], list):
        return tuple(_numbers(inner, f"{field}[{n}]") for n, inner in enumerate(value))
    return (_numbers(value, field),)


def inputs_of(request: EmbeddingRequest) -> object:
    """The texts or token lists as the client sent them: a single one is no list of one."""
    inputs: Sequence[object] = list(request.texts) or [list(tokens) for tokens in request.tokens]
    return inputs[0] if request.is_single else inputs


def read_vectors(rows: object, count: int) -> Vectors:
    """`count` rows of one length, as float32; their values are not looked at."""
    return _read_rows(rows, count, np.float32).astype(np.float32, copy=False)


def read_exact_vectors(rows: object, count: int) -> ExactVectors:
    """`count` rows of one length, unchanged. Raises ProviderInvalidOutput for a number beyond float32."""
    vectors = _read_rows(rows, count, np.float64).astype(np.float64, copy=False)
    with np.errstate(over="ignore"):
        usable = np.isfinite(vectors.astype(np.float32)).all()
    if not usable:
        raise upstream.unusable("a vector with a value that is not a finite number")
    return vectors


def _read_rows(rows: object, count: int, kind: DTypeLike) -> NDArray[np.floating]:
    if not isinstance(rows, list) or len(rows) != count:
        got = len(rows) if isinstance(rows, list) else "no"
        raise upstream.unusable(f"{got} vectors for {count} texts")
    try:
        vectors = np.asarray(rows, dtype=kind)
    except (TypeError, ValueError, OverflowError) as exc:
        raise upstream.unusable("vectors that are not lists of numbers of one length") from exc
    if vectors.ndim != 2 or vectors.shape[1] == 0:
        raise upstream.unusable("vectors that are not lists of numbers")
    return vectors


def _numbers(value: object, field: str) -> tuple[int, ...]:
    numbers = members.as_list(value, field)
    if not numbers or not all(map(_is_token, numbers)):
        raise InvalidRequest(f"{field} must be a list of token numbers, and not empty.", field=field)
    return tuple(numbers)


def _is_token(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST_TOKEN
