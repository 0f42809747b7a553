"""Search in sessions: by meaning, and by words and meaning together; and the vectors that it needs, kept up to date.

Every message that says something is embedded when it is saved, unless it is a system message. What fails waits for
back-filling; saving never does.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, get_args

import structlog

from mnemoir.conversations.counters import CHARS4, TokenCounter
from mnemoir.conversations.embedding import EmbeddingClient, query_embedding, vector_of
from mnemoir.conversations.embedding_jobs import ANY_MODEL, EmbeddingJobs, message_id_of
from mnemoir.conversations.embedding_worker import CLOSING_S, EmbeddingWorker
from mnemoir.conversations.hit_fusion import FoundHit, by_rank, by_weight
from mnemoir.conversations.message_index import Asked, MessageIndex
from mnemoir.conversations.messages import Message, Role
from mnemoir.conversations.search_filter import SearchFilter, Wanted, wanted_of
from mnemoir.conversations.session_search import SearchHit, SessionSearch
from mnemoir.conversations.session_storage import SessionStorage
from mnemoir.conversations.sessions import StoredMessage, naive_utc
from mnemoir.conversations.vectors import IndexedVectors, VectorStore
from mnemoir.core.clock import from_epoch, utc_now
from mnemoir.ports.embedding import Embedding

_log = structlog.get_logger(__name__)

CONTEXT_CANDIDATES = 20
_SYNC_WAIT_S = 60.0  # for a vector, where saving waits; a client that takes longer is not waited for
_FEWEST_FUSED = 50
_REMOVED_LOOK = 10_000
_NOT_ENABLED = "Semantic search not enabled: give it an embedding client and a vector store."

_ROLES: tuple[Role, ...] = get_args(Role)
Metadata = Sequence[Mapping[str, Any]]


class SemanticSearch:
    """Over one store of sessions. Without a client and a store, words alone are searched."""

    def __init__(
        self,
        rows: SessionStorage,
        client: EmbeddingClient | None = None,
        store: VectorStore | None = None,
        *,
        counter: TokenCounter = CHARS4,
        embed_sync: bool = True,
    ) -> None:
        """With `embed_sync`, `saved` waits for the vectors where no event loop runs."""
        self._rows = rows
        self._client = client
        self._store = store
        self._counter = counter
        self._embed_sync = embed_sync
        self._jobs = EmbeddingJobs(rows, client, store) if client is not None and store is not None else None
        self._worker = EmbeddingWorker(self._embed)
        self._index = MessageIndex(rows, store if isinstance(store, IndexedVectors) else None)

    @property
    def is_enabled(self) -> bool:
        """Whether search by meaning is possible."""
        return self._jobs is not None

    def saved(self, messages: Sequence[StoredMessage]) -> None:
        """Have them embedded. Never raises; when too many wait already, back-filling will do it."""
        ids = [stored.id for stored in messages if is_embeddable(stored.message)]
        if not ids or self._jobs is None:
            return
        ticket = self._worker.put(ids)
        if ticket is None:
            _log.warning("embedding_queue_full", left_to_backfill=len(ids))
        elif self._embed_sync and not _in_a_loop():
            self._worker.wait(ticket, _SYNC_WAIT_S)

    def deleted(self) -> None:
        """Remove the vectors of deleted messages, now. Never raises; what fails is tried again by the next job."""
        if self._jobs is None:
            return
        try:
            self._jobs.remove()
        except Exception as exc:  # noqa: BLE001  # the messages are deleted, and the notes of their vectors stay
            _log.warning("vectors_not_removed", error=type(exc).__name__)

    async def search(
        self, query: str, top_k: int = 5, *, filters: SearchFilter, min_similarity: float | None = None
    ) -> list[SearchHit]:
        """By meaning, most similar first; those below `min_similarity` (-1 to 1) are left out of the `top_k`.

        Raises RuntimeError without a client and a store, EmbeddingModelChanged when the store's vectors are of
        another model, what the client raises, and StorageUnavailable.
        """
        jobs = self._required()
        wanted = await asyncio.to_thread(wanted_of, filters, self._rows)
        if top_k < 1 or wanted.is_nothing:
            return []
        await asyncio.to_thread(jobs.refuse_other_model)
        embedding = await self._embedded(query)
        found = await asyncio.to_thread(self._nearest, embedding, top_k, wanted)
        return [hit for hit in found if min_similarity is None or (hit.similarity or 0.0) >= min_similarity]

    async def search_hybrid(
        self, query: str, top_k: int = 5, *, filters: SearchFilter, alpha: float | None = None
    ) -> list[SearchHit]:
        """By words and meaning, by words alone while embeddings are out of reach.

        With an `alpha`, 0 to 1, a hit's score is `alpha` parts of similarity and the rest of words. Without one, a
        store that is `IndexedVectors` is ranked whole, with all that `search` knows; the rankings of another are
        joined by reciprocal rank. Raises StorageUnavailable.
        """
        wanted = await asyncio.to_thread(wanted_of, filters, self._rows)
        if top_k < 1 or wanted.is_nothing:
            return []
        is_whole = alpha is None and isinstance(self._store, IndexedVectors)
        spoken = await asyncio.to_thread(self._index.spoken, query) if is_whole else query
        embedding = await self._embedded_if_possible(spoken)
        if is_whole or embedding is None:
            return [found.hit for found in await self._ranked(query, embedding, top_k, wanted)]
        count = max(_FEWEST_FUSED, 4 * top_k)
        by_words = await self._ranked(query, None, count, wanted)
        by_meaning = await asyncio.to_thread(self._nearest, embedding, count, wanted)
        fused = by_rank(by_words, by_meaning) if alpha is None else by_weight(by_words, by_meaning, alpha)
        return fused[:top_k]

    async def relevant_context(self, query: str, max_tokens: int = 2048, *, filters: SearchFilter) -> list[Message]:
        """The most similar messages that fit together, most similar first; one that does not fit is passed over."""
        hits = await self.search(query, CONTEXT_CANDIDATES, filters=filters)
        kept, left = [], max_tokens
        for hit in hits:
            cost = self._counter.count_one(hit.message)
            if cost <= left:
                kept.append(hit.message)
                left -= cost
        return kept

    def backfill(
        self,
        session_id: str | None = None,
        batch_size: int = 100,
        progress: Callable[[int, int], None] | None = None,
        per_second: float | None = None,
    ) -> int:
        """Embed what has no vector, in order of ids, in batches that are halved when they fail; how many.

        `progress` is told how many were tried, of how many. `per_second` limits the messages a second. It may be
        called again at any time: what has its vector is not embedded twice. Blocks.
        """
        jobs = self._required()
        return self._worker.submit(jobs.backfill(session_id, max(1, batch_size), progress, per_second)).result()

    def reindex(
        self,
        batch_size: int = 100,
        progress: Callable[[int, int], None] | None = None,
        per_second: float | None = None,
    ) -> int:
        """Forget all vectors and embed everything anew, as another model requires; how many. Blocks."""
        jobs = self._required()
        return self._worker.submit(jobs.reindex(max(1, batch_size), progress, per_second)).result()

    async def wait(self) -> None:
        """Until everything saved before has its vector, or has failed to get one."""
        await asyncio.to_thread(self._worker.wait, self._worker.newest_ticket)

    def close(self, timeout_s: float = CLOSING_S) -> None:
        """Finish what waits, for as long at most; the rest is left to back-filling."""
        self._worker.close(timeout_s)

    async def _embed(self, message_ids: Sequence[int]) -> None:
        if self._jobs is not None:
            await self._jobs.embed_saved(message_ids)

    async def _embedded(self, query: str) -> Embedding:
        client = self._client
        if client is None:
            raise RuntimeError(_NOT_ENABLED)
        return await asyncio.wrap_future(self._worker.submit(query_embedding(client, query)))

    async def _embedded_if_possible(self, query: str) -> Embedding | None:
        if self._jobs is None:
            return None
        try:
            await asyncio.to_thread(self._jobs.refuse_other_model)
            return await self._embedded(query)
        except Exception as exc:  # noqa: BLE001  # foreign code; the words are still there
            _log.warning("search_by_words_alone", error=type(exc).__name__)
            return None

    async def _ranked(self, query: str, embedding: Embedding | None, limit: int, wanted: Wanted) -> list[FoundHit]:
        asked = Asked(text=query, embedding=embedding, limit=limit, at=utc_now())
        found = await asyncio.to_thread(self._index.ranked, asked, wanted)
        return [FoundHit(_hit(stored, row.signals.get("vector")), row.score) for row, stored in found]

    def _nearest(self, embedding: Embedding, top_k: int, wanted: Wanted) -> list[SearchHit]:
        """The nearest whose messages are there; as many more are looked at as turn out to be gone."""
        if self._store is None:
            return []
        looked = top_k
        while True:
            found = self._store.search(
                query_embedding=vector_of(embedding).tolist(), top_k=looked, where=wanted.where()
            )
            hits = self._hits(*found)
            if len(hits) >= top_k or len(found[0]) < looked:
                return hits[:top_k]
            looked *= 2

    def _hits(
        self, ids: Sequence[str], documents: Sequence[str], metadata: Metadata, distances: Sequence[float]
    ) -> list[SearchHit]:
        numbers = [message_id_of(name) for name in ids]
        stored = self._rows.messages_by_id([number for number in numbers if number is not None])
        hits = []
        for number, document, members, distance in zip(numbers, documents, metadata, distances, strict=True):
            similarity = 1.0 - float(distance)
            if number is not None and number in stored:
                hits.append(_hit(stored[number], similarity))
            elif not self._was_deleted(number):
                hits.append(_foreign(number, document, members, similarity))
        return hits

    def _was_deleted(self, message_id: int | None) -> bool:
        """Whether a message that is not there once was: ids only grow, and a deletion leaves a note for a while.

        What never was comes from others who share the vector store.
        """
        if message_id is None:
            return False
        return bool(self._rows.unembedded_messages(ANY_MODEL, 1, after=message_id)) or message_id in (
            self._rows.vectors_to_remove(_REMOVED_LOOK)
        )

    def _required(self) -> EmbeddingJobs:
        if self._jobs is None:
            raise RuntimeError(_NOT_ENABLED)
        return self._jobs


def is_embeddable(message: Message) -> bool:
    """Whether search by meaning finds it: it says something, and it is no instruction."""
    return message.role != "system" and bool(message.text.strip())


def _hit(stored: StoredMessage, similarity: float | None) -> SearchHit:
    return SearchHit(
        message=stored.message,
        message_id=stored.id,
        session_id=stored.session_id,
        similarity=similarity,
        created_at=stored.created_at,
    )


def _foreign(message_id: int | None, document: str, metadata: Mapping[str, Any], similarity: float) -> SearchHit:
    """A hit of which only the vector store knows."""
    at, number = metadata.get("timestamp"), metadata.get("message_id")
    role: Role = next((role for role in _ROLES if role == metadata.get("role")), "user")
    return SearchHit(
        message=Message(role=role, content=document),
        message_id=message_id if message_id is not None else number if isinstance(number, int) else 0,
        session_id=str(metadata.get("session_id") or ""),
        similarity=similarity,
        created_at=_time(at),
    )


def _time(at: object) -> datetime | None:
    found = from_epoch(at) if isinstance(at, int | float) else None
    return found and naive_utc(found)


def _in_a_loop() -> bool:
    """Whether waiting here would hold up an event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


_: type[SessionSearch] = SemanticSearch  # checked, never run
