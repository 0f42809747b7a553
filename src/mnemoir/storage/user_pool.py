"""A pool of values of users, opened on request, shared by concurrent holders and closed when long idle; work in
threads.

Closing a value waits for the work under way in it; holders of other values do not wait for that.

`asyncio.to_thread` does not wait for the thread when its caller is cancelled: resources that the thread still uses
could then be closed or handed to another caller. `in_thread` waits.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Generic, ParamSpec, TypeVar

import structlog

from mnemoir.core.errors import Conflict

_log = structlog.get_logger(__name__)
P = ParamSpec("P")
T = TypeVar("T")
Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return the result of `work`. A cancelled caller gets its CancelledError after the work has ended."""
    running = asyncio.ensure_future(asyncio.to_thread(work, *args, **kwargs))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        if not running.cancelled():
            running.exception()  # marked as retrieved: the caller was cancelled
        raise


async def in_own_loop(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that blocks now and then: it runs in a thread, in a loop of its own.

    Cancelling the caller cancels the coroutine; the caller gets its CancelledError after the coroutine has ended.
    """
    begun: Future[Callable[[], object]] = Future()  # cancels the coroutine

    async def run_cancellable() -> T:
        task, loop = asyncio.ensure_future(work), asyncio.get_running_loop()
        begun.set_result(lambda: loop.call_soon_threadsafe(task.cancel))
        return await task

    running = asyncio.ensure_future(asyncio.to_thread(asyncio.run, run_cancellable()))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        cancel = await asyncio.wrap_future(begun)
        with suppress(RuntimeError):  # it has just ended, and its loop with it
            cancel()
        await asyncio.wait([running])
        if not running.cancelled():
            running.exception()  # marked as retrieved: the caller was cancelled
        raise


@dataclass(slots=True, eq=False)
class _Place(Generic[Value]):
    """One value. Some of its `users` are `holders`; the others wait at the lock until it is open or closed."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    value: Value | None = None
    users: int = 0
    holders: int = 0
    left: asyncio.Event = field(default_factory=asyncio.Event)  # set when the last holder has left


class UserPool(Generic[Key, Value]):
    """`open` and `close` block and run in threads. At most `most_idle` values stay open without a user."""

    def __init__(self, open: Callable[[Key], Value], close: Callable[[Value], None], *, most_idle: int = 32) -> None:
        self._open = open
        self._close = close
        self._most_idle = most_idle
        self._places: dict[Key, _Place[Value]] = {}  # ordered by last use, the most recent last
        self._closing: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def holding(self, key: Key) -> AsyncIterator[Value]:
        """The open value of a key, held until the context ends. Raises what `open` raises."""
        async with self._using(key) as place:
            async with place.lock:
                value = await in_thread(self._open_value, key, place) if place.value is None else place.value
                place.holders += 1
            try:
                yield value
            finally:
                place.holders -= 1
                if not place.holders:
                    place.left.set()

    @asynccontextmanager
    async def alone(self, key: Key, *, patience_s: float) -> AsyncIterator[None]:
        """A context in which the value of a key has no holder: it is closed, and new callers wait.

        Its holders may finish first, holding it once more if they need to. Raises Conflict after `patience_s`.
        """
        async with self._using(key) as place:
            await self._acquire_unheld(place, patience_s)
            try:
                await self._end(place)
                yield
            finally:
                place.lock.release()

    @asynccontextmanager
    async def shared_lock(self, key: Key) -> AsyncIterator[None]:
        """A context that shuts out `alone` for the key. It opens no value."""
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
        """True when the value of a key is open or a caller waits for it."""
        return key in self._places

    async def aclose(self) -> None:
        """Close all values, held or not. A value requested afterwards is opened again."""
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

    def _open_value(self, key: Key, place: _Place[Value]) -> Value:
        """Open a value and store it in the worker thread: the caller may be cancelled before opening finishes."""
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
        """Close a value without users; a caller that arrives meanwhile waits at the lock and opens it again."""
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
        except Exception as exc:  # noqa: BLE001  # no request is left to report the error to
            _log.warning("not closed as it should be", error=type(exc).__name__)
