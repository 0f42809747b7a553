"""Indexes of the users asked about last, kept in memory within a bound, each brought up to date before it is used."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mnemoir.core.scope import Scope
from mnemoir.ports.search_rows import Revision, SearchRows, SearchSnapshot
from mnemoir.search.budget import MOST_BYTES, Budget
from mnemoir.search.index import ScopeIndex

_ROWS_AT_ONCE = 4096


class _Resident:
    """One user's index. `lock` covers ranking and what changed since the last time, `building` the first build."""

    def __init__(self, forget: Callable[["_Resident"], None]) -> None:
        self._forget = forget
        self.lock = threading.Lock()
        self.building = asyncio.Lock()
        self.index: ScopeIndex | None = None
        self.speaker_names: list[str] = []

    def drop(self) -> bool:
        """A thread that still ranks in it keeps it until it is done."""
        self._forget(self)
        return True


class Residents:
    """Thread-safe: searches of one user take turns, those of different users do not wait for each other."""

    def __init__(self, model: str, dimension: int | None, *, most_bytes: int = MOST_BYTES) -> None:
        self._model = model
        self._dimension = dimension
        self._budget = Budget(most_bytes)
        self._lock = threading.Lock()
        self._residents: dict[Scope, _Resident] = {}

    def speaker_names(self, scope: Scope) -> list[str]:
        """Who speaks in the scope, as far as it is resident; it may be out of date."""
        with self._lock:
            resident = self._residents.get(scope.owner)
        return resident.speaker_names if resident else []

    async def build(self, rows: SearchRows, scope: Scope) -> None:
        """Make the index of the scope's user, where none is there, before anything ranks in it.

        It is read in pages, each in a snapshot of its own, so that none is held for long. Changes during the
        build are added by `index`.
        """
        resident = self._of(scope.owner)
        if resident.index is None:
            async with resident.building:
                if resident.index is None:
                    index = await self._built(rows, scope.owner)
                    resident.speaker_names = index.speaker_names()
                    resident.index = index

    @contextmanager
    def index(self, view: SearchSnapshot, scope: Scope) -> Iterator[ScopeIndex]:
        """The index of the scope's user as `view` shows it, or newer; nobody else has it meanwhile."""
        owner = scope.owner
        resident = self._of(owner)
        with resident.lock:
            index = resident.index = _brought_up(resident.index, view, owner, self._model, self._dimension)
            resident.speaker_names = index.speaker_names()
            yield index
        self._budget.used(resident, index.nbytes)

    async def _built(self, rows: SearchRows, owner: Scope) -> ScopeIndex:
        index = ScopeIndex(self._model, self._dimension)

        def take_page(view: SearchSnapshot) -> tuple[Revision, bool]:
            stands = view.revision(owner)
            page = view.rows_after(owner, index.greatest_seq, _ROWS_AT_ONCE)
            for start in range(0, len(page), _ROWS_AT_ONCE):
                index.put(page[start : start + _ROWS_AT_ONCE])
            return stands, len(page) == _ROWS_AT_ONCE

        first, has_more = await rows.reading(take_page)
        while has_more:
            _, has_more = await rows.reading(take_page)
        index.revision = first
        return index

    def _of(self, owner: Scope) -> _Resident:
        def forget(resident: _Resident) -> None:
            with self._lock:
                if self._residents.get(owner) is resident:
                    del self._residents[owner]

        with self._lock:
            return self._residents.setdefault(owner, _Resident(forget))


def _brought_up(
    index: ScopeIndex | None, view: SearchSnapshot, owner: Scope, model: str, dimension: int | None
) -> ScopeIndex:
    """`index`, or a new one, with all that `view` has and it has not.

    Another thread may have brought it further than this view goes: then it stays there.
    """
    stands = view.revision(owner)
    if index is None or index.is_worn or index.revision.epoch != stands.epoch:
        index = ScopeIndex(model, dimension)
    done = index.revision
    if stands.changes > done.changes:
        rows = view.rows_since(owner, done.changes)
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            index.put(rows[start : start + _ROWS_AT_ONCE])
    if stands.removals > done.removals >= 0:
        index.keep(view.live(owner))
    index.revision = Revision(
        changes=max(stands.changes, done.changes), removals=max(stands.removals, done.removals), epoch=stands.epoch
    )
    return index
