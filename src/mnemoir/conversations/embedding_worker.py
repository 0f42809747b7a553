"""The thread that embeds: a loop of its own and a bounded queue.

One loop for all calls of one client, whoever asks: clients may hold what belongs to a loop, and a caller may have no
loop, a running one, or one that ends before the vector is there. The store is written to in this thread, too, since
at the interpreter's end no other thread can be started any more.
"""

import asyncio
import atexit
import threading
import time
import weakref
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

import structlog

T = TypeVar("T")
Work = Callable[[Sequence[int]], Awaitable[object]]

MOST_WAITING = 1000
BATCH = 32
CLOSING_S = 5.0
_log = structlog.get_logger(__name__)


class EmbeddingWorker:
    """Starts with its first use. `work` is given message ids, in the order they came, and should not raise."""

    def __init__(self, work: Work, *, most_waiting: int = MOST_WAITING) -> None:
        self._work = work
        self._most_waiting = most_waiting
        self._waiting: deque[int] = deque()
        self._changed = threading.Condition()
        self._taken = 0  # ids that ever came in
        self._done = 0  # ids that were worked on: the first so many of those
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_draining = False
        self._is_closed = False

    def put(self, message_ids: Sequence[int]) -> int | None:
        """Have them embedded; a ticket to wait for, or None, with none of them taken, when too many wait."""
        with self._changed:
            if self._is_closed or len(self._waiting) + len(message_ids) > self._most_waiting:
                return None
            self._waiting.extend(message_ids)
            self._taken += len(message_ids)
            self._started().call_soon_threadsafe(self._drain)
            return self._taken

    @property
    def newest_ticket(self) -> int:
        """To wait for all that has come in."""
        with self._changed:
            return self._taken

    def wait(self, ticket: int, timeout_s: float | None = None) -> bool:
        """Until what the ticket is for was worked on; False when the time is over, or the thread has ended before."""
        with self._changed:
            self._changed.wait_for(lambda: self._done >= ticket or self._loop is None, timeout_s)
            return self._done >= ticket

    def submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Run something else in the loop, beside the queue. RuntimeError after `close`."""
        with self._changed:
            if self._is_closed:
                work.close()
                raise RuntimeError("The search was closed; open another MemoryManager.")
            return asyncio.run_coroutine_threadsafe(work, self._started())

    def close(self, timeout_s: float = CLOSING_S) -> None:
        """Finish what waits, within the time, and end the thread. Calling it twice is harmless."""
        with self._changed:
            self._is_closed = True
            loop = self._loop
        if loop is None:
            return
        ends = time.monotonic() + timeout_s
        self.wait(self.newest_ticket, timeout_s)
        loop.call_soon_threadsafe(loop.stop)
        with self._changed:
            self._changed.wait_for(lambda: self._loop is None, max(0.1, ends - time.monotonic()))

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            thread = threading.Thread(target=self._run, args=(self._loop,), name="mnemoir-embedding", daemon=True)
            thread.start()
            _OPEN.add(self)
        return self._loop

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
            for task in asyncio.all_tasks(loop):
                task.cancel()
            loop.run_until_complete(asyncio.sleep(0))  # lets what was cancelled end
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            asyncio.set_event_loop(None)
            loop.close()
            with self._changed:
                self._loop = None
                self._changed.notify_all()

    def _drain(self) -> None:
        if not self._is_draining:
            self._is_draining = True
            self._task = asyncio.ensure_future(self._work_off())  # kept, or it might be collected

    async def _work_off(self) -> None:
        while batch := self._next():
            try:
                await self._work(batch)
            except Exception as exc:  # noqa: BLE001  # a thread that dies would leave every caller waiting
                _log.error("embedding_worker_failed", error=type(exc).__name__, messages=len(batch))
            with self._changed:
                self._done += len(batch)
                self._changed.notify_all()

    def _next(self) -> list[int]:
        """What to embed together; with nothing left the next `put` begins anew."""
        with self._changed:
            batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
            self._is_draining = bool(batch)
            return batch


_OPEN: weakref.WeakSet[EmbeddingWorker] = weakref.WeakSet()


@atexit.register
def _finish() -> None:
    """At the interpreter's end, all together for as long as one may take; the rest is left to back-filling."""
    ends = time.monotonic() + CLOSING_S
    for worker in list(_OPEN):
        worker.close(max(0.1, ends - time.monotonic()))
