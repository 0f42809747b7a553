"""Fills in vectors that are missing: after an outage of the embedding model, or after a change of it.

The rows that lack a vector are the queue, so a crash loses nothing and repeats nothing.
"""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from mnemoir.core.errors import ProviderError, StorageUnavailable
from mnemoir.ports.embedding import EmbeddingModel, Passage
from mnemoir.ports.memory_store import MemoryStore
from mnemoir.search.indexing import Indexing

_log = structlog.get_logger(__name__)
_BATCH = 64


class Reembedding:
    """One task that loads the model at the start and then looks now and then for texts without a vector of it."""

    def __init__(
        self, store: MemoryStore, indexing: Indexing, embedding: EmbeddingModel, *, look_again_s: float = 10.0
    ) -> None:
        self._store = store
        self._indexing = indexing
        self._embedding = embedding
        self._look_again_s = look_again_s
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin with what an earlier run left."""
        self._task = asyncio.create_task(self._run(), name="re-embedding")

    async def aclose(self) -> None:
        """Stop at once."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def fill(self) -> int:
        """Embed all that lacks a vector; how many got one. Raises ProviderError, StorageUnavailable."""
        filled = 0
        while waiting := await self._store.without_vector(self._embedding.name, limit=_BATCH):
            if not filled:
                pending, total = await self._store.backlog(self._embedding.name)
                _log.info("embedding what has no vector yet", pending=pending, of=total, model=self._embedding.name)
            entries = await self._indexing.with_vectors([Passage(text=w.text, context=w.context) for w in waiting])
            kept = await self._store.put_vectors(self._embedding.name, list(zip(waiting, entries, strict=True)))
            filled += kept
            if not kept:
                break  # all of them changed meanwhile; the next look finds them as they are now
        if filled:
            _log.info("vectors filled in", count=filled)
        return filled

    async def _run(self) -> None:
        await self._try(self._embedding.warm)
        while True:
            await self._try(self.fill)
            await asyncio.sleep(self._look_again_s)

    async def _try(self, step: Callable[[], Awaitable[object]]) -> None:
        try:
            await step()
        except (ProviderError, StorageUnavailable) as exc:
            _log.warning("vectors cannot be made now", code=exc.code, error=exc.message)
