"""The resident index of one user's rows: the data that ranking needs, as arrays.

Why not an FTS5 table: one over all users costs 80-200 ms a query at 200,000 rows, because its statistics and posting
lists span everybody's rows, and a table a user makes the schema grow with users. So a row's terms are stored beside
it, and the word index of a user is made here from those rows, like the matrix of vectors. Other users cost nothing.

Slots are only ever appended. A row that was rewritten takes a new slot and its old one dies; a row that is gone
leaves a dead slot. So nothing that was posted or counted changes place, and bringing the index up to date after one
write costs that one row. When most slots are dead, the caller starts afresh (`is_worn`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mnemoir.core.memories import Space
from mnemoir.ports.embedding import FloatArray
from mnemoir.ports.search_rows import Revision, SearchRow
from mnemoir.search.columns import NONE, Chains, Column, Key
from mnemoir.search.frozen import Frozen
from mnemoir.search.indexing import unpack_ids
from mnemoir.search.links.name_rows import NameRows
from mnemoir.search.terms import (
    Postings,
    Slots,
    append_postings,
    asking_terms,
    find_postings,
    own_terms,
    post,
    read_terms,
)
from mnemoir.search.vector_rows import VectorRows

_COLUMNS: Mapping[str, tuple[DTypeLike, int | None]] = {
    "seq": (np.int64, None),
    "alive": (np.bool_, None),
    "is_fact": (np.bool_, None),
    "times": (np.float64, 5),  # effective, said, expires, valid from, valid until
    "places": (np.int32, 5),  # speaker, agent, app, conversation, role
    "lengths": (np.int32, None),
    "token_ids": (np.uint16, None),  # the distinct ones of each row, one row behind the other
    "token_ends": (np.int64, None),
}
_MAIN = ("has_vector", "vectors")  # the arrays of the main space

Mask = NDArray[np.bool_]


class ScopeIndex:
    """All rows of one user for one or more vector spaces. Not thread-safe: its owner must hold a lock.

    `main` has the vectors of the embedding model; those of further spaces, which few users have, are there by name.
    """

    def __init__(
        self,
        model: str,
        dimension: int | None,
        frozen: Frozen | None = None,
        *,
        spaces: Sequence[Space] = (),
    ) -> None:
        """Create an empty index, or one with the contents of `frozen`, with these further spaces."""
        arrays = frozen.arrays if frozen else {}
        self.main = VectorRows(model, dimension, *map(arrays.get, _MAIN))
        self.further = {space: VectorRows(space.model, None, *map(arrays.get, _arrays_of(space))) for space in spaces}
        self.revision = frozen.revision if frozen else Revision(changes=-1, removals=-1)
        self.pieces: list[Postings] = list(frozen.pieces) if frozen else []
        self.codes = _Names(frozen.names if frozen else ())
        self._columns = {name: Column(*shape, arrays.get(name)) for name, shape in _COLUMNS.items()}
        self.names = NameRows(arrays.get("name_keys"), arrays.get("name_ends"))
        self._chains = Chains(arrays.get("links"), arrays.get("joined"), frozen.chain_ends if frozen else {})
        self._token_rows: dict[int, int] = {}
        self._add_token_rows(self._columns["token_ids"].values, 1)
        self._relative_lengths: tuple[NDArray[np.float32], NDArray[np.float32]] | None = None
        self._asking_shares: NDArray[np.float32] | None = None
        self._speaker_names: list[str] | None = None
        self._said_between: tuple[float, ...] | None = None
        self._greatest_seq = int(self.seqs.max(initial=-1))

    # -- reading

    def __len__(self) -> int:
        return len(self._columns["seq"])

    @property
    def count(self) -> int:
        """The number of living rows."""
        return int(np.count_nonzero(self.alive))

    @property
    def is_worn(self) -> bool:
        """True when more slots are dead than alive."""
        return 2 * self.count < len(self)

    @property
    def greatest_seq(self) -> int:
        """The greatest `seq` of all rows, dead ones too; -1 before the first."""
        return self._greatest_seq

    @property
    def nbytes(self) -> int:
        """The approximate memory use in bytes."""
        columns = sum(column.nbytes for column in self._columns.values())
        vectors = sum(rows.nbytes for rows in (self.main, *self.further.values()))
        return (
            columns + vectors + self._chains.nbytes + self.names.nbytes + sum(piece.nbytes for piece in self.pieces)
        )

    @property
    def seqs(self) -> NDArray[np.int64]:
        """A row's number in the store, by slot."""
        return self._columns["seq"].values

    @property
    def alive(self) -> Mask:
        """True for current rows, by slot."""
        return self._columns["alive"].values

    @property
    def is_fact(self) -> Mask:
        """True for facts, by slot."""
        return self._columns["is_fact"].values

    @property
    def effective_at(self) -> NDArray[np.float64]:
        """Seconds since 1970 by slot; +inf when unreadable."""
        return self._columns["times"].values[:, 0]

    @property
    def said_at(self) -> NDArray[np.float64]:
        """Seconds since 1970 by slot; NaN when unreadable."""
        return self._columns["times"].values[:, 1]

    @property
    def expires_at(self) -> NDArray[np.float64]:
        """Seconds since 1970 by slot; +inf without an expiry."""
        return self._columns["times"].values[:, 2]

    def valid_at(self, at: float) -> Mask:
        """True for rows that were valid at a time, by slot; in an index of current rows, for all."""
        times = self._columns["times"].values
        return np.asarray((times[:, 3] <= at) & (at < times[:, 4]))

    @property
    def speakers(self) -> Slots:
        """Codes (`codes`) by slot; NONE for no speaker."""
        return self._columns["places"].values[:, 0]

    def place(self, level: int) -> Slots:
        """Codes by slot: 1 agent, 2 app, 3 conversation, 4 role."""
        return self._columns["places"].values[:, level]

    @property
    def lengths(self) -> Slots:
        """Words by slot."""
        return self._columns["lengths"].values

    @property
    def vectors(self) -> FloatArray | None:
        """Unit rows by slot, zero where `has_vector` is False; None while no row has one."""
        return self.main.vectors

    @property
    def has_vector(self) -> Mask:
        """True for rows with a vector of this index's model, by slot."""
        return self.main.has_vector

    @property
    def space(self) -> str:
        """The name of the vector spaces, for stored packs."""
        return " + ".join((self.main.model, *(f"{space.name} {space.model}" for space in self.further)))

    def vectors_in(self, space: str) -> VectorRows:
        """The vectors of a further space, by its name; none for a space that the index does not have."""
        for key, rows in self.further.items():
            if key.name == space:
                return rows
        return VectorRows("", None, np.zeros(len(self), np.bool_))

    def speaker_names(self) -> list[str]:
        """The speakers of living rows, longest name first."""
        if self._speaker_names is None:
            spoken = self.speakers[self.alive & (self.speakers != NONE)]
            names = map(self.codes.name, np.flatnonzero(np.bincount(spoken)).tolist())
            self._speaker_names = sorted(names, key=lambda name: (-len(name), name))
        return self._speaker_names

    def said_between(self) -> tuple[float, ...]:
        """The earliest and the latest `said_at` of living rows; () when none is readable."""
        if self._said_between is None:
            said_at = self.said_at[self.alive & np.isfinite(self.said_at)]
            self._said_between = (float(said_at.min()), float(said_at.max())) if len(said_at) else ()
        return self._said_between

    def token_rows(self, token_ids: NDArray[np.uint16]) -> NDArray[np.int64]:
        """The number of living rows in which each token occurs."""
        return np.array([self._token_rows.get(int(token), 0) for token in token_ids], np.int64)

    def window(self, slots: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows in the windows of `slots`, each with the position in `slots` that it belongs to."""
        return self._chains.window(slots)

    def before(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """The message just before each of `slots`; NONE where none is near."""
        return self._chains.before(slots)

    def asking_shares(self) -> NDArray[np.float32]:
        """How much of each message asks something, 0 to 1 in tenths, by slot; 0 for facts."""
        if self._asking_shares is None:
            terms = asking_terms()
            shares = np.zeros(len(self), np.float32)
            for step, (slots, _) in enumerate(find_postings(self.pieces, terms), 1):
                shares[slots] = step / len(terms)
            shares[self.is_fact] = 0
            self._asking_shares = shares
        return self._asking_shares

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

    def agrees_with(self, row: SearchRow) -> bool:
        """True when the index holds the row as given."""
        slots = np.flatnonzero(self.alive & (self.seqs == row.seq)).tolist()
        if not slots or self.lengths[slots[0]] != own_terms(row.entry.terms):
            return False
        return self.main.agrees_with(slots[0], self._main_of(row)) and all(
            rows.agrees_with(slots[0], row.entry.vectors.get(space)) for space, rows in self.further.items()
        )

    def frozen(self) -> Frozen:
        """The current contents, for storing. Rows may be added meanwhile: arrays that change in place are copied."""
        arrays = {name: column.values for name, column in self._columns.items()}
        arrays["alive"] = self.alive.copy()
        arrays["links"], arrays["joined"] = self._chains.arrays()
        arrays["name_keys"], arrays["name_ends"] = self.names.arrays()
        spaces = [(_MAIN, self.main), *((_arrays_of(space), rows) for space, rows in self.further.items())]
        for (has_vector, vectors), rows in spaces:
            arrays[has_vector] = rows.has_vector.copy()
            if rows.vectors is not None:
                arrays[vectors] = rows.vectors
        return Frozen(
            revision=self.revision,
            arrays=arrays,
            pieces=tuple(self.pieces),
            names=self.codes.names(),
            chain_ends=dict(self._chains.ends),
        )

    # -- bringing up to date

    def put(self, rows: Sequence[SearchRow]) -> None:
        """Add rows as `rows_since` returns them; a `seq` already present is replaced."""
        if not rows:
            return
        self._forget_derived()
        replaced = self._kill_rewritten(np.array([row.seq for row in rows], np.int64))
        first = len(self)
        texts = [read_terms(row.entry.terms) for row in rows]
        self._append(rows)
        self.pieces = append_postings(self.pieces, post(texts, first))
        self._count_tokens(rows)
        keys = [self._chain_key(slot) for slot in range(first, len(self))]
        if not replaced:
            self._chains.put_new(first, keys, self.said_at)
            return
        for slot, (row, key) in enumerate(zip(rows, keys, strict=True), first):
            old = replaced.get(row.seq)
            around = None if old is None else self._chains.take_out(old, self._chain_key(old), self.said_at)
            self._chains.put(slot, key, self.said_at, around)

    def keep(self, live: Sequence[int]) -> None:
        """Remove every row whose `seq` is not in `live`."""
        self._forget_derived()
        gone = self.alive & ~np.isin(self.seqs, np.asarray(live, np.int64))
        for slot in np.flatnonzero(gone):
            self._kill(int(slot))
            self._chains.take_out(int(slot), self._chain_key(int(slot)), self.said_at)

    def _forget_derived(self) -> None:
        self._relative_lengths = None
        self._asking_shares = None
        self._speaker_names = None
        self._said_between = None

    def _append(self, rows: Sequence[SearchRow]) -> None:
        code, columns = self.codes.code, self._columns
        columns["seq"].extend([row.seq for row in rows])
        columns["alive"].extend([True] * len(rows))
        columns["is_fact"].extend([not row.is_message for row in rows])
        columns["times"].extend(
            [(row.effective_at, row.said_at, row.expires_at, row.valid_from, row.valid_until) for row in rows]
        )
        names = [(row.speaker, row.agent, row.app, row.conversation, row.role) for row in rows]
        columns["places"].extend([tuple(map(code, each)) for each in names])
        columns["lengths"].extend([own_terms(row.entry.terms) for row in rows])
        self.names.extend([row.entry.names for row in rows])
        self._chains.extend(len(rows))
        self.main.extend([self._main_of(row) for row in rows])
        for space, vectors in self.further.items():
            vectors.extend([row.entry.vectors.get(space) for row in rows])

    def _main_of(self, row: SearchRow) -> bytes | None:
        """The row's vector of the embedding model of this index."""
        return row.entry.vector if row.entry.model == self.main.model else None

    def _count_tokens(self, rows: Sequence[SearchRow]) -> None:
        ids = [unpack_ids(row.entry.token_ids or b"") for row in rows]
        row = np.repeat(np.arange(len(ids)), [len(each) for each in ids])
        distinct = np.unique(row << 16 | np.concatenate(ids))  # once a row, the rows one behind the other
        counts = np.bincount(distinct >> 16, minlength=len(ids))
        token_ids = self._columns["token_ids"]
        self._columns["token_ends"].extend(len(token_ids) + np.cumsum(counts))
        token_ids.extend(distinct & 0xFFFF)
        self._add_token_rows((distinct & 0xFFFF).astype(np.uint16), 1)

    def _add_token_rows(self, token_ids: NDArray[np.uint16], sign: int) -> None:
        tokens, counts = np.unique(token_ids, return_counts=True)
        for token, count in zip(tokens.tolist(), counts.tolist(), strict=True):
            self._token_rows[token] = self._token_rows.get(token, 0) + sign * count

    def _kill_rewritten(self, seqs: NDArray[np.int64]) -> dict[int, int]:
        """Mark the slots of `seqs` as dead; return them by seq."""
        greatest, self._greatest_seq = self._greatest_seq, max(self._greatest_seq, int(seqs.max()))
        if seqs.min() > greatest:
            return {}
        slots = np.flatnonzero(self.alive & np.isin(self.seqs, seqs)).tolist()
        for slot in slots:
            self._kill(slot)
        return {int(self.seqs[slot]): slot for slot in slots}

    def _kill(self, slot: int) -> None:
        self.alive[slot] = False
        for rows in (self.main, *self.further.values()):
            rows.kill(slot)
        ends = self._columns["token_ends"].values
        self._add_token_rows(self._columns["token_ids"].values[ends[slot - 1] if slot else 0 : ends[slot]], -1)

    def _chain_key(self, slot: int) -> Key | None:
        """Agent, app and conversation of a message; None for a fact."""
        return None if self.is_fact[slot] else tuple(self._columns["places"].values[slot, 1:4].tolist())


def _arrays_of(space: Space) -> tuple[str, str]:
    """The names of a further space's arrays: which slots have a vector, and the vectors."""
    return f"has_vector in {space.name}", f"vectors in {space.name}"


class _Names:
    """Names mapped to small numbers, in order of first use."""

    def __init__(self, names: Sequence[str] = ()) -> None:
        self._names = list(names)
        self._codes = {name: code for code, name in enumerate(names)}

    def names(self) -> Sequence[str]:
        """All of them, by number."""
        return tuple(self._names)

    def code(self, name: str | None) -> int:
        """The number of `name`, a new one if need be; NONE for None."""
        if name is None:
            return NONE
        if name not in self._codes:
            self._codes[name] = len(self._names)
            self._names.append(name)
        return self._codes[name]

    def code_or_none(self, name: str) -> int | None:
        """The number of `name`; None when it has none."""
        return self._codes.get(name)

    def name(self, code: int) -> str:
        """The name of a number."""
        return self._names[code]
