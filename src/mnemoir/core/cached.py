"""A cache for one value that is slow to compute: kept for some seconds, computed once for concurrent callers."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Generic, TypeVar

T = TypeVar("T")


class Cached(Generic[T]):
    """Calls `find_out` when the value is requested and older than `for_s` seconds; waiting callers get its errors."""

    def __init__(self, find_out: Callable[[], Awaitable[T]], *, for_s: float) -> None:
        self._find_out = find_out
        self._for_s = for_s
        self._value: T | None = None
        self._at: float | None = None
        self._finding: asyncio.Task[T] | None = None
        self._outdated: set[asyncio.Task[T]] = set()

    async def get(self, *, patience_s: float | None = None, fresh: bool = False) -> T | None:
        """Return the value; after `patience_s` seconds an older one, or None when there is none yet.

        With `fresh` the cached value is ignored: a new call, or the one under way, provides it.
        """
        if not fresh and self._at is not None and monotonic() - self._at < self._for_s:
            return self._value
        if self._finding is None:
            self._finding = asyncio.create_task(self._find(), name="find out a status")
            self._finding.add_done_callback(self._note_result)
        done, _ = await asyncio.wait([self._finding], timeout=patience_s)
        return next(iter(done)).result() if done else self._value

    def forget(self) -> None:
        """Drop the value; a call under way still answers those who wait for it, and is not kept."""
        if self._finding is not None:
            self._outdated.add(self._finding)
        self._value = self._at = self._finding = None

    async def aclose(self) -> None:
        """Cancel the calls under way."""
        under_way = [*self._outdated, *([self._finding] if self._finding else [])]
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)

    async def _find(self) -> T:
        value = await self._find_out()
        if self._finding is asyncio.current_task():
            self._value, self._at = value, monotonic()
        return value

    def _note_result(self, task: asyncio.Task[T]) -> None:
        """Mark the finished call as retrieved, and make room for the next one."""
        self._outdated.discard(task)
        if self._finding is task:
            self._finding = None
        if not task.cancelled():
            task.exception()  # marked as retrieved: all callers may have stopped waiting
