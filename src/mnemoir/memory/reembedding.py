"""Fills in vectors that are missing: after an outage of the embedding model, or after a change of it.

The rows that lack a vector are the queue, so a crash loses nothing and repeats nothing. A text that the model cannot
take is left to the words until the next start, and keeps no other waiting.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import structlog

from mnemoir.core.errors import ProviderError, ProviderInvalidOutput, StorageUnavailable
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import IndexEntry
from mnemoir.core.text import content_hash
from mnemoir.ports.embedding import EmbeddingModel, Passage
from mnemoir.ports.memory_store import MemoryStore, Unembedded
from mnemoir.search.context import embedded_in_halves
from mnemoir.search.indexing import Indexing

_log = structlog.get_logger(__name__)
_BATCH = 64
_PLAIN = Passage(text="A plain sentence.")  # a model that cannot embed this one has no fault to find with a text


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
        self._left: set[tuple[MemoryId, bytes]] = set()  # texts the model cannot take
        self.trouble = ""  # why the last look could not be finished; never with a word of the texts

    def start(self) -> None:
        """Begin with what an earlier run left."""
        self._task = asyncio.create_task(self._run(), name="re-embedding")

    async def aclose(self) -> None:
        """Stop at once."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def look(self) -> None:
        """Fill in what is missing, as far as that goes now; `trouble` tells how it went."""
        await self._try(self.fill)

    async def fill(self) -> int:
        """Embed all that lacks a vector; how many got one. Raises ProviderError, StorageUnavailable."""
        filled = 0
        while waiting := await self._waiting():
            if not filled:
                pending, total = await self._store.backlog(self._embedding.name)
                _log.info("embedding what has no vector yet", pending=pending, of=total, model=self._embedding.name)
            kept = await self._store.put_vectors(self._embedding.name, await self._embedded(waiting))
            filled += kept
            if not kept:
                break  # all of them changed meanwhile, or none can be embedded; the next look finds what is left
        if filled:
            _log.info("vectors filled in", count=filled)
        return filled

    async def _waiting(self) -> list[Unembedded]:
        found = await self._store.without_vector(self._embedding.name, limit=_BATCH + len(self._left))
        return [text for text in found if _key(text) not in self._left][:_BATCH]

    async def _embedded(self, waiting: Sequence[Unembedded]) -> list[tuple[Unembedded, IndexEntry]]:
        """Those that can be embedded. Raises ProviderError when it is the model that fails, and not a text."""
        try:
            entries = await self._entries(waiting)
        except ProviderError as exc:
            if not _may_be_the_text(exc):
                raise
        else:
            return list(zip(waiting, entries, strict=True))
        await self._indexing.with_vectors([_PLAIN])
        return await embedded_in_halves(waiting, self._entries, self._leave_out)

    def _leave_out(self, failed: Sequence[Unembedded], cause: Exception) -> bool:
        if not isinstance(cause, ProviderError) or not _may_be_the_text(cause):
            raise cause
        if len(failed) == 1:
            self._left.add(_key(failed[0]))
            _log.warning("text cannot be embedded", memory=failed[0].memory_id, code=cause.code)
        return True

    async def _entries(self, waiting: Sequence[Unembedded]) -> list[IndexEntry]:
        return await self._indexing.with_vectors([Passage(text=w.text, context=w.context) for w in waiting])

    async def _run(self) -> None:
        await self._try(self._embedding.warm)
        while True:
            await self.look()
            await asyncio.sleep(self._look_again_s)

    async def _try(self, step: Callable[[], Awaitable[object]]) -> None:
        try:
            await step()
            self.trouble = ""
        except (ProviderError, StorageUnavailable) as exc:
            # a model's own words may quote the texts that were sent
            self.trouble = exc.message if isinstance(exc, StorageUnavailable) else exc.code
            _log.warning("vectors cannot be made now", code=exc.code)
            _log.debug("vectors cannot be made now", error=exc.message)


def _key(text: Unembedded) -> tuple[MemoryId, bytes]:
    return text.memory_id, content_hash(text.text)


def _may_be_the_text(exc: ProviderError) -> bool:
    """Whether another text may go through: some models refuse what is too long for them, or answer it with NaN."""
    return isinstance(exc, ProviderInvalidOutput) or exc.code == "llm_bad_request"
