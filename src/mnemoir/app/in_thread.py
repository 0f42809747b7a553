"""Runs blocking work in a thread and waits until it has ended, even when the waiting task is cancelled.

`asyncio.to_thread` does not wait for the thread when its caller is cancelled: resources that the thread still uses
could then be closed or handed to another caller.
"""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


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

    async def run() -> T:
        task, loop = asyncio.ensure_future(work), asyncio.get_running_loop()
        begun.set_result(lambda: loop.call_soon_threadsafe(task.cancel))
        return await task

    running = asyncio.ensure_future(asyncio.to_thread(asyncio.run, run()))
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
