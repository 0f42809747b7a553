"""Embeds texts without a vector: after an outage of the embedding model, or after a change of model.

Terms that older rules made are made anew in the same way, and vectors of another length than the model's.

The rows show which vectors of the model are missing; a job of the queue only requests a pass. So a crash loses and
repeats nothing. A text that the model refuses is found by its words alone until the next start and delays no other.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import structlog

from mnemoir.core.errors import ProviderError, ProviderUnavailable, StorageUnavailable
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import IndexEntry
from mnemoir.core.text import content_hash
from mnemoir.memory.background import Background
from mnemoir.memory.noted_work import NotedWork
from mnemoir.ports.embedding import EmbeddingModel, Passage
from mnemoir.ports.memory_store import SpaceVectors, Unembedded, VectorBacklog
from mnemoir.search.indexing import Indexing, NoVectors, embedded_in_halves, may_be_the_text
from mnemoir.search.spaces import FurtherSpace, passage_of

_log = structlog.get_logger(__name__)
KIND = "embed"
TERMS_KIND = "terms"
_BATCH = 64
_PLAIN = Passage(text="A plain sentence.")  # if this fails, the model is at fault and not a text


class Reembedding:
    """Loads the model at the start, and queues a job for texts without a vector of it whenever `noted` is set.

    Code that stores or finds a text without a vector sets it.
    """

    def __init__(
        self,
        store: VectorBacklog,
        indexing: Indexing,
        embedding: EmbeddingModel,
        background: Background,
        noted: asyncio.Event,
        *,
        kind: str = KIND,
        warms: bool = True,
        passage: Callable[[Unembedded], Passage] = passage_of,
        forget: Callable[[str, int], Awaitable[int]] | None = None,
    ) -> None:
        """`kind` is the kind of its jobs. Without `warms` the model is loaded by the first text only.

        `passage` is what the model gets of a text. `forget` has vectors of another length made anew (`MainVectors`).
        """
        self._forget = forget
        self._warms = warms
        self._passage = passage
        self._store = store
        self._indexing = indexing
        self._embedding = embedding
        self._noted = noted
        self._jobs = NotedWork(background, kind, noted, self._is_needed, self._look_for, model=embedding.name)
        self.queue = self._jobs.queue
        self._left: set[tuple[MemoryId, bytes]] = set()  # texts that the model refuses
        self.trouble = ""  # why the last pass did not finish; quotes no texts

    def start(self) -> None:
        """Start with the texts that an earlier run left."""
        self._noted.set()
        self._jobs.start(partial(self._try, self._embedding.warm) if self._warms else None)

    async def aclose(self) -> None:
        """Stop at once."""
        await self._jobs.aclose()

    async def backlog(self) -> tuple[int, int]:
        """(vectors that are still to be made, all that there are to be)."""
        return await self._store.backlog(self._embedding.name)

    async def look(self) -> None:
        """Embed missing texts as far as possible now; `trouble` holds the problem, if any."""
        await self._try(self.fill)

    async def fill(self) -> int:
        """Embed all texts without a vector; return how many got one. Raises ProviderError, StorageUnavailable."""
        filled = 0
        while waiting := await self._waiting():
            if not filled:
                pending, total = await self.backlog()
                _log.info("embedding what has no vector yet", pending=pending, of=total, model=self._embedding.name)
            left = len(self._left)
            kept = await self._store.put_vectors(self._embedding.name, await self._embed_texts(waiting))
            filled += kept
            if not kept and len(self._left) == left:
                break  # each was changed or deleted since it was read
        if filled:
            _log.info("vectors filled in", count=filled)
        return filled

    async def _forget_other_lengths(self) -> None:
        """Have vectors made anew that the model would make of another length now."""
        length = self._embedding.dimension
        if self._forget and length and (forgotten := await self._forget(self._embedding.name, length)):
            _log.warning(
                "vectors of another length are made anew", model=self._embedding.name, length=length, count=forgotten
            )

    async def _waiting(self) -> list[Unembedded]:
        found = await self._store.without_vector(self._embedding.name, limit=_BATCH + len(self._left))
        return [text for text in found if _key(text) not in self._left][:_BATCH]

    async def _embed_texts(self, waiting: Sequence[Unembedded]) -> list[tuple[Unembedded, IndexEntry]]:
        """Embed the texts that the model takes. Raises ProviderError when the model itself fails."""
        try:
            entries = await self._entries(waiting)
        except ProviderError as exc:
            if not may_be_the_text(exc):
                raise
        else:
            return list(zip(waiting, entries, strict=True))
        await self._indexing.with_vectors([_PLAIN])
        return await embedded_in_halves(waiting, self._entries, self._leave_out)

    def _leave_out(self, failed: Sequence[Unembedded], cause: Exception) -> bool:
        if not isinstance(cause, ProviderError) or not may_be_the_text(cause):
            raise cause
        if len(failed) == 1:
            self._left.add(_key(failed[0]))
            _log.warning("text cannot be embedded", memory=failed[0].memory_id, code=cause.code)
        return True

    async def _entries(self, waiting: Sequence[Unembedded]) -> list[IndexEntry]:
        return await self._indexing.with_vectors([self._passage(text) for text in waiting])

    async def _is_needed(self) -> bool:
        await self._forget_other_lengths()
        return bool(await self._waiting())

    async def _look_for(self) -> None:
        """The work of a job. Raises ProviderUnavailable."""
        await self.look()
        if self.trouble:
            raise ProviderUnavailable(f"Vectors could not be made: {self.trouble}")

    async def _try(self, step: Callable[[], Awaitable[object]]) -> None:
        try:
            await step()
            self.trouble = ""
        except (ProviderError, StorageUnavailable) as exc:
            # an error message of the model may quote the texts
            self.trouble = exc.message if isinstance(exc, StorageUnavailable) else exc.code
            _log.warning("vectors cannot be made now", code=exc.code)
            _log.debug("vectors cannot be made now", error=exc.message)


def vectors_in(
    space: FurtherSpace, vectors: SpaceVectors, background: Background, noted: asyncio.Event
) -> Reembedding:
    """The same for the vectors of a further space, whose model is not loaded before a text needs it."""
    kind, model = f"{KIND}_{space.name}", space.model
    return Reembedding(
        vectors, Indexing(model), model, background, noted, kind=kind, warms=False, passage=space.passage
    )


def terms_renewal(terms: VectorBacklog, background: Background) -> Reembedding:
    """The same for the terms of texts that older rules made, or that have none."""
    model = NoVectors()
    return Reembedding(terms, Indexing(model), model, background, asyncio.Event(), kind=TERMS_KIND, warms=False)


def _key(text: Unembedded) -> tuple[MemoryId, bytes]:
    return text.memory_id, content_hash(text.text)
