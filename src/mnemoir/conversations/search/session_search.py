"""The protocol of search in sessions, as the session manager uses it, with its hits and options.

The manager notifies a search of saves and deletions; the store holds the rest: the messages that wait for a vector
and the vectors to remove. So nothing is lost when the process ends between the two.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from mnemoir.conversations.search.search_filter import SearchFilter
from mnemoir.core.conversations import Message, StoredMessage
from mnemoir.core.errors import InvalidRequest
from mnemoir.core.scope import Scope
from mnemoir.ports.index_packs import IndexPacks
from mnemoir.search.questions import Multilingual

Progress = Callable[[int, int], None]  # done, all
Reranker = Callable[[str, Sequence[str]], Sequence[float]]

_CANDIDATES = 50
_NOBODY = Scope(project="", user="")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A found message. `similarity` is 1 - cosine distance; None when only its words were found.

    `score` orders hits, greater is better, and is comparable within one result only. `stored` is the whole message;
    None for a foreign message that only the vector store has. One that is not `is_likely` shares no word with the
    query and is hardly like it.
    """

    message: Message
    message_id: int
    session_id: str
    similarity: float | None
    created_at: datetime | None
    score: float = 0.0
    stored: StoredMessage | None = None
    is_likely: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerank:
    """The reranking options: each reorders the best `candidates` hits, by default as many as are requested.

    `temporal_decay`, above 0 and up to 1, multiplies a score for every day of age. `mmr_lambda`, 0 to 1, is the
    weight of a hit's score; the rest weighs its difference from the hits before it. `reranker` takes the query and
    texts and returns a finite number for each, greater is better; it runs in a thread.
    """

    temporal_decay: float | None = None
    mmr_lambda: float | None = None
    reranker: Reranker | None = None
    candidates: int = _CANDIDATES

    def __post_init__(self) -> None:
        """Raises InvalidRequest for a number outside its limits."""
        if self.temporal_decay is not None and not 0 < self.temporal_decay <= 1:
            raise InvalidRequest(f"temporal_decay is over 0 and up to 1, not {self.temporal_decay}.", field="rerank")
        if self.mmr_lambda is not None and not 0 <= self.mmr_lambda <= 1:
            raise InvalidRequest(f"mmr_lambda is 0 to 1, not {self.mmr_lambda}.", field="rerank")


def candidate_count(top_k: int, rerank: Rerank | None) -> int:
    """How many hits are found for `top_k` of them."""
    return top_k if rerank is None else max(top_k, rerank.candidates)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHost:
    """What a server provides for the search of one store: its event loop, its job queue and a place for the index.

    The embedding client is called in `loop`. `request` has a job call `fill` soon; it never blocks or raises. `packs`
    are of this store alone. With `multilingual`, messages that are not English get a second vector; `user` is whose
    questions these are.
    """

    loop: asyncio.AbstractEventLoop
    request: Callable[[], None]
    packs: IndexPacks
    multilingual: Multilingual | None = None
    user: Scope = _NOBODY


class SessionSearch(Protocol):
    """Made by the back-end `session-search`: called with a `Log`, an embedding client and a vector store.

    The last two may be None. By name it is given the client's `model` (a `ClientModel`), a token `counter`,
    `embed_sync`, whether `saved` waits for the vectors where no event loop runs, and, within a server, its `host`.
    """

    def note_saved(self, message_ids: Sequence[int]) -> None:
        """Notify of messages just saved and marked as waiting for a vector. Never raises."""

    def note_deletion(self) -> None:
        """Notify of a deletion, before it and after: remove what was made of deleted messages.

        Vectors are those that `vectors_to_remove` names. Raises StorageUnavailable when the stored index stays.
        """

    async def search(
        self,
        query: str,
        top_k: int,
        *,
        filters: SearchFilter,
        min_similarity: float | None,
        rerank: Rerank | None = None,
    ) -> list[SearchHit]:
        """Search by meaning, most similar first. Raises ProviderError and StorageUnavailable."""

    async def search_hybrid(
        self,
        query: str,
        top_k: int,
        *,
        filters: SearchFilter,
        alpha: float | None,
        rerank: Rerank | None = None,
    ) -> list[SearchHit]:
        """Search by words and meaning; by words alone without embeddings. `alpha` weighs meaning; None: by rank."""

    async def relevant_context(self, query: str, max_tokens: int, *, filters: SearchFilter) -> list[Message]:
        """The most relevant messages that fit, most relevant first."""

    def backfill(self, session_id: str | None, batch_size: int, progress: Progress | None) -> int:
        """Embed messages without a vector; return how many. Blocks, also in a thread whose loop is running."""

    def begin_backfill(self) -> None:
        """Embed messages without a vector in the background. Never raises; no-op without a client and a store."""

    def reindex(self, batch_size: int, progress: Progress | None) -> int:
        """Delete all vectors and embed all messages again, as for another model; return how many. Blocks."""

    async def fill(self) -> bool:
        """Embed some messages without a vector, for a host; True when more are left. Blocks on the stores.

        Raises ProviderUnavailable and StorageUnavailable.
        """

    async def wait(self) -> None:
        """Wait until every message saved before this call has its vector or has failed to get one."""

    def close(self) -> None:
        """Finish the work under way, for 5 s at most."""
