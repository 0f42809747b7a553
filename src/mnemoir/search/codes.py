"""Byte formats of vectors: sentence vectors as float16, token vectors at one bit per dimension.

The bit is the sign. On the development conversations late interaction over signs ranks as well as over float16
token vectors, at 48 bytes a token instead of 768.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mnemoir.ports.embedding import FloatArray


def pack_vector(vector: FloatArray) -> bytes:
    """Little-endian float16."""
    return vector.astype("<f2").tobytes()


def unpack_vector(stored: bytes) -> FloatArray:
    """The vector that `pack_vector` encoded."""
    return np.frombuffer(stored, dtype="<f2").astype(np.float32)


def pack_ids(token_ids: NDArray[np.uint16]) -> bytes:
    """Little-endian uint16."""
    return token_ids.astype("<u2").tobytes()


def unpack_ids(stored: bytes) -> NDArray[np.uint16]:
    """The ids that `pack_ids` encoded."""
    return np.frombuffer(stored, dtype="<u2")


def pack_codes(token_vectors: FloatArray) -> bytes:
    """Signs only: rows of dimension / 8 bytes, the last byte filled up with zeros."""
    return np.packbits(token_vectors > 0, axis=1).tobytes()


def unpack_bits(stored: Sequence[bytes], dimension: int) -> NDArray[np.uint8]:
    """The rows of all of `stored` in one array, a 0 or 1 per dimension."""
    rows = np.frombuffer(b"".join(stored), np.uint8).reshape(-1, code_bytes(dimension))
    return np.unpackbits(rows, axis=1, count=dimension)


def code_bytes(dimension: int) -> int:
    """The bytes per token."""
    return (dimension + 7) // 8
