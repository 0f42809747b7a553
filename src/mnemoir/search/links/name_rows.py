"""The names of an index's rows, by row and by name."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnemoir.search.columns import Array, Column
from mnemoir.search.links.name_keys import Keys, Mode, keys_in, modes_in, unpack_names
from mnemoir.search.terms import Postings, append_postings, postings_of

FEWEST_COMMON = 50
COMMON_SHARE = 0.02  # a name in more rows than both links nothing
Slots = NDArray[np.int64]
_NAME, _, _NOUN, _SMALL, _USER = map(int, Mode)  # numpy takes a third longer to compare with members of an enum
_LAST_LINK, _MODES = _NOUN, len(Mode)


@dataclass(frozen=True, slots=True, eq=False)
class Mentions:
    """Rows that are linked by names: `which` of the names, by place among those asked for, and the row's slot.

    `degrees` are the rows of each name asked for. `has_common` is True when one of them is in too many rows.
    """

    which: NDArray[np.int64]
    slots: NDArray[np.int32]
    degrees: NDArray[np.int64]
    has_common: bool


class NameRows:
    """Names by slot, and slots by name. Slots are only appended; dead ones are for the caller to leave out."""

    def __init__(self, keys: Array | None = None, ends: Array | None = None) -> None:
        """Empty, or with the results of `arrays`."""
        self._names = Column(np.uint64, None, keys)  # of each row, one row behind the other
        self._ends = Column(np.int32, None, ends)
        self._pieces: list[Postings] = []
        if keys is not None and ends is not None:
            self._pieces = append_postings([], _postings(np.asarray(keys), np.diff(ends, prepend=0), 0))

    @property
    def nbytes(self) -> int:
        """Bytes in use."""
        return self._names.nbytes + self._ends.nbytes + sum(piece.nbytes for piece in self._pieces)

    def arrays(self) -> tuple[Array, Array]:
        """The names of all rows, and where those of each row end."""
        return self._names.values, self._ends.values

    def extend(self, rows: Sequence[bytes]) -> None:
        """Append the names of rows as they are stored."""
        first, counts = len(self._ends), np.array([len(row) // 8 for row in rows], np.int64)
        names = unpack_names(b"".join(rows))
        self._ends.extend(len(self._names) + np.cumsum(counts))
        self._names.extend(names)
        if len(names):
            self._pieces = append_postings(self._pieces, _postings(names, counts, first))

    def of(self, slots: Slots) -> tuple[Keys, NDArray[np.int64]]:
        """The keys of the names that link these rows, each with the place of its row among `slots`."""
        ends = self._ends.values.astype(np.int64)
        begins = np.where(slots > 0, ends[slots - 1], 0)
        at, place = _ranges(begins, ends[slots] - begins)
        names = self._names.values[at]
        links = modes_in(names) <= _LAST_LINK
        return keys_in(names[links]), place[links]

    def mentions(self, keys: Keys, shown: NDArray[np.bool_], most: int) -> Mentions:
        """The rows, among those shown, that are linked by these keys; a name is in at most so many of them."""
        which, slots, modes = self._postings_of(keys)
        seen = shown[slots]
        if not seen.all():
            which, slots, modes = which[seen], slots[seen], modes[seen]
        counts = np.bincount(which * _MODES + modes, minlength=len(keys) * _MODES).reshape(len(keys), _MODES).T
        degrees = counts[: _LAST_LINK + 1].sum(axis=0)
        has = counts > 0
        is_name = (has[_NAME] | (has[_NOUN] & ~has[_SMALL])) & ~has[_USER]
        is_common = degrees > most
        kept = (modes <= _LAST_LINK) & (is_name & ~is_common)[which]
        return Mentions(which[kept], slots[kept], degrees, bool((is_name & is_common).any()))

    def _postings_of(self, keys: Keys) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16]]:
        """Places of keys, slots and modes of all rows with one of the keys."""
        parts = [(np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.uint16))]
        for piece in self._pieces:
            at = np.searchsorted(piece.terms, keys)
            at[at == len(piece.terms)] = 0
            hits = np.flatnonzero(piece.terms[at] == keys)
            if not len(hits):
                continue
            at = at[hits]
            begins = piece.starts[at]
            found, place = _ranges(begins, piece.starts[at + 1] - begins)
            parts.append((hits[place], piece.slots[found], piece.counts[found]))
        if len(parts) == 2:  # all are in one piece, and nothing is to be joined
            return parts[1]
        which, slots, modes = zip(*parts, strict=True)
        return np.concatenate(which), np.concatenate(slots), np.concatenate(modes)


def _postings(names: Keys, counts: NDArray[Any], first: int) -> Postings:
    """The rows of names by their keys, with the modes in the place of counts; row `first` has the first names."""
    keys, slots = keys_in(names), np.repeat(np.arange(first, first + len(counts), dtype=np.int32), counts)
    order = np.argsort(keys, kind="stable")
    return postings_of(keys[order], slots[order], modes_in(names)[order])


def _ranges(begins: NDArray[Any], lengths: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The numbers from each begin on, one range behind the other, and the place of the range of each number."""
    place = np.repeat(np.arange(len(begins)), lengths)
    behind = np.cumsum(lengths) - lengths
    return np.arange(len(place)) - behind[place] + begins[place], place
