"""The embedding thread of scripts, which have no job queue: an event loop in which passes over stored messages run.

Rows mark the messages that need a vector; none wait in memory. All calls of one client share one loop: clients may
hold objects bound to a loop, and a caller may have no loop, a running one, or one that ends before the vector is
made. The store is written in this thread, too, since no thread can be started at interpreter exit.
"""

import asyncio
import atexit
import threading
import time
import weakref
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

import structlog

T = TypeVar("T")
Work = Callable[[], Awaitable[object]]

CLOSING_S = 5.0
_log = structlog.get_logger(__name__)


class EmbeddingPass:
    """Work over stored rows: one run at a time, and one more if it was requested meanwhile.

    `work` should not raise; what it raises is logged.
    """

    def __init__(self, work: Work) -> None:
        self.work = work
        self.asked = 0
        self.done = 0  # the number of requests that the last completed run covers
        self.task: asyncio.Task[None] | None = None  # referenced, or it could be garbage-collected


class EmbeddingWorker:
    """Thread-safe; its thread starts with its first use.

    The pass `saved` embeds messages just saved, `backlog` all messages without a vector.
    """

    def __init__(self, saved: Work, backlog: Work) -> None:
        self.saved = EmbeddingPass(saved)
        self.backlog = EmbeddingPass(backlog)
        self._changed = threading.Condition()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_closed = False

    def ask(self, wanted: EmbeddingPass) -> None:
        """Request a run that begins after this call. Never raises; does nothing after `close`."""
        with self._changed:
            if not self._is_closed:
                wanted.asked += 1
                self._running_loop().call_soon_threadsafe(self._begin, wanted)

    def wait(self, wanted: EmbeddingPass, timeout_s: float | None = None) -> bool:
        """Wait until all runs requested so far have ended; False on timeout or when the thread ends first."""
        with self._changed:
            ticket = wanted.asked
            self._changed.wait_for(lambda: wanted.done >= ticket or self._loop is None, timeout_s)
            return wanted.done >= ticket

    def submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Run another coroutine in the loop, beside the passes. RuntimeError after `close`."""
        with self._changed:
            if self._is_closed:
                work.close()
                raise RuntimeError("The search was closed; open another MemoryManager.")
            return asyncio.run_coroutine_threadsafe(work, self._running_loop())

    def close(self, timeout_s: float = CLOSING_S) -> None:
        """Embed saved messages within `timeout_s` and end the thread. May be called twice."""
        with self._changed:
            self._is_closed = True
            loop = self._loop
        if loop is None:
            return
        ends = time.monotonic() + timeout_s
        self.wait(self.saved, timeout_s)
        loop.call_soon_threadsafe(loop.stop)
        with self._changed:
            self._changed.wait_for(lambda: self._loop is None, max(0.1, ends - time.monotonic()))

    def _running_loop(self) -> asyncio.AbstractEventLoop:
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
            loop.run_until_complete(asyncio.sleep(0))  # lets cancelled tasks end
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            asyncio.set_event_loop(None)
            loop.close()
            with self._changed:
                self._loop = None
                self._changed.notify_all()

    def _begin(self, wanted: EmbeddingPass) -> None:
        if wanted.task is None or wanted.task.done():
            wanted.task = asyncio.ensure_future(self._repeat(wanted))

    async def _repeat(self, wanted: EmbeddingPass) -> None:
        while (asked := wanted.asked) > wanted.done:
            try:
                await wanted.work()
            except Exception as exc:  # noqa: BLE001  # a dead thread would leave all callers waiting
                _log.error("embedding_pass_failed", error=type(exc).__name__)
            with self._changed:
                wanted.done = asked
                self._changed.notify_all()


def runs_a_loop() -> bool:
    """True in a thread whose event loop is running, which a wait would block."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


_OPEN: weakref.WeakSet[EmbeddingWorker] = weakref.WeakSet()


@atexit.register
def _finish() -> None:
    """Close all workers at interpreter exit, together within the time of one; back-filling does the rest."""
    ends = time.monotonic() + CLOSING_S
    for worker in list(_OPEN):
        worker.close(max(0.1, ends - time.monotonic()))
