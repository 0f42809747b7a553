"""Blocking work in a thread that is waited for to its end, also by a task that is cancelled meanwhile.

`asyncio.to_thread` leaves the thread alone when its caller goes: what it works with could then be closed, or given to
somebody else, under its hands.
"""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What `work` gives. A caller that is cancelled stays cancelled, when the work is done."""
    running = asyncio.ensure_future(asyncio.to_thread(work, *args, **kwargs))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        if not running.cancelled():
            running.exception()  # looked at: nobody is left to be told
        raise
