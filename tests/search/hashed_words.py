"""A small embedding model that needs no file: each word is a fixed random direction, a text their mean."""

import functools
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mnemoir.core.errors import ProviderUnavailable
from mnemoir.ports.embedding import Embedding, Passage


class HashedWords:
    """Texts are alike as far as they share words; `tokens` says whether it gives token vectors."""

    reads_context = False

    def __init__(self, *, tokens: bool = True, name: str = "hashed") -> None:
        self.name = name
        self.dimension = 1024
        self.is_down = False
        self.asked: list[str] = []
        self._tokens = tokens

    async def embed(self, passages: Sequence[Passage]) -> list[Embedding]:
        if self.is_down:
            raise ProviderUnavailable("the embedding model is down")
        self.asked += [passage.text for passage in passages]
        return [self._embedded(passage.text) for passage in passages]

    async def warm(self) -> None:
        pass

    async def aclose(self) -> None:
        pass

    def _embedded(self, text: str) -> Embedding:
        ids = np.array([zlib.crc32(word.encode()) % 65536 for word in text.lower().split()], np.uint16)
        rows = [_direction(int(word), self.dimension) for word in ids]
        vectors = np.array(rows, np.float32).reshape(-1, self.dimension)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        mean = vectors.sum(axis=0)
        mean = mean / (np.linalg.norm(mean) or 1)
        if not self._tokens:
            return Embedding(vector=mean)
        return Embedding(vector=mean, token_ids=ids, token_vectors=vectors)


@functools.cache
def _direction(word: int, dimension: int) -> NDArray[np.float64]:
    return np.random.default_rng(word).standard_normal(dimension)
