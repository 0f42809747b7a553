"""The resident index of all messages of a store: words, and vectors if the store has them, ranked by `search`.

Built from the stored messages, or taken up from its pack, at the first search, then updated before each search with
messages saved, embedded and deleted since, also by other processes.
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
from mnemoir.conversations.search.message_rows import MODEL, MessageRows
from mnemoir.conversations.search.search_filter import Wanted, seconds
from mnemoir.conversations.search.searched_rows import SearchedStorage
from mnemoir.conversations.search.vectors import DimensionMismatchError, IndexedVectors, unit_rows
from mnemoir.core.conversations import StoredMessage
from mnemoir.core.errors import StorageBusyError, StorageUnavailable
from mnemoir.core.memories import Space
from mnemoir.core.scope import Scope
from mnemoir.ports.embedding import Embedding, FloatArray
from mnemoir.ports.index_packs import IndexPacks
from mnemoir.search.candidates import Ranked
from mnemoir.search.cues import address
from mnemoir.search.index import Mask, ScopeIndex
from mnemoir.search.questions import NOT_MULTILINGUAL, MultilingualQuery
from mnemoir.search.ranking import Query, Stages, nearest_rows, rank
from mnemoir.search.resident import Resident
from mnemoir.search.residents import Budget
from mnemoir.search.spaces import MULTILINGUAL
from mnemoir.search.weights import Weights

_log = structlog.get_logger(__name__)
_OWNER = Scope(project="", user="")  # of all messages of a store
_LOOKS = 2  # another process may write or delete between reading the vectors and counting them
_CONVERSATION, _ROLE = 3, 4  # levels of `ScopeIndex.place`
Found = tuple[Ranked, StoredMessage]
_BUDGET = Budget()  # of all stores of sessions in this process


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A search query. Without an embedding, words and cues alone decide."""

    text: str
    embedding: Embedding | None
    multilingual: MultilingualQuery = NOT_MULTILINGUAL
    limit: int
    at: datetime


class MessageIndex:
    """Thread-safe; its methods block. It may be dropped to meet its `budget` and is rebuilt by the next search."""

    def __init__(
        self,
        rows: SearchedStorage,
        vectors: IndexedVectors | None,
        *,
        space: Space | None = None,
        packs: IndexPacks | None = None,
        budget: Budget | None = None,
    ) -> None:
        """`packs` are of this store alone. Its second vectors are of `space`; without it they are not read."""
        self._space = space
        self._budget = budget or _BUDGET
        self._rows = rows
        self._vectors = vectors
        self._packs = packs
        self._packing = threading.Lock()
        self._is_closed = False
        self._deletions = 0  # known or seen
        self._counted = -1, 0  # at which deletion messages were counted, and how many were gone
        self._weights = Weights()
        self._resident = Resident(_OWNER, lambda: ScopeIndex(MODEL, None, spaces=(space,) if space else ()), packs)

    @property
    def messages_in_memory(self) -> int:
        """The number of messages in memory."""
        return self._resident.rows_in_memory

    @property
    def is_multilingual(self) -> bool:
        """True when the index held vectors of the multilingual model at its last use."""
        return self._resident.has_vectors_in(MULTILINGUAL)

    @property
    def wants_packing(self) -> bool:
        """True when `pack` is worthwhile."""
        return self._resident.wants_packing

    def pack(self) -> None:
        """Store the index for the next start of the program. Failures are only logged."""
        with self._packing:
            if self._is_closed:
                return
            try:
                mark = self._resident.mark()
                self._resident.pack(mark, self._read())()
            except StorageUnavailable as exc:
                _log.warning("index not kept", error=exc.message)

    def drop_stored_index(self) -> None:
        """Delete the stored index; the next search drops the messages that are gone. Raises StorageUnavailable."""
        self._deletions += 1
        if self._packs is not None:
            self._packs.drop(_OWNER)

    def close(self) -> None:
        """Wait until a pack that is being written is stored; no other one is begun."""
        with self._packing:
            self._is_closed = True

    def query_to_embed(self, text: str) -> str:
        """The question in the form to embed: in the first person when it names a speaker of these messages."""
        with self._in_use() as index:
            return address(text, index.speaker_names()).spoken

    def ranked_messages(self, asked: Asked, wanted: Wanted) -> list[Found]:
        """The messages ranked by all stages of `search`, best first, at most `limit`. Raises StorageUnavailable."""
        with self._in_use() as index:
            return self._current(
                index, lambda shown, limit: self._ranked_rows(index, asked, wanted, shown, limit), wanted, asked.limit
            )

    def nearest(self, embedding: Embedding, limit: int, wanted: Wanted) -> list[Found] | None:
        """The messages by vectors alone, most similar first; None when the store has vectors of other messages.

        None, too, while its vectors cannot be read. Raises DimensionMismatchError and StorageUnavailable.
        """
        [vector] = unit_rows(vector_of(embedding)[np.newaxis])
        for _ in range(_LOOKS):
            with self._in_use() as index:
                if self._vectors is None:
                    return None
                if self._vectors.count() == np.count_nonzero(index.has_vector):
                    return self._nearest(index, vector, limit, wanted)
            self._deletions += 1
        return None

    @contextmanager
    def _in_use(self) -> Iterator[ScopeIndex]:
        """The index, up to date; without vectors while these cannot be read."""
        try:
            view = self._brought_up()
        except StorageUnavailable as exc:
            if self._vectors is None or isinstance(exc, StorageBusyError):
                raise
            _log.error("search_without_vectors", cause=exc.message)
            self._vectors = None
            view = self._brought_up()
        with self._resident.up_to_date(view) as index:
            yield index
            nbytes = index.nbytes
        self._budget.used(self._resident, nbytes)

    def _read(self) -> MessageRows:
        deletions, (counted_at, removals) = self._deletions, self._counted
        known = removals if counted_at == deletions else None
        view = MessageRows(self._rows, self._vectors, space=self._space, removals=known)
        self._counted = deletions, view.revision(_OWNER).removals
        return view

    def _brought_up(self) -> MessageRows:
        """The current rows, which the index then holds."""
        view = self._read()
        self._resident.build(view)
        with self._resident.up_to_date(view):
            return view

    def _current(
        self, index: ScopeIndex, find: Callable[[Mask, int], list[Ranked]], wanted: Wanted, limit: int
    ) -> list[Found]:
        """The results of `find` that are still stored.

        Results that are gone, or no longer match the filter, are hidden and the rest is searched again.
        """
        looked, hidden = limit, set[int]()
        while True:
            found = find(_searchable_rows(index, wanted, hidden), looked)
            messages = self._rows.messages_by_id([row.seq for row in found])
            there = [(row, messages[row.seq]) for row in found if row.seq in messages]
            allowed = [pair for pair in there if wanted.allows(pair[1])]
            if len(there) == len(found) and (len(allowed) >= limit or len(found) < looked):
                return allowed[:limit]
            if len(there) < len(found):  # another process deleted some
                self._deletions += 1
                index.keep(self._rows.living_ids())
            hidden |= {row.seq for row in found} - {row.seq for row, _ in allowed}
            looked *= 2

    def _nearest(self, index: ScopeIndex, vector: FloatArray, limit: int, wanted: Wanted) -> list[Found]:
        matrix = index.vectors
        if matrix is not None and matrix.shape[1] != len(vector):
            raise DimensionMismatchError(len(vector), matrix.shape[1])
        return self._current(index, lambda shown, most: nearest_rows(index, vector, shown, most), wanted, limit)

    def _ranked_rows(self, index: ScopeIndex, asked: Asked, wanted: Wanted, shown: Mask, limit: int) -> list[Ranked]:
        query = Query(
            text=asked.text,
            addressed=address(asked.text, index.speaker_names()),
            embedding=asked.embedding,
            multilingual=asked.multilingual,
            asked_at=asked.at,
            limit=limit,
            threshold=0.0,
            codes=self._codes,
            related=wanted.filter.related,
        )
        return rank(index, query, shown, self._weights, Stages()) if len(index) and shown.any() else []

    def _codes(self, seqs: Sequence[int]) -> Mapping[int, bytes]:
        if self._vectors is None:
            return {}
        try:
            found = self._vectors.token_codes([vector_id(seq) for seq in seqs])
        except StorageUnavailable as exc:
            _log.error("search_without_token_codes", cause=exc.message)
            return {}
        return {message_id: code for name, code in found.items() if (message_id := message_id_of(name)) is not None}


def _searchable_rows(index: ScopeIndex, wanted: Wanted, hidden: Collection[int]) -> Mask:
    """The rows that may be found, by slot; the filter is applied before ranking."""
    asked = wanted.filter
    shown: Mask = index.alive.copy()
    for level, names in ((_CONVERSATION, wanted.session_ids), (_ROLE, asked.roles)):
        if names is not None:
            known = [code for code in map(index.codes.code_or_none, names) if code is not None]
            shown &= np.isin(index.place(level), known)
    if wanted.message_ids is not None:
        shown &= np.isin(index.seqs, list(wanted.message_ids))
    if (since := seconds(asked.since)) is not None:
        shown &= index.said_at >= since
    if (until := seconds(asked.until)) is not None:
        shown &= index.said_at < until
    if hidden:
        shown &= ~np.isin(index.seqs, list(hidden))
    return shown
