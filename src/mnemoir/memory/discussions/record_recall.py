"""Hybrid search over the records of discussions: words and meaning, as for facts.

One `Recall` serves all discussions, so that one memory limit applies to all its indexes.
"""

from collections.abc import Callable
from contextvars import ContextVar
from datetime import datetime
from typing import TypeVar

from mnemoir.core.discussions import Discussion
from mnemoir.core.scope import Scope
from mnemoir.ports.discussions import RecordStore
from mnemoir.ports.embedding import EmbeddingModel
from mnemoir.ports.memory_store import Visible
from mnemoir.ports.search_rows import SearchSnapshot
from mnemoir.search.recall import Question, Recall

T = TypeVar("T")

_MOST_BYTES = 128 * 2**20  # about 70,000 records with vectors of 384 dimensions

# The store opens another file for each discussion, and `Recall` tells its rows of no scope before they are open.
_searched: ContextVar[Discussion] = ContextVar("searched")


class RecordRecall:
    """Searches the records of any discussion by words and meaning."""

    def __init__(self, records: RecordStore, embedding: EmbeddingModel) -> None:
        self._recall = Recall(_RowsOfSearched(records), embedding, most_bytes=_MOST_BYTES)

    async def search(self, discussion: Discussion, text: str, *, limit: int, now: datetime) -> list[int]:
        """The ids of records relevant to `text`, best first; [] when there are none. Raises StorageUnavailable."""
        before = _searched.set(discussion)
        try:
            question = Question(text=text, limit=limit, asked_at=now)
            result = await self._recall.search(_scope_of(discussion), question, Visible(now=now))
        finally:
            _searched.reset(before)
        # without vectors and common words the newest rows come with score 0: they are not relevant
        return [int(hit.memory.id) for hit in result.hits if hit.score > 0]


class _RowsOfSearched:
    """The rows of the discussion that the current task searches."""

    def __init__(self, records: RecordStore) -> None:
        self._records = records

    async def reading(self, work: Callable[[SearchSnapshot], T]) -> T:
        return await self._records.rows(_searched.get()).reading(work)


def _scope_of(discussion: Discussion) -> Scope:
    """A unique scope for each discussion: paths contain no NUL, so the names cannot collide."""
    return Scope(project="discussions", user=f"{discussion.root}\0{discussion.legacy}\0{discussion.id}")
