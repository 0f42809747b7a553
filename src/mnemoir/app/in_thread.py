"""Runs blocking work in a thread and waits until it has ended, even when the waiting task is cancelled.

`asyncio.to_thread` does not wait for the thread when its caller is cancelled: resources that the thread still uses
could then be closed or handed to another caller.
"""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

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
