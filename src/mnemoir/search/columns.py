"""Growing arrays of an index: columns by slot, and chains of neighbouring messages.

A row's window is itself and the two rows on either side. Messages of one conversation are a chain in the order they
were stored. A chain breaks into stretches where more than an hour lies between two of them, and a window ends with
its stretch. Windows are not stored: word search computes them for each query.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mnemoir.core.text import STRETCH_S

Array = NDArray[Any]  # the element type is chosen where the column is made
WINDOW_ROWS = 2
NONE = -1

Key = tuple[int, ...]  # agent, app and conversation
Times = NDArray[np.float64]  # when each row was said, by slot; NaN when unreadable


class Column:
    """A numpy array with spare capacity. `values` is a view, valid until the next `extend`.

    It grows by a quarter: a full copy then costs four appended rows a row, and the room that is not used yet costs
    address space, not memory, in large columns.
    """

    def __init__(self, dtype: DTypeLike, width: int | None = None, first: Array | None = None) -> None:
        """Empty, or a copy of the `first` rows."""
        self._tail = () if width is None else (width,)
        self._room: Array = np.zeros((0, *self._tail), dtype)
        self._used = 0
        if first is not None:
            self.reserve(len(first) + len(first) // 4)
            self.extend(first)

    def __len__(self) -> int:
        return self._used

    @property
    def values(self) -> Array:
        """The appended rows, in order; writable in place."""
        return self._room[: self._used]

    @property
    def width(self) -> int:
        """The elements per row."""
        return self._tail[0] if self._tail else 1

    @property
    def nbytes(self) -> int:
        """Bytes in use."""
        return self.values.nbytes

    def reserve(self, rows: int) -> None:
        """Raise the capacity to `rows` in all: appending up to that number then copies nothing."""
        if rows > len(self._room):
            self._move(rows)

    def extend(self, rows: Sequence[object] | Array) -> None:
        """Append `rows`."""
        needed = self._used + len(rows)
        if needed > len(self._room):
            self._move(needed if not self._used else needed + needed // 4)
        self._room[self._used : needed] = rows
        self._used = needed

    def _move(self, rows: int) -> None:
        room = np.empty((rows, *self._tail), self._room.dtype)
        room[: self._used] = self.values
        self._room = room


class Chains:
    """Neighbours by slot. A row without a key, as a fact is, has none."""

    def __init__(self, links: Array | None, joined: Array | None, ends: Mapping[Key, int]) -> None:
        """Restore from the results of `arrays` and `ends`; empty without."""
        self._links = Column(np.int32, 2, links)  # the row before and after
        self._joined = Column(np.bool_, None, joined)  # in one stretch with the row before
        self.ends: dict[Key, int] = dict(ends)  # the last row of each chain; NONE for a chain without rows

    @property
    def nbytes(self) -> int:
        """Bytes in use."""
        return self._links.nbytes + self._joined.nbytes

    def arrays(self) -> tuple[Array, Array]:
        """The current links and stretches."""
        return self._links.values.copy(), self._joined.values.copy()

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

    def before(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """The row just before each of `slots` in its stretch; NONE for the first of one."""
        return self._step_back(slots)

    def extend(self, rows: int) -> None:
        """Append `rows` rows without neighbours."""
        self._links.extend([(NONE, NONE)] * rows)
        self._joined.extend([False] * rows)

    def put_new(self, first: int, keys: Sequence[Key | None], said_at: Times) -> None:
        """Append new rows, from slot `first` on, to the ends of their chains in one step."""
        ends_before = []
        for slot, key in enumerate(keys, first):
            ends_before.append(NONE if key is None else self.ends.get(key, NONE))
            if key is not None:
                self.ends[key] = slot
        before = np.array(ends_before, np.int64)
        linked = np.flatnonzero(before != NONE)
        one, other = before[linked], linked + first
        self._links.values[one, 1] = other
        self._links.values[other, 0] = one
        said_one, said_other = said_at[one], said_at[other]
        no_time = np.isnan(said_one) & np.isnan(said_other)
        self._joined.values[other] = (np.abs(said_one - said_other) <= STRETCH_S) | no_time

    def put(self, slot: int, key: Key | None, said_at: Times, around: tuple[int, int] | None) -> None:
        """Insert `slot` at the end of its chain, or between the neighbours that `take_out` returned."""
        if key is None:
            return
        before, after = (self.ends.get(key, NONE), NONE) if around is None else around
        self._link(before, slot, said_at)
        self._link(slot, after, said_at)
        if after == NONE:
            self.ends[key] = slot

    def take_out(self, slot: int, key: Key | None, said_at: Times) -> tuple[int, int]:
        """Remove `slot` from its chain and link its neighbours; return these."""
        if key is None:
            return NONE, NONE
        before, after = (int(link) for link in self._links.values[slot])
        self._link(before, after, said_at)
        if self.ends.get(key) == slot:
            self.ends[key] = before
        return before, after

    def _step_back(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.where(self._joined.values[slots], self._links.values[slots, 0], NONE)

    def _step_on(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        after = self._links.values[slots, 1]
        return np.where((after != NONE) & self._joined.values[after], after, NONE)

    def _link(self, before: int, after: int, said_at: Times) -> None:
        if before != NONE:
            self._links.values[before, 1] = after
        if after != NONE:
            self._links.values[after, 0] = before
            self._joined.values[after] = before != NONE and _is_close(said_at[[before, after]])


def _is_close(said_at: NDArray[Any]) -> bool:
    """True for times within an hour, and for two unreadable ones, which only their order relates."""
    return bool(abs(said_at[0] - said_at[1]) <= STRETCH_S) or bool(np.isnan(said_at).all())
