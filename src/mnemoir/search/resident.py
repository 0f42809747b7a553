"""One index in memory, brought up to date from its stored pack, by pages of rows, and by later changes.

Building an index of 100,000 rows takes seconds, so it is done in short reads of the store, between which other tasks
run. A pack is a stored earlier state of the index; loading it takes a tenth of that time.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mnemoir.core.scope import Scope
from mnemoir.ports.index_packs import IndexPacks
from mnemoir.ports.search_rows import IndexRows, Revision
from mnemoir.search.frozen import frozen_from
from mnemoir.search.index import ScopeIndex

PAGE = 4096  # rows: about a tenth of a second
FEWEST_PACKED = 4096  # fewer rows are quickly read again
REST_S = 60.0  # least time between two packs
_CHECKED = 64  # changes

Made = Callable[[], ScopeIndex]
Forget = Callable[["Resident"], None]


class TooFarBehind(Exception):
    """Raised when an index lacks more rows than may be read while a search waits."""


class Resident:
    """One user's index. Its methods block, and a `view` is a snapshot of the store. Thread-safe.

    `is_whole` is True when the index lacks no more rows than a search adds itself.
    """

    def __init__(self, owner: Scope, make: Made, packs: IndexPacks | None, forget: Forget = lambda resident: None):
        """`forget` is called after the index was dropped."""
        self.owner = owner
        self._forget = forget
        self.is_whole = False
        self.speaker_names: list[str] = []
        self._make = make
        self._packs = packs
        self._lock = threading.Lock()
        self._index = make()
        self._goal: Revision | None = None  # the revision of the rows when the first page was read
        self._cursor = -1
        self._packed = 0  # rows
        self._mark = 0
        self._packed_at = -math.inf  # on the clock of `time.monotonic`

    def has_vectors_in(self, space: str) -> bool:
        """True when the index has vectors in a further space, by its name."""
        return self._index.vectors_in(space).vectors is not None

    @property
    def nbytes(self) -> int:
        """The approximate memory use in bytes."""
        return self._index.nbytes

    @property
    def rows_in_memory(self) -> int:
        """The number of rows in memory."""
        return len(self._index)

    def drop(self) -> bool:
        """Release the index; False while a search uses it."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            self._begin_anew()
        finally:
            self._lock.release()
        self._forget(self)
        return True

    def build(self, view: IndexRows) -> None:
        """Read the missing rows page by page, after the stored pack, which holds most of them."""
        if not self.is_whole and (kept := self.read_pack()) is not None:
            self.begin_with(kept, view)
        while self.take_page(view):
            pass
        self.is_whole = True

    def read_pack(self) -> ScopeIndex | None:
        """The index from its stored pack, for `begin_with`."""
        arrays = self._packs and self._packs.read(self.owner, self._index.space)
        frozen = frozen_from(arrays, self._index.space) if arrays else None
        if frozen is None:
            return None
        return ScopeIndex(self._index.main.model, None, frozen, spaces=tuple(self._index.further))

    def begin_with(self, kept: ScopeIndex, view: IndexRows) -> None:
        """Adopt a stored index, if it is an earlier state of these rows.

        It is not when it is newer than the rows, or when a row written last before it was stored differs, as after
        restoring a backup.
        """
        stands, done = view.revision(self.owner), kept.revision
        if stands.epoch != done.epoch or stands.changes < done.changes or stands.removals < done.removals:
            return
        last = view.rows_since(self.owner, done.changes - _CHECKED, done.changes)
        if not all(map(kept.agrees_with, last)):
            return
        self._packed, self._mark = len(kept), self.mark()
        kept.keep(view.live(self.owner))
        kept.revision = Revision(changes=done.changes, removals=stands.removals, epoch=done.epoch)
        with self._lock:
            if not len(self._index):
                self._index = kept

    def take_page(self, view: IndexRows) -> bool:
        """Read one page of missing rows; True when more are missing than a search adds itself."""
        with self._lock:
            stands = view.revision(self.owner)
            self._renew(stands)
            if self._goal is None:
                if not self._lacks_much(stands):
                    return False
                self._goal, self._cursor = stands, -1
            index, done = self._index, self._index.revision
            page = view.rows_after(self.owner, self._cursor, PAGE, changes=done.changes)
            for start in range(0, len(page), PAGE):
                index.put(page[start : start + PAGE])
            if len(page) == PAGE:
                self._cursor = page[-1].seq
                return True
            removals = self._goal.removals if done.removals < 0 else done.removals
            changes = max(self._goal.changes, done.changes)
            index.revision = Revision(changes=changes, removals=removals, epoch=stands.epoch)
            self._goal = None
            return self._lacks_much(stands)

    @contextmanager
    def up_to_date(self, view: IndexRows, *, at_most: int | None = None) -> Iterator[ScopeIndex]:
        """The index in the state of the view or newer, locked for this context.

        Raises TooFarBehind when more than `at_most` rows would have to be read for that.
        """
        with self._lock:
            stands = view.revision(self.owner)
            self._renew(stands)
            if at_most is not None and stands.changes - self._index.revision.changes > at_most:
                self.is_whole = False
                raise TooFarBehind
            _bring_up(self._index, view, self.owner, stands)
            self.speaker_names = self._index.speaker_names()
            yield self._index

    @contextmanager
    def as_it_is(self) -> Iterator[ScopeIndex]:
        """The index in its current state, locked for this context."""
        with self._lock:
            yield self._index

    @property
    def wants_packing(self) -> bool:
        """True when a new pack is worthwhile: the index has grown, or its pack was dropped."""
        if not self.is_whole or time.monotonic() - self._packed_at < REST_S:
            return False
        packed = self._packed if self.mark() == self._mark else 0
        return self._packs is not None and len(self._index) - packed >= max(FEWEST_PACKED, packed // 4)

    def pack(self, mark: int, view: IndexRows) -> Callable[[], None]:
        """A function that stores the index as of the view, to call outside it. `mark` is older than the view."""
        packs, owner = self._packs, self.owner
        with self.up_to_date(view) as index:
            frozen, model = index.frozen(), index.space
            self._packed, self._mark, self._packed_at = len(index), mark, time.monotonic()

        def write() -> None:
            if packs is not None:
                packs.write(owner, model, frozen.of_the_living().as_arrays(model), mark)

        return write

    def mark(self) -> int:
        """The mark for `pack`."""
        return self._packs.mark(self.owner) if self._packs else 0

    def _is_void(self, stands: Revision) -> bool:
        known = self._goal or self._index.revision
        return self._index.is_worn or (known.changes >= 0 and known.epoch != stands.epoch)

    def _lacks_much(self, stands: Revision) -> bool:
        return stands.changes - self._index.revision.changes > PAGE

    def _renew(self, stands: Revision) -> None:
        if self._is_void(stands):
            self._begin_anew()

    def _begin_anew(self) -> None:
        self._index, self._goal, self.is_whole = self._make(), None, False


def _bring_up(index: ScopeIndex, view: IndexRows, owner: Scope, stands: Revision) -> None:
    """Add all rows of `view` that the index lacks.

    If another thread has brought it to a newer state than this view, it stays there.
    """
    done = index.revision
    if stands.changes > done.changes:
        rows = view.rows_since(owner, done.changes)
        for start in range(0, len(rows), PAGE):
            index.put(rows[start : start + PAGE])
    if stands.removals > done.removals >= 0:
        index.keep(view.live(owner))
    index.revision = Revision(
        changes=max(stands.changes, done.changes), removals=max(stands.removals, done.removals), epoch=stands.epoch
    )
