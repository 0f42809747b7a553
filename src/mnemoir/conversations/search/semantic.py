"""Search in sessions, by meaning or by words and meaning together, and upkeep of the vectors that it needs.

Every message with text is embedded when it is saved, except system messages. Failures are left to back-filling and
never delay saving. Messages of all branches are found.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

import structlog

from mnemoir.conversations.search.client_model import ClientModel
from mnemoir.conversations.search.embedding import AnyEmbeddingClient, in_loop, query_embedding
from mnemoir.conversations.search.embedding_jobs import EmbeddingJobs
from mnemoir.conversations.search.embedding_worker import CLOSING_S, EmbeddingWorker, runs_a_loop
from mnemoir.conversations.search.hit_fusion import by_rank, by_weight
from mnemoir.conversations.search.message_index import Asked, MessageIndex
from mnemoir.conversations.search.multilingual_vectors import multilingual_vectors
from mnemoir.conversations.search.nearest_messages import NearestMessages, hit_of, ranked_hit, told_apart
from mnemoir.conversations.search.reranking import reranked_hits
from mnemoir.conversations.search.search_filter import SearchFilter, Wanted, wanted_of
from mnemoir.conversations.search.searched_rows import SearchedStorage
from mnemoir.conversations.search.session_search import Rerank, SearchHit, SearchHost, SessionSearch, candidate_count
from mnemoir.conversations.search.vectors import AnyVectorStore, IndexedVectors
from mnemoir.conversations.windows.counters import CHARS4, TokenCounter
from mnemoir.core.clock import Clock, utc_now
from mnemoir.core.conversations import Message
from mnemoir.core.errors import MnemoirError
from mnemoir.ports.embedding import Embedding, FloatArray
from mnemoir.search.questions import NOT_MULTILINGUAL, MultilingualQuery
from mnemoir.search.weights import Weights

T = TypeVar("T")
_log = structlog.get_logger(__name__)

CONTEXT_CANDIDATES = 20
_SYNC_WAIT_S = 60.0  # the longest wait for a vector when saving
_LOOP_WAIT_S = 2.0  # where an event loop runs: what the client asks may be served by that very loop
_FEWEST_FUSED = 50
_NOT_ENABLED = "Semantic search not enabled: give it an embedding client and a vector store."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Meaning:
    """The parts of search by meaning, present only when it is possible."""

    client: AnyEmbeddingClient
    model: ClientModel
    jobs: EmbeddingJobs
    nearest: NearestMessages


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prepared:
    """A question before embedding: its filter, and the text to embed (`spoken`), if any."""

    wanted: Wanted
    spoken: str | None


class SemanticSearch:
    """Searches one store of sessions. Without a client and a vector store, only words are searched."""

    def __init__(
        self,
        rows: SearchedStorage,
        client: AnyEmbeddingClient | None = None,
        store: AnyVectorStore | None = None,
        *,
        model: ClientModel | None = None,
        counter: TokenCounter = CHARS4,
        embed_sync: bool = True,
        clock: Clock = utc_now,
        host: SearchHost | None = None,
    ) -> None:
        """With `embed_sync`, `saved` waits for the vectors where no event loop runs.

        Vectors are made by jobs of the `host`; without one, which is without a queue, by a thread of this object.
        `model` is the client's, if its name was read already; a client without one is asked for vectors here. Raises
        SettingsError for a name that cannot be kept.
        """
        self._rows = rows
        self._counter = counter
        self._embed_sync = embed_sync
        self._clock = clock
        self._host = host
        self._packing: asyncio.Task[None] | None = None
        self._meaning = self._meaning_of(client, store, model)
        self._worker = EmbeddingWorker(self._embed_saved_messages, self._catch_up)
        self._is_whole = isinstance(store, IndexedVectors)
        indexed = store if isinstance(store, IndexedVectors) else None
        self._multilingual = host.multilingual if host and indexed else None
        self._foreign = multilingual_vectors(host, indexed)
        self._index = MessageIndex(
            rows,
            indexed,
            space=self._multilingual.space if self._multilingual else None,
            packs=host.packs if host else None,
        )
        self._ask_for_model()

    @property
    def is_enabled(self) -> bool:
        """True when search by meaning is possible."""
        return self._meaning is not None

    def note_saved(self, message_ids: Sequence[int]) -> None:
        """Have saved messages embedded. Never raises."""
        if not message_ids or self._meaning is None:
            return
        self._meaning.jobs.note_saved(message_ids)
        if self._host is not None:
            self._host.request()
            return
        self._worker.ask(self._worker.saved)
        if self._embed_sync and not runs_a_loop():
            self._worker.wait(self._worker.saved, _SYNC_WAIT_S)

    def note_deletion(self) -> None:
        """Remove the stored index, and the vectors of deleted messages. The next job retries those that stay.

        Raises StorageUnavailable when the stored index stays.
        """
        self._index.drop_stored_index()
        if self._meaning is None:
            return
        try:
            self._meaning.jobs.remove()
        except Exception as exc:  # noqa: BLE001  # the messages are deleted, and the marks of their vectors stay
            _log.warning("vectors_not_removed", error=type(exc).__name__)

    async def search(
        self,
        query: str,
        top_k: int = 5,
        *,
        filters: SearchFilter,
        min_similarity: float | None = None,
        rerank: Rerank | None = None,
    ) -> list[SearchHit]:
        """Search by meaning, most similar first; hits below `min_similarity` (-1 to 1) are left out of the `top_k`.

        Raises RuntimeError without a client and a store, EmbeddingModelChanged when the store's vectors are of
        another model, what the client or a reranker raises, and StorageUnavailable.
        """
        meaning = self._required_meaning()
        wanted = await asyncio.to_thread(wanted_of, filters, self._rows)
        if top_k < 1 or wanted.is_nothing:
            return []
        await asyncio.to_thread(self._refuse_other_model, meaning)
        embedding = await self._embedding_of(meaning, query)
        found = await self._near(meaning, query, embedding, candidate_count(top_k, rerank), wanted)
        near = [hit for hit in found if min_similarity is None or (hit.similarity or 0.0) >= min_similarity]
        return await self._best_hits(query, near, top_k, rerank)

    async def search_hybrid(
        self,
        query: str,
        top_k: int = 5,
        *,
        filters: SearchFilter,
        alpha: float | None = None,
        rerank: Rerank | None = None,
    ) -> list[SearchHit]:
        """Search by words and meaning, by words alone while embedding fails.

        With an `alpha`, 0 to 1, a hit's score is `alpha` parts of similarity and the rest of words; at 0 nothing is
        embedded. Without one, `IndexedVectors` are ranked with all stages of `search`; the rankings of other stores
        are joined by reciprocal rank. Raises StorageUnavailable, and what a reranker raises.
        """
        is_whole = alpha is None and self._is_whole
        prepared = await asyncio.to_thread(self._prepare_search, query, filters, alpha)
        wanted, looked = prepared.wanted, candidate_count(top_k, rerank)
        if top_k < 1 or wanted.is_nothing:
            return []
        embedding = await self._embedding_if_possible(prepared.spoken)
        if is_whole or embedding is None or self._meaning is None:
            multilingual = await self._multilingual_query(query, prepared.spoken) if is_whole else NOT_MULTILINGUAL
            hits = await self._ranked_hits(query, embedding, looked, wanted, multilingual)
            return await self._best_hits(query, hits, top_k, rerank)
        count = max(_FEWEST_FUSED, 4 * looked)
        by_words = await self._ranked_hits(query, None, count, wanted)
        by_meaning = await self._near(self._meaning, query, embedding, count, wanted)
        fused = by_rank(by_words, by_meaning) if alpha is None else by_weight(by_words, by_meaning, alpha)
        return await self._best_hits(query, fused[:looked], top_k, rerank)

    async def relevant_context(self, query: str, max_tokens: int = 2048, *, filters: SearchFilter) -> list[Message]:
        """The most similar messages within the budget, most similar first; one that does not fit is skipped."""
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
        """Embed messages without a vector, in order of ids, halving failed batches; return how many were embedded.

        `progress` is called with (tried, all). `per_second` limits the messages per second. It may be repeated at any
        time: no message is embedded twice. Blocks.
        """
        return self._result_of(
            self._required_meaning().jobs.backfill(session_id, max(1, batch_size), progress, per_second)
        )

    def reindex(
        self,
        batch_size: int = 100,
        progress: Callable[[int, int], None] | None = None,
        per_second: float | None = None,
    ) -> int:
        """Delete all vectors and embed all messages again, as for another model; return how many. Blocks."""
        return self._result_of(self._required_meaning().jobs.reindex(max(1, batch_size), progress, per_second))

    def begin_backfill(self) -> None:
        """Embed messages without a vector in the background: after a failure, or a restart with a store in memory.

        Never raises; does nothing without a client and a store. `wait` waits for it.
        """
        if self._meaning is None:
            return
        if self._host is None:
            self._worker.ask(self._worker.backlog)
        else:
            self._meaning.jobs.look_back()
            self._host.request()

    async def fill(self) -> bool:
        """Embed some messages without a vector, for a job of the host; True when more are left.

        Blocks on the stores. Raises ProviderUnavailable and StorageUnavailable.
        """
        if self._meaning is None:
            return False
        return await self._meaning.jobs.fill() or (self._foreign is not None and await self._foreign.fill())

    async def wait(self) -> None:
        """Wait until every message saved before has its vector or has failed to get one."""
        if self._host is not None:
            await asyncio.to_thread(asyncio.run, self._fill_all())
            return
        for wanted in (self._worker.saved, self._worker.backlog):
            await asyncio.to_thread(self._worker.wait, wanted)

    def close(self, timeout_s: float = CLOSING_S) -> None:
        """Embed saved messages for at most `timeout_s`; the rest is left to back-filling."""
        self._worker.close(timeout_s)
        self._index.close()

    def _meaning_of(
        self, client: AnyEmbeddingClient | None, store: AnyVectorStore | None, model: ClientModel | None
    ) -> _Meaning | None:
        if client is None or store is None:
            return None
        loop = self._host.loop if self._host else None
        jobs = EmbeddingJobs(self._rows, client, store, model=model or ClientModel(client), loop=loop)
        return _Meaning(client=client, model=jobs.model, jobs=jobs, nearest=NearestMessages(self._rows, store))

    def _ask_for_model(self) -> None:
        """Wait for the name of a client that has none, without a host. Later passes and searches ask again."""
        meaning = self._meaning
        if meaning is None or meaning.model.name is not None or self._host is not None:
            return
        try:
            self._worker.submit(meaning.model.find()).result(_LOOP_WAIT_S if runs_a_loop() else _SYNC_WAIT_S)
        except Exception as exc:  # noqa: BLE001  # foreign code; messages are saved without vectors
            _log.warning("embedding_model_not_known_yet", error=type(exc).__name__)

    def _refuse_other_model(self, meaning: _Meaning) -> None:
        """Raise EmbeddingModelChanged when the store's vectors are of another model. Blocks."""
        if meaning.model.name is None:
            self._submit(meaning.model.find()).result()
        meaning.jobs.refuse_other_model()

    async def _fill_all(self) -> None:
        try:
            while await self.fill():
                continue
        except MnemoirError as exc:
            _log.warning("messages_not_embedded", cause=exc.message)

    def _result_of(self, work: Coroutine[Any, Any, int]) -> int:
        return asyncio.run(work) if self._host is not None else self._worker.submit(work).result()

    async def _embed_saved_messages(self) -> None:
        await self._required_meaning().jobs.embed_saved_messages()

    async def _catch_up(self) -> None:
        await self._required_meaning().jobs.catch_up()

    def _prepare_search(self, query: str, filters: SearchFilter, alpha: float | None) -> _Prepared:
        """Do all blocking preparation of a search in one thread."""
        wanted = wanted_of(filters, self._rows)
        if wanted.is_nothing or (alpha is not None and alpha <= 0) or not self._can_compare():
            return _Prepared(wanted=wanted, spoken=None)
        is_whole = alpha is None and self._is_whole
        return _Prepared(wanted=wanted, spoken=self._index.query_to_embed(query) if is_whole else query)

    def _can_compare(self) -> bool:
        if self._meaning is None:
            return False
        try:
            self._refuse_other_model(self._meaning)
        except Exception as exc:  # noqa: BLE001  # foreign code; the words are still there
            _log.warning("search_by_words_alone", error=type(exc).__name__)
            return False
        return True

    async def _embedding_of(self, meaning: _Meaning, query: str) -> Embedding:
        return await asyncio.wrap_future(self._submit(query_embedding(meaning.client, query)))

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run `work` in the one loop in which the client is called."""
        if self._host is not None:
            return asyncio.run_coroutine_threadsafe(work, self._host.loop)
        return self._worker.submit(work)

    async def _embedding_if_possible(self, spoken: str | None) -> Embedding | None:
        if self._meaning is None or spoken is None:
            return None
        try:
            return await self._embedding_of(self._meaning, spoken)
        except Exception as exc:  # noqa: BLE001  # foreign code; the words are still there
            _log.warning("search_by_words_alone", error=type(exc).__name__)
            return None

    async def _multilingual_query(self, query: str, spoken: str | None) -> MultilingualQuery:
        if self._host is None or self._multilingual is None or spoken is None:
            return NOT_MULTILINGUAL
        asked = self._multilingual.query(
            self._host.user,
            query,
            [spoken],
            is_in_use=self._index.is_multilingual,
            english_share=Weights().multilingual_share,
        )
        return await in_loop(self._host.loop, asked)

    async def _near(
        self, meaning: _Meaning, query: str, embedding: Embedding, count: int, wanted: Wanted
    ) -> list[SearchHit]:
        found = await asyncio.to_thread(self._nearest, meaning, embedding, count, wanted)
        self._keep_index()
        hits = await asyncio.to_thread(told_apart, query, found)
        return [hit for hit in hits if hit.is_likely] if wanted.filter.related else hits

    def _nearest(self, meaning: _Meaning, embedding: Embedding, count: int, wanted: Wanted) -> list[SearchHit]:
        """The nearest messages, from the index, or from the store if it is not `IndexedVectors` or is shared."""
        found = self._index.nearest(embedding, count, wanted)
        if found is None:
            return meaning.nearest.find(embedding, count, wanted)
        return [hit_of(stored, row.score, row.score) for row, stored in found]

    async def _ranked_hits(
        self,
        query: str,
        embedding: Embedding | None,
        limit: int,
        wanted: Wanted,
        multilingual: MultilingualQuery = NOT_MULTILINGUAL,
    ) -> list[SearchHit]:
        asked = Asked(text=query, embedding=embedding, multilingual=multilingual, limit=limit, at=self._clock())
        found = await asyncio.to_thread(self._index.ranked_messages, asked, wanted)
        self._keep_index()
        return [ranked_hit(row, stored) for row, stored in found]

    def _keep_index(self) -> None:
        if self._index.wants_packing and (self._packing is None or self._packing.done()):
            self._packing = asyncio.create_task(asyncio.to_thread(self._index.pack), name="keep an index")

    async def _best_hits(
        self, query: str, hits: list[SearchHit], top_k: int, rerank: Rerank | None
    ) -> list[SearchHit]:
        if rerank is None:
            return hits[:top_k]
        ordered = await asyncio.to_thread(reranked_hits, query, hits, rerank, self._clock(), self._vectors_of)
        return ordered[:top_k]

    def _vectors_of(self, hits: Sequence[SearchHit]) -> FloatArray | None:
        return self._meaning.nearest.vectors_of(hits) if self._meaning else None

    def _required_meaning(self) -> _Meaning:
        if self._meaning is None:
            raise RuntimeError(_NOT_ENABLED)
        return self._meaning


_: type[SessionSearch] = SemanticSearch  # checked, never run
