"""One user's rows, resident: what ranking needs, in arrays.

Why not an FTS5 table: one over all users costs 80-200 ms a query at 200,000 rows, because its statistics and posting
lists span everybody's rows, and a table a user makes the schema grow with users. So a row's terms are stored beside
it, and the word index of a user is made here from those rows, like the matrix of vectors. Other users cost nothing.

Slots are only ever appended. A row that was rewritten takes a new slot and its old one dies; a row that is gone
leaves a dead slot. So nothing that was posted or counted changes place, and bringing the index up to date after one
write costs that one row. When most slots are dead, the caller starts afresh (`is_worn`).

Messages of one conversation are a chain in the order they were stored. A chain breaks into stretches where more than
an hour lies between two of them; a row's window is itself and the two rows on either side within its stretch.
Nothing of a window is stored: words count neighbours when they are asked.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnemoir.ports.embedding import FloatArray
from mnemoir.ports.search_rows import Revision, SearchRow
from mnemoir.search import postings
from mnemoir.search.codes import unpack_ids, unpack_vector
from mnemoir.search.columns import Column
from mnemoir.search.context import STRETCH_S
from mnemoir.search.terms import read_terms

WINDOW_ROWS = 2
NONE = -1

Mask = NDArray[np.bool_]
Slots = NDArray[np.int32]


class ScopeIndex:
    """All rows of one user for one vector space. Not thread-safe: its holder has the lock."""

    def __init__(self, model: str, dimension: int | None) -> None:
        self.model = model
        self.revision = Revision(changes=-1, removals=-1)
        self.pieces: list[postings.Postings] = []
        self.codes = _Names()
        self._seq = Column(np.int64)
        self._alive = Column(np.bool_)
        self._is_fact = Column(np.bool_)
        self._times = Column(np.float64, 3)  # effective, said, expires
        self._places = Column(np.int32, 4)  # speaker, agent, app, conversation
        self._links = Column(np.int32, 2)  # the row before and after in its chain
        self._joined = Column(np.bool_)  # in one stretch with the row before
        self._lengths = Column(np.int32)
        self._vectors: Column | None = Column(np.float32, dimension) if dimension else None
        self._has_vector = Column(np.bool_)
        self._token_ids = Column(np.uint16)  # the distinct ones of each row, one row behind the other
        self._token_ends = Column(np.int64)
        self._token_rows: dict[int, int] = {}
        self._relative_lengths: tuple[NDArray[np.float32], NDArray[np.float32]] | None = None
        self._speaker_names: list[str] | None = None
        self._chain_ends: dict[tuple[int, ...], int] = {}
        self._expected = 0  # rows
        self._greatest_seq = -1

    # -- reading

    def __len__(self) -> int:
        return len(self._seq)

    @property
    def count(self) -> int:
        """Rows that live."""
        return int(np.count_nonzero(self._alive.values))

    @property
    def is_worn(self) -> bool:
        """More slots are dead than alive."""
        return 2 * self.count < len(self)

    @property
    def greatest_seq(self) -> int:
        """Of all rows there ever were; -1 before the first."""
        return self._greatest_seq

    @property
    def nbytes(self) -> int:
        """About what the index holds in memory."""
        columns = [self._seq, self._alive, self._is_fact, self._times, self._places, self._links, self._joined]
        columns += [self._lengths, self._has_vector] + ([self._vectors] if self._vectors else [])
        columns += [self._token_ids, self._token_ends]
        return sum(c.nbytes for c in columns) + sum(p.nbytes for p in self.pieces)

    @property
    def seqs(self) -> NDArray[np.int64]:
        """A row's number in the store, by slot."""
        return self._seq.values

    @property
    def alive(self) -> Mask:
        """By slot: the row is current."""
        return self._alive.values

    @property
    def is_fact(self) -> Mask:
        """By slot."""
        return self._is_fact.values

    @property
    def effective_at(self) -> NDArray[np.float64]:
        """Seconds since 1970 by slot; +inf when unreadable."""
        return self._times.values[:, 0]

    @property
    def said_at(self) -> NDArray[np.float64]:
        """Seconds since 1970 by slot; NaN when unreadable."""
        return self._times.values[:, 1]

    @property
    def expires_at(self) -> NDArray[np.float64]:
        """Seconds since 1970 by slot; +inf without an expiry."""
        return self._times.values[:, 2]

    @property
    def speakers(self) -> Slots:
        """Codes (`codes`) by slot; NONE for no speaker."""
        return self._places.values[:, 0]

    def place(self, level: int) -> Slots:
        """Codes by slot: 1 agent, 2 app, 3 conversation."""
        return self._places.values[:, level]

    @property
    def lengths(self) -> Slots:
        """Terms by slot."""
        return self._lengths.values

    @property
    def vectors(self) -> FloatArray | None:
        """Unit rows by slot, zero where `has_vector` is False; None while no row has one."""
        return self._vectors.values if self._vectors else None

    @property
    def has_vector(self) -> Mask:
        """By slot: a vector of this index's model is there."""
        return self._has_vector.values

    def speaker_names(self) -> list[str]:
        """Who has spoken in rows that live, longest name first."""
        if self._speaker_names is None:
            spoken = self.speakers[self.alive & (self.speakers != NONE)]
            names = map(self.codes.name, np.flatnonzero(np.bincount(spoken)).tolist())
            self._speaker_names = sorted(names, key=lambda name: (-len(name), name))
        return self._speaker_names

    def token_rows(self, token_ids: NDArray[np.uint16]) -> NDArray[np.int64]:
        """In how many living rows each token occurs."""
        return np.array([self._token_rows.get(int(token), 0) for token in token_ids], np.int64)

    def window(self, slots: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows in the windows of `slots`, each with the position in `slots` that it belongs to.

        A row lies in its own window. Being in a window is mutual.
        """
        everyone = np.arange(len(slots))
        places, rows = [everyone], [slots]
        for step in (self._step_back, self._step_on):
            place, row = everyone, slots
            for _ in range(WINDOW_ROWS):
                row = step(row)
                there = row != NONE
                place, row = place[there], row[there]
                places.append(place)
                rows.append(row)
        return np.concatenate(places), np.concatenate(rows)

    def relative_lengths(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Terms of each row, and of its window, over their means; by slot."""
        if self._relative_lengths is None:
            alive = np.flatnonzero(self.alive)
            place, row = self.window(alive)
            windows = np.zeros(len(self))
            windows[alive] = np.bincount(place, weights=self.lengths[row], minlength=len(alive))
            self._relative_lengths = self._over_mean(self.lengths), self._over_mean(windows)
        return self._relative_lengths

    def _over_mean(self, lengths: NDArray[Any]) -> NDArray[np.float32]:
        mean = float(lengths[self.alive].mean()) if self.count else 0.0
        return (lengths / (mean or 1.0)).astype(np.float32)

    def _step_back(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.where(self._joined.values[slots], self._links.values[slots, 0], NONE)

    def _step_on(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        after = self._links.values[slots, 1]
        return np.where((after != NONE) & self._joined.values[after], after, NONE)

    # -- bringing up to date

    def expect(self, rows: int) -> None:
        """So many rows are to come in all: make room for their vectors at once."""
        self._expected = rows
        if self._vectors is not None:
            self._vectors.reserve(rows)

    def put(self, rows: Sequence[SearchRow]) -> None:
        """Take in rows as `rows_since` gives them; a `seq` that is here already is replaced."""
        if not rows:
            return
        self._forget_derived()
        replaced = self._kill_rewritten(np.array([row.seq for row in rows], np.int64))
        first = len(self)
        texts = [read_terms(row.entry.terms) for row in rows]
        self._append(rows, texts)
        self.pieces = postings.append(self.pieces, postings.post(texts, first))
        self._count_tokens(rows)
        if not replaced:
            self._chain_new(first, rows)
            return
        for slot, row in enumerate(rows, first):
            self._chain(slot, row, replaced.get(row.seq, NONE))

    def keep(self, live: Sequence[int]) -> None:
        """Let go of every row whose `seq` is not in `live`."""
        self._forget_derived()
        gone = self.alive & ~np.isin(self.seqs, np.asarray(live, np.int64))
        for slot in np.flatnonzero(gone):
            self._kill(int(slot))
            self._unchain(int(slot))

    def _forget_derived(self) -> None:
        self._relative_lengths = None
        self._speaker_names = None

    def _append(self, rows: Sequence[SearchRow], texts: Sequence[NDArray[np.uint64]]) -> None:
        code = self.codes.code
        self._seq.extend([row.seq for row in rows])
        self._alive.extend([True] * len(rows))
        self._is_fact.extend([not row.is_message for row in rows])
        self._times.extend([(row.effective_at, row.said_at, row.expires_at) for row in rows])
        self._places.extend([(code(r.speaker), code(r.agent), code(r.app), code(r.conversation)) for r in rows])
        self._links.extend([(NONE, NONE)] * len(rows))
        self._joined.extend([False] * len(rows))
        self._lengths.extend([len(text) for text in texts])
        self._append_vectors(rows)

    def _append_vectors(self, rows: Sequence[SearchRow]) -> None:
        usable = [row.entry.vector if row.entry.model == self.model else None for row in rows]
        first = len(self._has_vector)
        self._has_vector.extend([False] * len(rows))
        if self._vectors is None:
            dimension = next((len(vector) // 2 for vector in usable if vector), None)
            if dimension is None:
                return
            self._vectors = Column(np.float32, dimension)
            self._vectors.reserve(self._expected)
        width = self._vectors.width
        missing = len(self._has_vector) - len(self._vectors)
        self._vectors.extend(np.broadcast_to(np.float32(0), (missing, width)))
        slots = [slot for slot, vector in enumerate(usable, first) if vector and len(vector) == 2 * width]
        stored = b"".join([usable[slot - first] or b"" for slot in slots])
        self._vectors.values[slots] = unpack_vector(stored).reshape(-1, width)
        self._has_vector.values[slots] = True

    def _count_tokens(self, rows: Sequence[SearchRow]) -> None:
        ids = [unpack_ids(row.entry.token_ids or b"") for row in rows]
        row = np.repeat(np.arange(len(ids)), [len(each) for each in ids])
        distinct = np.unique(row << 16 | np.concatenate(ids))  # once a row, the rows one behind the other
        counts = np.bincount(distinct >> 16, minlength=len(ids))
        self._token_ends.extend(len(self._token_ids) + np.cumsum(counts))
        self._token_ids.extend(distinct & 0xFFFF)
        self._add_token_rows((distinct & 0xFFFF).astype(np.uint16), 1)

    def _add_token_rows(self, token_ids: NDArray[np.uint16], sign: int) -> None:
        tokens, counts = np.unique(token_ids, return_counts=True)
        for token, count in zip(tokens.tolist(), counts.tolist(), strict=True):
            self._token_rows[token] = self._token_rows.get(token, 0) + sign * count

    def _kill_rewritten(self, seqs: NDArray[np.int64]) -> dict[int, int]:
        """Let the slots of `seqs` die; their numbers by seq."""
        greatest, self._greatest_seq = self._greatest_seq, max(self._greatest_seq, int(seqs.max()))
        if seqs.min() > greatest:
            return {}
        slots = np.flatnonzero(self.alive & np.isin(self.seqs, seqs)).tolist()
        for slot in slots:
            self._kill(slot)
        return {int(self.seqs[slot]): slot for slot in slots}

    def _kill(self, slot: int) -> None:
        self._alive.values[slot] = False
        self._has_vector.values[slot] = False
        start = self._token_ends.values[slot - 1] if slot else 0
        self._add_token_rows(self._token_ids.values[start : self._token_ends.values[slot]], -1)

    # -- chains of messages

    def _chain_new(self, first: int, rows: Sequence[SearchRow]) -> None:
        """Put rows that replace none, from slot `first` on, at the ends of their conversations, all at once."""
        ends = self._chain_ends
        ends_before = []
        for slot, (row, place) in enumerate(zip(rows, self._places.values[first:, 1:].tolist(), strict=True), first):
            ends_before.append(ends.get(tuple(place), NONE) if row.is_message else NONE)
            if row.is_message:
                ends[tuple(place)] = slot
        before = np.array(ends_before, np.int64)
        linked = np.flatnonzero(before != NONE)
        one, other = before[linked], linked + first
        self._links.values[one, 1] = other
        self._links.values[other, 0] = one
        said_one, said_other = self.said_at[one], self.said_at[other]
        no_time = np.isnan(said_one) & np.isnan(said_other)
        self._joined.values[other] = (np.abs(said_one - said_other) <= STRETCH_S) | no_time

    def _chain(self, slot: int, row: SearchRow, replaced: int) -> None:
        """Put `slot` at the end of its conversation, or in the place of the slot that it replaces."""
        before, after = self._unchain(replaced) if replaced != NONE else (NONE, NONE)
        if not row.is_message:
            return
        if replaced == NONE:
            before = self._chain_ends.get(self._chain_key(slot), NONE)
        self._link(before, slot)
        self._link(slot, after)
        if after == NONE:
            self._chain_ends[self._chain_key(slot)] = slot

    def _unchain(self, slot: int) -> tuple[int, int]:
        """Take `slot` out of its chain; its neighbours there, which now are each other's."""
        if self.is_fact[slot]:
            return NONE, NONE
        before, after = (int(link) for link in self._links.values[slot])
        self._link(before, after)
        if self._chain_ends.get(self._chain_key(slot)) == slot:
            self._chain_ends[self._chain_key(slot)] = before
        return before, after

    def _link(self, before: int, after: int) -> None:
        if before != NONE:
            self._links.values[before, 1] = after
        if after != NONE:
            self._links.values[after, 0] = before
            self._joined.values[after] = before != NONE and self._is_close(before, after)

    def _is_close(self, one: int, other: int) -> bool:
        """Two unreadable times are close: then the order they came in is all there is."""
        apart = abs(self.said_at[one] - self.said_at[other])
        return bool(apart <= STRETCH_S) or bool(np.isnan(self.said_at[[one, other]]).all())

    def _chain_key(self, slot: int) -> tuple[int, ...]:
        """Agent, app and conversation."""
        return tuple(self._places.values[slot, 1:].tolist())


class _Names:
    """Names as small numbers, in the order they were met."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._names: list[str] = []

    def code(self, name: str | None) -> int:
        """The number of `name`, a new one if need be; NONE for None."""
        if name is None:
            return NONE
        if name not in self._codes:
            self._codes[name] = len(self._names)
            self._names.append(name)
        return self._codes[name]

    def known(self, name: str) -> int | None:
        """The number of `name`; None when it was never met."""
        return self._codes.get(name)

    def name(self, code: int) -> str:
        """The name of a number."""
        return self._names[code]
