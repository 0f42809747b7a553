"""What both embedding dialects ask for, and how vectors are read from an answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mnemoir.core.errors import InvalidRequest, NotSupported
from mnemoir.wire import members, upstream
from mnemoir.wire.members import Json

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingRequest:
    """Texts to embed; `dimension` is the length asked for, None for the model's own.

    `is_single` tells that the client sent one text and not a list of one.
    """

    model: str
    texts: Sequence[str]
    encoding: Literal["float", "base64"] = "float"
    dimension: int | None = None
    is_single: bool = False


def read_texts(body: Json, field: str) -> tuple[str, ...]:
    """One text or a list of texts; lists of token numbers are refused."""
    value = body.get(field)
    if isinstance(value, list) and value and isinstance(value[0], int | list):
        raise NotSupported(f"{field} holds token numbers; send the texts themselves.", field=field)
    texts = members.texts(body, field)
    if not texts:
        raise InvalidRequest(f"{field} must be a text or a list of texts, and not empty.", field=field)
    return texts


def read_vectors(rows: object, count: int) -> Vectors:
    """`count` rows of one length, as float32; their values are not looked at."""
    if not isinstance(rows, list) or len(rows) != count:
        got = len(rows) if isinstance(rows, list) else "no"
        raise upstream.unusable(f"{got} vectors for {count} texts")
    try:
        vectors = np.asarray(rows, dtype=np.float32)
    except (TypeError, ValueError, OverflowError) as exc:
        raise upstream.unusable("vectors that are not lists of numbers of one length") from exc
    if vectors.ndim != 2 or vectors.shape[1] == 0:
        raise upstream.unusable("vectors that are not lists of numbers")
    return vectors
