"""Arrays that grow at the end."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Array = NDArray[Any]  # the element type is chosen where the column is made


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
