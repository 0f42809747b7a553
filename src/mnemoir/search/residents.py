"""Indexes of the users asked about last, kept in memory within a bound, each brought up to date before it is used."""

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from mnemoir.core.scope import Scope
from mnemoir.ports.search_rows import Revision, SearchSnapshot
from mnemoir.search.index import ScopeIndex

MOST_BYTES = 256 * 2**20  # about 140,000 memories with vectors of 384 dimensions
_ROWS_AT_ONCE = 4096


class _Place:
    """Where one user's index lives. The lock covers building and ranking: both take milliseconds."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.index: ScopeIndex | None = None
        self.speaker_names: list[str] = []
        self.nbytes = 0


class Residents:
    """Thread-safe: searches of one user take turns, those of different users do not wait for each other."""

    def __init__(self, model: str, dimension: int | None, *, most_bytes: int = MOST_BYTES) -> None:
        self._model = model
        self._dimension = dimension
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._places: OrderedDict[Scope, _Place] = OrderedDict()

    def speaker_names(self, scope: Scope) -> list[str]:
        """Who speaks in the scope, as far as it is resident; it may be out of date."""
        with self._lock:
            place = self._places.get(scope.owner)
        return place.speaker_names if place else []

    @contextmanager
    def index(self, view: SearchSnapshot, scope: Scope) -> Iterator[ScopeIndex]:
        """The index of the scope's user as `view` shows it, or newer; nobody else has it meanwhile."""
        owner = scope.owner
        place = self._place(owner)
        with place.lock:
            place.index = _brought_up(place.index, view, owner, self._model, self._dimension)
            place.nbytes = place.index.nbytes
            place.speaker_names = place.index.speaker_names()
            yield place.index
        self._evict()

    def _place(self, owner: Scope) -> _Place:
        with self._lock:
            place = self._places.setdefault(owner, _Place())
            self._places.move_to_end(owner)
            return place

    def _evict(self) -> None:
        """Forget those that were not used for longest; a thread that still ranks in one keeps it until it is done."""
        with self._lock:
            held = sum(place.nbytes for place in self._places.values())
            while held > self._most_bytes and len(self._places) > 1:
                _, place = self._places.popitem(last=False)
                held -= place.nbytes


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
