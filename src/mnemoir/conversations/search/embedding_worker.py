"""The thread that embeds: a loop of its own, in which passes over the stored messages run.

Rows say which messages need a vector; no message waits in memory. All calls of one client share one loop: clients may
hold what belongs to a loop, and a caller may have no loop, a running one, or one that ends before the vector is made.
The store is written to in this thread, too, since at the interpreter's end no other thread can be started any more.
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
    """Work over stored rows: one run at a time, and one more when it was asked for meanwhile.

    `work` should not raise; what it raises is logged.
    """

    def __init__(self, work: Work) -> None:
        self.work = work
        self.asked = 0
        self.done = 0  # the last run that ended had seen so many requests
        self.task: asyncio.Task[None] | None = None  # kept, or it might be collected


class EmbeddingWorker:
    """Thread-safe; its thread starts with its first use.

    The pass `saved` embeds what was just saved, `backlog` everything that has no vector.
    """

    def __init__(self, saved: Work, backlog: Work) -> None:
        self.saved = EmbeddingPass(saved)
        self.backlog = EmbeddingPass(backlog)
        self._changed = threading.Condition()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_closed = False

    def ask(self, wanted: EmbeddingPass) -> None:
        """Have a run begin after this call. Never raises; nothing after `close`."""
        with self._changed:
            if not self._is_closed:
                wanted.asked += 1
                self._started().call_soon_threadsafe(self._begin, wanted)

    def wait(self, wanted: EmbeddingPass, timeout_s: float | None = None) -> bool:
        """Until all that was asked for so far has run; False when the time is over or the thread ends first."""
        with self._changed:
            ticket = wanted.asked
            self._changed.wait_for(lambda: wanted.done >= ticket or self._loop is None, timeout_s)
            return wanted.done >= ticket

    def submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Run something else in the loop, beside the passes. RuntimeError after `close`."""
        with self._changed:
            if self._is_closed:
                work.close()
                raise RuntimeError("The search was closed; open another MemoryManager.")
            return asyncio.run_coroutine_threadsafe(work, self._started())

    def close(self, timeout_s: float = CLOSING_S) -> None:
        """Embed what was saved, within the time, and end the thread. Calling it twice is harmless."""
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

    def _begin(self, wanted: EmbeddingPass) -> None:
        if wanted.task is None or wanted.task.done():
            wanted.task = asyncio.ensure_future(self._repeat(wanted))

    async def _repeat(self, wanted: EmbeddingPass) -> None:
        while (asked := wanted.asked) > wanted.done:
            try:
                await wanted.work()
            except Exception as exc:  # noqa: BLE001  # a thread that dies would leave every caller waiting
                _log.error("embedding_pass_failed", error=type(exc).__name__)
            with self._changed:
                wanted.done = asked
                self._changed.notify_all()


_OPEN: weakref.WeakSet[EmbeddingWorker] = weakref.WeakSet()


@atexit.register
def _finish() -> None:
    """At the interpreter's end, all together for as long as one may take; the rest is left to back-filling."""
    ends = time.monotonic() + CLOSING_S
    for worker in list(_OPEN):
        worker.close(max(0.1, ends - time.monotonic()))
