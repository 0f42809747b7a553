"""One at a time, by name: a lock for each name in use, gone when nobody uses it."""

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary


class Turnstile:
    """Lets callers of one name through one after the other, in the order they came."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def passing(self, name: Hashable) -> AsyncIterator[None]:
        """Hold `name` for the length of the block."""
        lock = self._locks.get(name)
        if lock is None:
            self._locks[name] = lock = asyncio.Lock()
        async with lock:
            yield
