"""Embedding clients and a vector store with no member but those that the designs name."""

import math
import threading
import zlib
from collections.abc import Callable, Mapping
from typing import Any

_DIMENSION = 64
Found = tuple[list[str], list[str], list[dict[str, Any]], list[float]]


class LeastClient:
    """Exactly `embed`, `embed_single` and `dimension`: texts that share words are alike. It can be told to fail."""

    def __init__(self, salt: str = "") -> None:
        self._salt = salt
        self.is_down = False
        self.asked: list[list[str]] = []

    @property
    def dimension(self) -> int:
        return _DIMENSION

    async def embed(self, texts: list[str]) -> list[list[float]]:
        return self._vectors(texts)

    async def embed_single(self, text: str) -> list[float]:
        return self._vectors([text])[0]

    def _vectors(self, texts: list[str]) -> list[list[float]]:
        self.asked.append(texts)
        if self.is_down:
            raise ConnectionError("the embedder is down")
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * _DIMENSION
        for word in text.lower().split():
            vector[zlib.crc32((self._salt + word).encode()) % _DIMENSION] += 1.0
        length = math.sqrt(sum(x * x for x in vector)) or 1.0
        return [x / length for x in vector]


class PlainClient:
    """The same by plain functions; it notes the threads in which they ran."""

    def __init__(self) -> None:
        self._least = LeastClient()
        self.threads: set[str] = set()

    @property
    def dimension(self) -> int:
        return _DIMENSION

    def embed(self, texts: list[str]) -> list[list[float]]:
        self.threads.add(threading.current_thread().name)
        return self._least._vectors(texts)

    def embed_single(self, text: str) -> list[float]:
        self.threads.add(threading.current_thread().name)
        return self._least._vectors([text])[0]


class LeastStore:
    """Exactly `add` and `search`, in memory; a condition is one key with its value."""

    def __init__(self) -> None:
        self.rows: dict[str, tuple[list[float], str, dict[str, Any]]] = {}

    def add(
        self, ids: list[str], embeddings: list[list[float]], documents: list[str], metadata: list[dict[str, Any]]
    ) -> None:
        self.rows.update(zip(ids, zip(embeddings, documents, metadata, strict=True), strict=True))

    def search(self, query_embedding: list[float], top_k: int = 10, where: dict[str, Any] | None = None) -> Found:
        near = [
            (1.0 - sum(a * b for a, b in zip(vector, query_embedding, strict=True)), id, document, members)
            for id, (vector, document, members) in self.rows.items()
            if all(members.get(key) == value for key, value in (where or {}).items())
        ]
        near.sort(key=lambda row: row[0])
        distances, ids, documents, metadata = zip(*near[:top_k], strict=True) if near[:top_k] else ((), (), (), ())
        return list(ids), list(documents), list(metadata), list(distances)


LEAST_CLIENTS: Mapping[str, Callable[[], LeastClient | PlainClient]] = {
    "three members": LeastClient,
    "plain": PlainClient,
}
