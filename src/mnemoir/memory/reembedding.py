"""Fills in vectors that are missing: after an outage of the embedding model, or after a change of it.

What is missing is told by the rows that lack a vector of the model; a job of the queue says that somebody is to look.
So a crash loses nothing and repeats nothing. A text that the model cannot take is left to the words until the next
start, and keeps no other waiting.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import structlog

from mnemoir.core.errors import (
    Conflict,
    ProviderError,
    ProviderInvalidOutput,
    ProviderUnavailable,
    StorageUnavailable,
)
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import IndexEntry
from mnemoir.core.text import content_hash
from mnemoir.memory.background import Background
from mnemoir.ports.embedding import EmbeddingModel, Passage
from mnemoir.ports.jobs import Job
from mnemoir.ports.memory_store import MemoryStore, Unembedded
from mnemoir.search.context import embedded_in_halves
from mnemoir.search.indexing import Indexing

_log = structlog.get_logger(__name__)
KIND = "embed"
_BATCH = 64
_PATIENCE_S = 60.0
_PLAIN = Passage(text="A plain sentence.")  # a model that cannot embed this one has no fault to find with a text


class Reembedding:
    """Loads the model at the start, and has a job look for texts without a vector of it whenever `noted` is set.

    Whoever stores or finds a text without a vector sets it.
    """

    def __init__(
        self,
        store: MemoryStore,
        indexing: Indexing,
        embedding: EmbeddingModel,
        background: Background,
        noted: asyncio.Event,
    ) -> None:
        self._store = store
        self._indexing = indexing
        self._embedding = embedding
        self._background = background
        self._noted = noted
        self._queue = f"{KIND}:memories:{embedding.name}"
        self._task: asyncio.Task[None] | None = None
        self._left: set[tuple[MemoryId, bytes]] = set()  # texts the model cannot take
        self.trouble = ""  # why the last look could not be finished; never with a word of the texts
        background.handle(KIND, self._look_for)

    def start(self) -> None:
        """Begin with what an earlier run left."""
        self._noted.set()
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
            left = len(self._left)
            kept = await self._store.put_vectors(self._embedding.name, await self._embedded(waiting))
            filled += kept
            if not kept and len(self._left) == left:
                break  # all of them changed meanwhile
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
            await self._noted.wait()
            self._noted.clear()
            try:
                await self._have_it_done()
            except (StorageUnavailable, Conflict) as exc:
                _log.warning("no look for missing vectors", code=exc.code)

    async def _have_it_done(self) -> None:
        """Put a job, unless one waits. One that was put back goes: there is a reason to try again now."""
        if not await self._waiting():
            return
        await self._background.withdraw(self._queue, _was_put_back, patience_s=_PATIENCE_S)
        if not any(job.state == "PENDING" for job in await self._background.waiting(self._queue, limit=2)):
            await self._background.put(KIND, {"model": self._embedding.name}, queue=self._queue)

    async def _look_for(self, job: Job) -> Mapping[str, Any]:
        """Work such a job off; one of a model used before has nothing to do. Raises ProviderUnavailable."""
        if job.payload["model"] == self._embedding.name:
            await self.look()
            if self.trouble:
                raise ProviderUnavailable(f"Vectors could not be made: {self.trouble}")
        return {}

    async def _try(self, step: Callable[[], Awaitable[object]]) -> None:
        try:
            await step()
            self.trouble = ""
        except (ProviderError, StorageUnavailable) as exc:
            # a model's own words may quote the texts that were sent
            self.trouble = exc.message if isinstance(exc, StorageUnavailable) else exc.code
            _log.warning("vectors cannot be made now", code=exc.code)
            _log.debug("vectors cannot be made now", error=exc.message)


def _was_put_back(job: Job) -> bool:
    return job.state == "PENDING" and job.attempts > 0


def _key(text: Unembedded) -> tuple[MemoryId, bytes]:
    return text.memory_id, content_hash(text.text)


def _may_be_the_text(exc: ProviderError) -> bool:
    """Whether another text may go through: some models refuse what is too long for them, or answer it with NaN."""
    return isinstance(exc, ProviderInvalidOutput) or exc.code == "llm_bad_request"
