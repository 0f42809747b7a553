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

    async def get(self, *, patience_s: float | None = None, fresh: bool = False) -> T | None:
        """Return the value; after `patience_s` seconds an older one, or None when there is none yet.

        With `fresh` the cached value is ignored: a new call, or the one under way, provides it.
        """
        if not fresh and self._at is not None and monotonic() - self._at < self._for_s:
            return self._value
        if self._finding is None:
            self._finding = asyncio.create_task(self._find(), name="find out a status")
            self._finding.add_done_callback(self._found)
        done, _ = await asyncio.wait([self._finding], timeout=patience_s)
        return next(iter(done)).result() if done else self._value

    async def aclose(self) -> None:
        """Cancel the call under way."""
        if self._finding is not None:
            self._finding.cancel()
            await asyncio.gather(self._finding, return_exceptions=True)

    async def _find(self) -> T:
        value = await self._find_out()
        self._value, self._at = value, monotonic()
        return value

    def _found(self, task: asyncio.Task[T]) -> None:
        self._finding = None
        if not task.cancelled():
            task.exception()  # marked as retrieved: all callers may have stopped waiting
