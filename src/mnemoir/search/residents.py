"""Indexes of recently searched users, kept in memory within a limit, each updated before use.

Of all indexes that share a budget the least recently used one is dropped first.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Protocol, TypeVar
from weakref import WeakKeyDictionary

import structlog

from mnemoir.core.errors import StorageUnavailable
from mnemoir.core.memories import Space
from mnemoir.core.scope import Scope
from mnemoir.ports.index_packs import IndexPacks
from mnemoir.ports.search_rows import SearchRows, SearchSnapshot
from mnemoir.search.index import ScopeIndex
from mnemoir.search.resident import PAGE, Resident, TooFarBehind

T = TypeVar("T")
Look = Callable[[SearchSnapshot, ScopeIndex, bool], T]  # the last argument is True when the index is complete
_Building = tuple[asyncio.Task[None], asyncio.Event]  # the event is set when some rows are ready or the task ended
_log = structlog.get_logger(__name__)
MOST_BYTES = 256 * 2**20  # about 140,000 rows with vectors of 384 dimensions


class Holder(Protocol):
    """An object that holds an index in memory that can be rebuilt."""

    def drop(self) -> bool:
        """Release the index; False while it is in use. Does not wait."""


class Budget:
    """A memory limit for holders, which it references weakly. Thread-safe. The one used last is never dropped."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._sizes: WeakKeyDictionary[Holder, int] = WeakKeyDictionary()  # bytes; ordered by last use

    def used(self, holder: Holder, nbytes: int) -> None:
        """Record a use of `holder` and its size; drop holders beyond the budget."""
        with self._lock:
            self._sizes.pop(holder, None)
            self._sizes[holder] = nbytes
            over = sum(self._sizes.values()) - self._most_bytes
            for other in list(self._sizes):
                if over <= 0 or other is holder:
                    break
                if other.drop():
                    over -= self._sizes.pop(other)


class Residents:
    """The resident indexes. Thread-safe: searches of one user are serialised, those of different users are not.

    An index that lacks many rows is built by a separate task, in many short reads of the store.
    """

    def __init__(
        self,
        model: str,
        dimension: int | None,
        *,
        spaces: Sequence[Space] = (),
        packs: IndexPacks | None = None,
        budget: Budget | None = None,
    ) -> None:
        """Without a `budget`, one of its own."""
        self._model = model
        self._dimension = dimension
        self._spaces = spaces
        self._packs = packs
        self._budget = budget or Budget()
        self._lock = threading.Lock()
        self._residents: dict[Scope, Resident] = {}
        self._building: dict[Resident, _Building] = {}
        self._keeping: dict[Resident, asyncio.Task[None]] = {}

    def speaker_names(self, scope: Scope) -> list[str]:
        """The speakers in the resident part of the scope's index; may be out of date."""
        with self._lock:
            resident = self._residents.get(scope.owner)
        return resident.speaker_names if resident else []

    def has_vectors_in(self, scope: Scope, space: str) -> bool:
        """True when the scope's index held vectors in a further space at its last use."""
        with self._lock:
            resident = self._residents.get(scope.owner)
        return resident is not None and resident.has_vectors_in(space)

    def forget(self, scope: Scope) -> None:
        """Drop the index of the scope's user, whose rows were all deleted."""
        with self._lock:
            self._residents.pop(scope.owner, None)

    async def build(self, rows: SearchRows, scope: Scope, patience_s: float | None = None) -> bool:
        """Prepare the index of the scope's user; False when it takes over `patience_s` and continues later.

        At least some rows are ready on return. Raises StorageUnavailable.
        """
        resident = self._of(scope.owner)
        if resident.is_whole:
            return True
        building = self._building.get(resident)
        if building is None:
            building = self._building[resident] = self._begin(rows, resident)
        task, has_begun = building
        await asyncio.wait([task], timeout=patience_s)
        await has_begun.wait()
        return task.done() and task.result() is None

    async def reading(self, rows: SearchRows, scope: Scope, look: Look[T], patience_s: float | None = None) -> T:
        """The result of `look` for one snapshot and the index in the state of it.

        When building the index takes longer than `patience_s`, its current state is used.
        Raises StorageUnavailable, or what `look` raises.
        """
        found = None
        while found is None:
            is_whole = await self.build(rows, scope, patience_s)
            resident = self._of(scope.owner)
            found = await rows.reading(partial(self._look, resident, look, is_whole))
        if resident.wants_packing and resident not in self._keeping:
            task = self._keeping[resident] = asyncio.create_task(self._pack(rows, resident), name="keep an index")
            task.add_done_callback(lambda _: self._keeping.pop(resident))
        return found[0]

    @contextmanager
    def index(self, view: SearchSnapshot, scope: Scope) -> Iterator[ScopeIndex]:
        """The index of the scope's user in the state of `view` or newer, locked for this context."""
        resident = self._of(scope.owner)
        with resident.up_to_date(view) as index:
            yield index
        self._budget.used(resident, resident.nbytes)

    async def aclose(self) -> None:
        """Cancel index builds and finish writing packs."""
        building = [task for task, _ in self._building.values()]
        for task in building:
            task.cancel()
        await asyncio.gather(*building, *self._keeping.values(), return_exceptions=True)

    def _look(self, resident: Resident, look: Look[T], is_whole: bool, view: SearchSnapshot) -> tuple[T] | None:
        """The result of `look`; None when the index lacks many rows of the view and must be built first."""
        if not is_whole:
            with resident.as_it_is() as index:
                return (look(view, index, False),)
        try:
            with resident.up_to_date(view, at_most=PAGE) as index:
                found = look(view, index, True)
        except TooFarBehind:
            return None
        self._budget.used(resident, resident.nbytes)
        return (found,)

    def _begin(self, rows: SearchRows, resident: Resident) -> _Building:
        has_begun = asyncio.Event()
        task = asyncio.create_task(self._build(rows, resident, has_begun), name="build an index")

        def note_end(task: asyncio.Task[None]) -> None:
            has_begun.set()
            del self._building[resident]
            if not task.cancelled():
                task.exception()  # raised by the callers that waited for it

        task.add_done_callback(note_end)
        return task, has_begun

    async def _build(self, rows: SearchRows, resident: Resident, has_begun: asyncio.Event) -> None:
        if self._packs is not None and (kept := await asyncio.to_thread(resident.read_pack)) is not None:
            await rows.reading(partial(resident.begin_with, kept))
        while await rows.reading(resident.take_page):
            has_begun.set()
        resident.is_whole = True

    async def _pack(self, rows: SearchRows, resident: Resident) -> None:
        try:
            mark = resident.mark()
            write = await rows.reading(partial(resident.pack, mark))
            await asyncio.to_thread(write)
        except StorageUnavailable as exc:
            _log.warning("index not kept", error=exc.message)

    def _of(self, owner: Scope) -> Resident:
        def forget(resident: Resident) -> None:
            with self._lock:
                if self._residents.get(owner) is resident:
                    del self._residents[owner]

        def make() -> ScopeIndex:
            return ScopeIndex(self._model, self._dimension, spaces=self._spaces)

        with self._lock:
            if owner not in self._residents:
                self._residents[owner] = Resident(owner, make, self._packs, forget)
            return self._residents[owner]
