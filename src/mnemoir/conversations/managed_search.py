"""The search methods of `MemoryManager`, and its notifications of a search about saves and deletions."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import structlog

from mnemoir.conversations.search.client_model import ClientModel
from mnemoir.conversations.search.embedding import AnyEmbeddingClient
from mnemoir.conversations.search.search_filter import SearchFilter
from mnemoir.conversations.search.session_search import Progress, Rerank, SearchHit, SearchHost, SessionSearch
from mnemoir.conversations.search.store_upkeep import StoreUpkeep
from mnemoir.conversations.search.vectors import AnyVectorStore
from mnemoir.conversations.windows.counters import TokenCounter
from mnemoir.core.conversations import Message, MessageRecord
from mnemoir.ports.backends import backend
from mnemoir.ports.log import Log

_log = structlog.get_logger(__name__)
_NOT_ENABLED = "Semantic search not enabled: give the MemoryManager an embedding client and a vector store."


class ManagedSearch:
    """Search in the sessions of a manager. Thread-safe."""

    def __init__(
        self,
        storage: Log,
        embedding_client: AnyEmbeddingClient | None,
        vector_store: AnyVectorStore | None,
        *,
        model: ClientModel | None,
        counter: TokenCounter,
        embed_sync: bool,
        host: SearchHost | None = None,
    ) -> None:
        """`model` is the client's. One without a name is found now; a store that cannot delete is warned of."""
        self._model = model
        self.storage = storage
        self.embedding_client = embedding_client
        self.vector_store = vector_store
        self._counter = counter
        self._embed_sync = embed_sync
        self._host = host
        self._lock = threading.Lock()
        self._search: SessionSearch | None = None
        if not self.semantic_search_enabled:
            return
        if vector_store is not None and not StoreUpkeep(vector_store).can_delete:
            _log.warning(
                "vector_store_cannot_delete",
                store=type(vector_store).__name__,
                effect="Deleted text stays in it, though no search finds it. Give it a method `delete(ids)`.",
            )
        if model is not None and model.name is None:
            self._searching()

    @property
    def semantic_search_enabled(self) -> bool:
        """True when there are an embedding client and a vector store."""
        return self.embedding_client is not None and self.vector_store is not None

    @property
    def embedding_model(self) -> str | None:
        """The model whose vectors new messages wait for; None without semantic search.

        While a client without a model name fails, they wait for vectors of a model that has no name yet.
        """
        return self._model.noted_name if self._model is not None and self.semantic_search_enabled else None

    async def search(
        self,
        query: str,
        top_k: int = 5,
        *,
        filters: SearchFilter | None = None,
        min_similarity: float | None = None,
        rerank: Rerank | None = None,
    ) -> list[SearchHit]:
        """Search by meaning, most similar first; `min_similarity` is -1 to 1. RuntimeError when not enabled."""
        self._require_semantic_search()
        if top_k <= 0:
            return []
        chosen = filters or SearchFilter()
        return await self._searching().search(
            query, top_k, filters=chosen, min_similarity=min_similarity, rerank=rerank
        )

    async def search_similar(
        self, query: str, top_k: int = 5, session_id: str | None = None, min_similarity: float | None = None
    ) -> list[Message]:
        """The messages of `search`, of one session or of all."""
        filters = _within(session_id, None)
        hits = await self.search(query, top_k, filters=filters, min_similarity=min_similarity)
        return [hit.message for hit in hits]

    async def search_hybrid(
        self,
        query: str,
        top_k: int = 5,
        filters: SearchFilter | None = None,
        alpha: float | None = None,
        *,
        rerank: Rerank | None = None,
    ) -> list[SearchHit]:
        """Search by words and meaning, or by words alone when semantic search is not enabled.

        `alpha`, 0 to 1, is the weight of meaning; without it the two rankings are joined by rank.
        """
        if top_k <= 0:
            return []
        chosen = filters or SearchFilter()
        return await self._searching().search_hybrid(query, top_k, filters=chosen, alpha=alpha, rerank=rerank)

    async def get_relevant_context(
        self,
        query: str,
        max_tokens: int = 2048,
        session_id: str | None = None,
        *,
        filters: SearchFilter | None = None,
    ) -> list[Message]:
        """The most relevant messages that fit into the budget, most relevant first. RuntimeError when not enabled."""
        self._require_semantic_search()
        return await self._searching().relevant_context(query, max_tokens, filters=_within(session_id, filters))

    def backfill_embeddings(
        self, session_id: str | None = None, batch_size: int = 100, *, progress: Progress | None = None
    ) -> int:
        """Embed messages without a vector, of all sessions or one; return how many. RuntimeError when not enabled.

        `progress` is called with the numbers done and found. May be called where an event loop runs, which it blocks;
        `abackfill_embeddings` does not.
        """
        self._require_semantic_search()
        return self._searching().backfill(session_id, max(1, batch_size), progress)

    async def abackfill_embeddings(
        self, session_id: str | None = None, batch_size: int = 100, *, progress: Progress | None = None
    ) -> int:
        """The same for asynchronous callers; `progress` is called in another thread."""
        return await asyncio.to_thread(self.backfill_embeddings, session_id, batch_size, progress=progress)

    def begin_backfill(self) -> None:
        """Embed messages without a vector in the background. Never raises; does nothing when not enabled."""
        if self.semantic_search_enabled:
            self._searching().begin_backfill()

    async def fill_vectors(self) -> bool:
        """Embed some messages without a vector, for a job of the host; True when more are left.

        Blocks on the stores. Raises ProviderUnavailable and StorageUnavailable.
        """
        return self.semantic_search_enabled and await self._searching().fill()

    def reindex_embeddings(self, batch_size: int = 100, *, progress: Progress | None = None) -> int:
        """Embed all messages again, as for another model; return how many. Raises RuntimeError when not enabled."""
        self._require_semantic_search()
        return self._searching().reindex(max(1, batch_size), progress)

    async def wait_for_pending_embeddings(self) -> None:
        """Wait until every message saved before this call has its vector or has failed to get one."""
        if self.semantic_search_enabled:
            await self._searching().wait()

    def _embed_new_messages(self, message_ids: Sequence[int], records: Sequence[MessageRecord]) -> None:
        """Request vectors for those of the new messages that are embeddable. `records` are in the same order."""
        self.embed([id for id, record in zip(message_ids, records, strict=True) if record.is_embeddable])

    def embed(self, message_ids: Sequence[int]) -> None:
        """Have messages embedded that were added to the log and marked there as waiting. Never raises."""
        if self.semantic_search_enabled and message_ids:
            self._searching().note_saved(message_ids)

    @contextmanager
    def _deleting(self) -> Iterator[None]:
        """A deletion of messages. Search drops what it made of them before, too, in case the process ends in it."""
        concerned = self.semantic_search_enabled or self._host is not None
        if self._host is not None:
            self._searching().note_deletion()
        yield
        if concerned:
            self._searching().note_deletion()

    def _close_search(self) -> None:
        with self._lock:
            search, self._search = self._search, None
        if search is not None:
            search.close()

    def _searching(self) -> SessionSearch:
        with self._lock:
            if self._search is None:
                make = backend("session-search")
                self._search = make(
                    self.storage,
                    self.embedding_client,
                    self.vector_store,
                    model=self._model,
                    counter=self._counter,
                    embed_sync=self._embed_sync,
                    **({} if self._host is None else {"host": self._host}),
                )
            return self._search

    def _require_semantic_search(self) -> None:
        if not self.semantic_search_enabled:
            raise RuntimeError(_NOT_ENABLED)


def _within(session_id: str | None, filters: SearchFilter | None) -> SearchFilter:
    chosen = filters or SearchFilter()
    return chosen if session_id is None else replace(chosen, session_ids=[session_id])
