"""Latencies of memory operations, measured where chats wait for them.

Times of one day are counted by minute in fixed memory, and kept in this process only. A time falls into one of 81
classes, each a fifth wider than the one below, so a quantile is off by a tenth at most. Recording one costs less than
a microsecond and no allocation, since it happens within chats.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from mnemoir.core.scope import Scope
from mnemoir.ports.memory_service import ChatTurn, MemoryService, RecallLimits, RecallResult, Remembered

MINUTES = 24 * 60
_PER_DOUBLING = 4
_SHORTEST_MS = 0.1
_BOUNDS_MS = [_SHORTEST_MS * 2 ** (step / _PER_DOUBLING) for step in range(20 * _PER_DOUBLING)]  # to 88 seconds
_NEVER = -MINUTES

Counts = NDArray[np.uint32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Half of `count` times were no longer than `p50_ms`, all but a twentieth no longer than `p95_ms`.

    None for no times.
    """

    count: int
    p50_ms: float | None
    p95_ms: float | None


class Latencies:
    """The times of one kind of work. `clock` gives seconds and is never set back."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        # pages that were never written to take no memory
        self._counts: Counts = np.zeros((MINUTES, len(_BOUNDS_MS) + 1), np.uint32)
        self._minute_of = [_NEVER] * MINUTES  # which minute a row counts

    @contextmanager
    def record_duration(self) -> Iterator[None]:
        """Record the duration of the context, unless it raises."""
        began = self._clock()
        yield
        self.note(self._clock() - began)

    def note(self, took_s: float) -> None:
        """Record one duration, in the minute in which it ended."""
        minute = int(self._clock() // 60)
        row = minute % MINUTES
        if self._minute_of[row] != minute:
            self._minute_of[row] = minute
            self._counts[row] = 0
        self._counts[row, bisect_left(_BOUNDS_MS, took_s * 1e3)] += 1

    def last(self, minutes: int) -> Spread:
        """The durations of the last `minutes` minutes, including the current one."""
        return _spread(self._rows_by_minute(minutes).sum(axis=0))

    def steps(self, minutes: int, step: int) -> list[Spread]:
        """The same in steps of `step` minutes, oldest first. `step` divides `minutes`."""
        taken = self._rows_by_minute(minutes).reshape(minutes // step, step, -1).sum(axis=1)
        return [_spread(counts) for counts in taken]

    def _rows_by_minute(self, minutes: int) -> Counts:
        """A row for each of the last minutes, the oldest first."""
        now = int(self._clock() // 60)
        taken = np.zeros((minutes, self._counts.shape[1]), np.uint32)
        for place, minute in enumerate(range(now - minutes + 1, now + 1)):
            row = minute % MINUTES
            if self._minute_of[row] == minute:
                taken[place] = self._counts[row]
        return taken


def _spread(counts: NDArray[np.integer]) -> Spread:
    total = int(counts.sum())
    if not total:
        return Spread(count=0, p50_ms=None, p95_ms=None)
    reached = np.cumsum(counts)
    half, most = (_middle_ms(int(np.searchsorted(reached, share * total))) for share in (0.5, 0.95))
    return Spread(count=total, p50_ms=half, p95_ms=most)


def _middle_ms(place: int) -> float:
    """The middle of a class, on the scale that the classes are equally wide on."""
    upper = _BOUNDS_MS[min(place, len(_BOUNDS_MS) - 1)]
    return round(float(upper * 2 ** (-0.5 / _PER_DOUBLING)), 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryTimes:
    """`recall`: durations of searches that chats waited for; `write`: durations until an add was stored."""

    recall: Latencies = field(default_factory=Latencies)
    write: Latencies = field(default_factory=Latencies)


class TimedMemory:
    """A memory service that records the duration of each search; with `writes` also of each add."""

    def __init__(self, service: MemoryService, times: MemoryTimes, *, writes: bool) -> None:
        self._service = service
        self._times = times
        self._writes = writes

    async def search(
        self, scope: Scope, query: str, *, limits: RecallLimits, credential: str | None, before: Sequence[str] = ()
    ) -> RecallResult:
        """See the port. Failed searches are recorded as well."""
        began = monotonic()
        try:
            return await self._service.search(scope, query, limits=limits, credential=credential, before=before)
        finally:
            self._times.recall.note(monotonic() - began)

    async def remember(self, scope: Scope, turn: ChatTurn, *, key: str) -> Remembered:
        """See the port."""
        if not self._writes:  # the route that stores them records it
            return await self._service.remember(scope, turn, key=key)
        with self._times.write.record_duration():
            return await self._service.remember(scope, turn, key=key)


_: type[MemoryService] = TimedMemory  # checked, never run
