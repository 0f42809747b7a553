"""The resident index of all messages of a store: words, and vectors if the store has them, ranked by `search`.

Built from the stored messages at the first search, then updated before each search with messages saved and embedded
since, also by other processes. Deleted messages are detected at the latest before they would be returned. The index
is not stored on disk.
"""

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import structlog

from mnemoir.conversations.search.embedding import vector_of
from mnemoir.conversations.search.embedding_jobs import message_id_of, vector_id
from mnemoir.conversations.search.search_filter import Wanted, seconds
from mnemoir.conversations.search.searched_rows import MessageText, SearchedStorage
from mnemoir.conversations.search.vectors import (
    DimensionMismatchError,
    IndexedVectors,
    StoredVector,
    VectorChanges,
    unit_rows,
)
from mnemoir.core.conversations import StoredMessage
from mnemoir.core.errors import StorageBusyError, StorageUnavailable
from mnemoir.core.memories import IndexEntry
from mnemoir.ports.embedding import Embedding
from mnemoir.ports.search_rows import SearchRow
from mnemoir.search.columns import Column
from mnemoir.search.cues import address
from mnemoir.search.index import Mask, ScopeIndex
from mnemoir.search.ranking import Query, Ranked, Stages, nearest_rows, rank
from mnemoir.search.residents import Budget
from mnemoir.search.terms import terms_of
from mnemoir.search.weights import Weights

_log = structlog.get_logger(__name__)
_PAGE = 2000
_MODEL = "stored"  # the store's vectors are all of one model, of any name
_ROLES = ("user", "assistant", "tool")
_LOOKS = 2  # another process may write or delete between reading the vectors and counting them
Found = tuple[Ranked, StoredMessage]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A search query. Without an embedding, words and cues alone decide."""

    text: str
    embedding: Embedding | None
    limit: int
    at: datetime


_BUDGET = Budget()  # of all stores of sessions in this process


class MessageIndex:
    """Thread-safe; its methods block. It may be dropped to meet its `budget` and is rebuilt by the next search."""

    def __init__(
        self, rows: SearchedStorage, vectors: IndexedVectors | None, *, budget: Budget | None = None
    ) -> None:
        self._budget = budget or _BUDGET
        self._rows = rows
        self._vectors = vectors
        self._lock = threading.Lock()
        self._weights = Weights()
        self._has_dead = False  # the index holds deleted messages
        self._restart()

    @property
    def messages_held(self) -> int:
        """The number of messages in memory."""
        return len(self._index)

    def deleted(self) -> None:
        """Register that messages were deleted: the next search first removes them from the index."""
        self._has_dead = True

    def drop(self) -> bool:
        """Release the memory of the index; False while a search runs."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            self._restart()
            return True
        finally:
            self._lock.release()

    def spoken(self, text: str) -> str:
        """The question in the form to embed: in the first person when it names a speaker of these messages."""
        with self._in_use():
            self._refresh()
            return address(text, self._index.speaker_names()).spoken

    def ranked(self, asked: Asked, wanted: Wanted) -> list[Found]:
        """The messages ranked by all stages of `search`, best first, at most `limit`. Raises StorageUnavailable."""
        with self._in_use():
            self._refresh()
            return self._current(lambda shown, limit: self._ranked(asked, wanted, shown, limit), wanted, asked.limit)

    def nearest(self, embedding: Embedding, limit: int, wanted: Wanted) -> list[Found] | None:
        """The messages by vectors alone, most similar first; None when the store has vectors of other messages.

        None, too, while its vectors cannot be read. Raises DimensionMismatchError and StorageUnavailable.
        """
        if self._vectors is None:
            return None
        [vector] = unit_rows(vector_of(embedding)[np.newaxis])
        with self._in_use():
            if not self._holds_all_vectors():
                return None
            matrix = self._index.vectors
            if matrix is not None and matrix.shape[1] != len(vector):
                raise DimensionMismatchError(len(vector), matrix.shape[1])
            return self._current(lambda shown, most: nearest_rows(self._index, vector, shown, most), wanted, limit)

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        with self._lock:
            yield
            nbytes = self._index.nbytes
        self._budget.used(self, nbytes)

    def _current(self, find: Callable[[Mask, int], list[Ranked]], wanted: Wanted, limit: int) -> list[Found]:
        """The results of `find` that are still stored.

        Results that are gone, or no longer match the filter, are hidden and the rest is searched again.
        """
        looked, hidden = limit, set[int]()
        while True:
            found = find(self._shown(wanted, hidden), looked)
            messages = self._rows.messages_by_id([row.seq for row in found])
            there = [(row, messages[row.seq]) for row in found if row.seq in messages]
            allowed = [pair for pair in there if wanted.allows(pair[1])]
            if len(there) == len(found) and (len(allowed) >= limit or len(found) < looked):
                return allowed[:limit]
            if len(there) < len(found):
                self._bury()
            hidden |= {row.seq for row in found} - {row.seq for row, _ in allowed}
            looked *= 2

    def _ranked(self, asked: Asked, wanted: Wanted, shown: Mask, limit: int) -> list[Ranked]:
        index = self._index
        query = Query(
            text=asked.text,
            addressed=address(asked.text, index.speaker_names()),
            embedding=asked.embedding,
            asked_at=asked.at,
            limit=limit,
            threshold=0.0,
            codes=self._codes,
            related=wanted.filter.related,
        )
        return rank(index, query, shown, self._weights, Stages()) if len(index) and shown.any() else []

    def _holds_all_vectors(self) -> bool:
        """Bring the index up to date; True when its vectors are then exactly those of the store."""
        for _ in range(_LOOKS):
            self._refresh()
            if self._vectors is None:
                return False
            if self._vectors.count() == np.count_nonzero(self._index.has_vector):
                return True
            self._bury()
        return False

    def _codes(self, seqs: Sequence[int]) -> Mapping[int, bytes]:
        if self._vectors is None:
            return {}
        try:
            found = self._vectors.token_codes([vector_id(seq) for seq in seqs])
        except StorageUnavailable as exc:
            _log.error("search_without_token_codes", cause=exc.message)
            return {}
        return {message_id: code for name, code in found.items() if (message_id := message_id_of(name)) is not None}

    def _shown(self, wanted: Wanted, hidden: Collection[int]) -> Mask:
        """The rows that may be found, by slot; the filter is applied before ranking."""
        index, asked = self._index, wanted.filter
        shown: Mask = index.alive.copy()
        if wanted.session_ids is not None:
            known = [code for code in map(index.codes.known, wanted.session_ids) if code is not None]
            shown &= np.isin(index.place(3), known)
        if wanted.message_ids is not None:
            shown &= np.isin(index.seqs, list(wanted.message_ids))
        if asked.roles is not None:
            shown &= np.isin(self._roles.values, [_ROLES.index(role) for role in asked.roles if role in _ROLES])
        if (since := seconds(asked.since)) is not None:
            shown &= index.said_at >= since
        if (until := seconds(asked.until)) is not None:
            shown &= index.said_at < until
        if hidden:
            shown &= ~np.isin(index.seqs, list(hidden))
        return shown

    def _restart(self) -> None:
        self._index = ScopeIndex(_MODEL, None)
        self._roles = Column(np.int8)
        self._newest = 0  # the newest message that was read
        self._stands = VectorChanges(epoch="", changes=-1)

    def _refresh(self) -> None:
        """Bring the index up to date; when the vectors cannot be read, continue with words alone."""
        try:
            self._take_in()
        except StorageUnavailable as exc:
            if self._vectors is None or isinstance(exc, StorageBusyError):
                raise
            _log.error("search_without_vectors", cause=exc.message)
            self._vectors = None
            self._restart()
            self._take_in()

    def _take_in(self) -> None:
        stands = self._vectors.standing() if self._vectors else self._stands
        if self._has_dead:
            self._bury()
        if self._index.is_worn or stands.epoch != self._stands.epoch:
            self._restart()
        known = self._newest
        if not known and self._vectors:
            self._index.expect(self._vectors.count())
        embedded = {message_id for page in self._unseen() for message_id in self._put(page)}
        if self._vectors and known and stands.changes > self._stands.changes:
            changed = map(message_id_of, self._vectors.ids_since(self._stands.changes))
            self._put_late([one for one in changed if one is not None and one not in embedded])
        self._stands = stands

    def _unseen(self) -> Iterator[list[MessageText]]:
        while page := self._rows.said_after(self._newest, _PAGE):
            yield page
            self._newest = page[-1].id

    def _put_late(self, message_ids: Sequence[int]) -> None:
        """Add vectors of messages whose words are already in the index."""
        ids = [message_id for message_id in message_ids if message_id <= self._newest]
        for start in range(0, len(ids), _PAGE):
            found = self._rows.messages_by_id(ids[start : start + _PAGE])
            self._put([_said(found[message_id]) for message_id in sorted(found)])

    def _put(self, page: Sequence[MessageText]) -> list[int]:
        """Add messages with their vectors, if any; return the ids of those that have one."""
        known = [said for said in page if said.role in _ROLES]
        if not known:
            return []
        names = [vector_id(said.id) for said in known]
        stored = self._vectors.vectors_of(names) if self._vectors else {}
        vectors = [stored.get(name) for name in names]
        self._index.put([_row(said, vector) for said, vector in zip(known, vectors, strict=True)])
        self._roles.extend([_ROLES.index(said.role) for said in known])
        return [said.id for said, vector in zip(known, vectors, strict=True) if vector]

    def _bury(self) -> None:
        """Remove deleted messages from the index."""
        self._has_dead = False
        self._index.keep(self._rows.living_ids())


def _said(stored: StoredMessage) -> MessageText:
    message = stored.message
    return MessageText(stored.id, stored.session_id, message.role, message.name, message.text, stored.created_at)


def _row(said: MessageText, found: StoredVector | None) -> SearchRow:
    at = said.said_at_s
    entry = IndexEntry(
        terms=terms_of(said.text),
        model=_MODEL if found else None,
        vector=found.vector if found else None,
        token_ids=found.token_ids if found else None,
    )
    return SearchRow(
        seq=said.id,
        is_message=True,
        speaker=None if said.role == "tool" else said.name,
        agent=None,
        app=None,
        conversation=said.session_id,
        effective_at=float("inf") if at is None else at,
        said_at=float("nan") if at is None else at,
        expires_at=float("inf"),
        entry=entry,
    )
