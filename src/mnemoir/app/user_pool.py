"""What belongs to users, opened when it is asked for, shared by who uses it at once, closed when it is long idle."""

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass(slots=True)
class _Place(Generic[Value]):
    """One value: `users` are those who hold it now."""

    lock: asyncio.Lock
    value: Value | None = None
    users: int = 0


class UserPool(Generic[Key, Value]):
    """`open` and `close` block and run in threads. At most `most_idle` values stay open without a user."""

    def __init__(self, open: Callable[[Key], Value], close: Callable[[Value], None], *, most_idle: int = 32) -> None:
        self._open = open
        self._close = close
        self._most_idle = most_idle
        self._places: dict[Key, _Place[Value]] = {}  # the one used last stands last

    @asynccontextmanager
    async def holding(self, key: Key) -> AsyncIterator[Value]:
        """The value of a key, until the context ends. Raises what `open` raises."""
        place = self._places.setdefault(key, _Place(asyncio.Lock()))
        place.users += 1
        try:
            async with place.lock:
                if place.value is None:
                    place.value = await asyncio.to_thread(self._open, key)
            yield place.value
        finally:
            place.users -= 1
            if not place.users:
                self._rests(key, place)
        await self._close_idle()

    async def drop(self, key: Key) -> None:
        """Close the value of a key, unless somebody holds it."""
        place = self._places.get(key)
        if place is not None:
            await self._close_place(key, place)

    async def aclose(self) -> None:
        """Close all of them, held or not."""
        for key, place in list(self._places.items()):
            place.users = 0
            await self._close_place(key, place)

    def _rests(self, key: Key, place: _Place[Value]) -> None:
        self._places.pop(key, None)
        if place.value is not None:
            self._places[key] = place

    async def _close_idle(self) -> None:
        idle = [(key, place) for key, place in self._places.items() if not place.users]
        for key, place in idle[: max(0, len(idle) - self._most_idle)]:
            await self._close_place(key, place)

    async def _close_place(self, key: Key, place: _Place[Value]) -> None:
        """Who comes meanwhile waits at the lock, and opens it again."""
        async with place.lock:
            if place.users:
                return
            value, place.value = place.value, None
            if value is not None:
                await asyncio.to_thread(self._close, value)
        if place.value is None and not place.users:
            self._places.pop(key, None)
