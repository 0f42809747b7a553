"""What belongs to users, opened when it is asked for, shared by who uses it at once, closed when it is long idle.

Closing takes as long as what is under way in a value; nobody who uses another one waits for it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import structlog

from mnemoir.app.in_thread import in_thread
from mnemoir.core.errors import Conflict

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

_log = structlog.get_logger(__name__)


@dataclass(slots=True, eq=False)
class _Place(Generic[Value]):
    """One value. Of its `users` some are its `holders`, the others wait at the lock until it is open or closed."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    value: Value | None = None
    users: int = 0
    holders: int = 0
    left: asyncio.Event = field(default_factory=asyncio.Event)  # the last holder has gone


class UserPool(Generic[Key, Value]):
    """`open` and `close` block and run in threads. At most `most_idle` values stay open without a user."""

    def __init__(self, open: Callable[[Key], Value], close: Callable[[Value], None], *, most_idle: int = 32) -> None:
        self._open = open
        self._close = close
        self._most_idle = most_idle
        self._places: dict[Key, _Place[Value]] = {}  # the one used last stands last
        self._closing: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def holding(self, key: Key) -> AsyncIterator[Value]:
        """The value of a key, until the context ends. Raises what `open` raises."""
        async with self._using(key) as place:
            async with place.lock:
                value = await in_thread(self._opened, key, place) if place.value is None else place.value
                place.holders += 1
            try:
                yield value
            finally:
                place.holders -= 1
                if not place.holders:
                    place.left.set()

    @asynccontextmanager
    async def alone(self, key: Key, *, patience_s: float) -> AsyncIterator[None]:
        """While nobody has the value of a key: it is closed, and who asks for it waits until the context ends.

        Who holds it may finish first, and ask for it once more for that. Raises Conflict when that takes longer.
        """
        async with self._using(key) as place:
            await self._acquire_unheld(place, patience_s)
            try:
                await self._end(place)
                yield
            finally:
                place.lock.release()

    @asynccontextmanager
    async def untouched(self, key: Key) -> AsyncIterator[None]:
        """While nobody has the value of a key `alone`. Nothing is opened for it."""
        async with self._using(key) as place:
            async with place.lock:
                place.holders += 1
            try:
                yield
            finally:
                place.holders -= 1
                if not place.holders:
                    place.left.set()

    def is_used(self, key: Key) -> bool:
        """Whether the value of a key is open, or somebody waits for it."""
        return key in self._places

    async def aclose(self) -> None:
        """Close all of them, held or not. One that is asked for afterwards is opened anew."""
        if self._closing:
            await asyncio.wait(self._closing)
        for place in list(self._places.values()):
            async with place.lock:
                await self._end(place)
        self._places.clear()

    @asynccontextmanager
    async def _using(self, key: Key) -> AsyncIterator[_Place[Value]]:
        place = self._places.setdefault(key, _Place())
        place.users += 1
        try:
            yield place
        finally:
            place.users -= 1
            if not place.users:
                self._rests(key, place)

    def _opened(self, key: Key, place: _Place[Value]) -> Value:
        """Put into its place by the thread itself, for whoever asked may be gone when it is open."""
        place.value = value = self._open(key)
        return value

    async def _acquire_unheld(self, place: _Place[Value], patience_s: float) -> None:
        try:
            async with asyncio.timeout(patience_s):
                while True:
                    await place.lock.acquire()
                    if not place.holders:
                        return
                    place.lock.release()
                    place.left.clear()
                    await place.left.wait()
        except TimeoutError as exc:
            raise Conflict("It is in use at this moment. Try again later.") from exc

    def _rests(self, key: Key, place: _Place[Value]) -> None:
        if self._places.get(key) is place:
            del self._places[key]
        if place.value is None:
            return
        self._places[key] = place
        idle = [(key, place) for key, place in self._places.items() if not place.users and place.value is not None]
        for key, place in idle[: max(0, len(idle) - self._most_idle)]:
            task = asyncio.create_task(self._close_unused(key, place), name="close what is idle")
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def _close_unused(self, key: Key, place: _Place[Value]) -> None:
        """Who comes meanwhile waits at the lock, and opens it again."""
        async with place.lock:
            if not place.users:
                await self._end(place)
        if not place.users and self._places.get(key) is place:
            del self._places[key]

    async def _end(self, place: _Place[Value]) -> None:
        value, place.value = place.value, None
        if value is None:
            return
        try:
            await in_thread(self._close, value)
        except Exception as exc:  # noqa: BLE001  # what cannot be closed is nobody's request any more
            _log.warning("not closed as it should be", error=type(exc).__name__)
