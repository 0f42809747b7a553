"""Search in sessions by meaning, as the manager of sessions asks for it, and what a search is made of.

The manager tells a search what was saved and that something was deleted; all else it reads from the store: which
messages wait for a vector, and which vectors are to go. So nothing is lost when the process ends between the two.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from mnemoir.conversations.search.search_filter import SearchFilter
from mnemoir.core.conversation_messages import Message
from mnemoir.core.conversations import StoredMessage
from mnemoir.core.errors import InvalidRequest

Progress = Callable[[int, int], None]  # done, all
Reranker = Callable[[str, Sequence[str]], Sequence[float]]

_CANDIDATES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A message that was found. `similarity` is 1 - cosine distance; None where only its words were found.

    `score` is what hits are ordered by, greater for the better, comparable within one result alone. `stored` is the
    whole message; None for one of others, of which only the vector store knows.
    """

    message: Message
    message_id: int
    session_id: str
    similarity: float | None
    created_at: datetime | None
    score: float = 0.0
    stored: StoredMessage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerank:
    """How hits are ordered anew, where something is given: `candidates` of them, or as many as are asked for.

    `temporal_decay` is over 0 and up to 1: a score counts so many times less with every day of age. `mmr_lambda` is 0
    to 1: that part of a hit's score counts, and the rest of how unlike it is to the hits before it. `reranker` is
    given the query and texts, and gives a finite number each, greater for the better; it runs in a thread.
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


class SessionSearch(Protocol):
    """Made by the back-end `session-search`: called with a `Log`, an embedding client and a vector store.

    The last two may be None. By name it is given a token `counter`, and `embed_sync`: whether `saved` waits for the
    vectors where no event loop runs.
    """

    def saved(self, message_ids: Sequence[int]) -> None:
        """Messages were saved just now and noted as waiting for a vector. Never raises."""

    def deleted(self) -> None:
        """Messages were deleted: remove the vectors that `vectors_to_remove` names. Never raises."""

    async def search(
        self,
        query: str,
        top_k: int,
        *,
        filters: SearchFilter,
        min_similarity: float | None,
        rerank: Rerank | None = None,
    ) -> list[SearchHit]:
        """By meaning, most similar first. Raises ProviderError and StorageUnavailable."""

    async def search_hybrid(
        self,
        query: str,
        top_k: int,
        *,
        filters: SearchFilter,
        alpha: float | None,
        rerank: Rerank | None = None,
    ) -> list[SearchHit]:
        """By words and meaning; by words alone without embeddings. `alpha` weighs meaning; None joins by rank."""

    async def relevant_context(self, query: str, max_tokens: int, *, filters: SearchFilter) -> list[Message]:
        """The most relevant messages that fit, most relevant first."""

    def backfill(self, session_id: str | None, batch_size: int, progress: Progress | None) -> int:
        """Embed what has no vector; how many. Blocks, also in a thread whose loop is running."""

    def begin_backfill(self) -> None:
        """Embed what has no vector in the background. Never raises; nothing without a client and a store."""

    def reindex(self, batch_size: int, progress: Progress | None) -> int:
        """Forget all vectors and embed everything anew, as another model requires; how many. Blocks."""

    async def wait(self) -> None:
        """Until everything saved before this call has its vector, or has failed to get one."""

    def close(self) -> None:
        """Finish what is under way, for 5 s at most."""
