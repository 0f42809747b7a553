"""Writes that come to their end though who asked for them is gone.

A cancelled write goes on in its thread. Were the right to make memories given back meanwhile, it might bring back
what somebody forgets or deletes in the next moment.
"""

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


async def to_its_end(writing: Awaitable[T]) -> T:
    """What it gives. Cancelled, however often, this ends only when the writing has ended, well or not."""
    task = asyncio.ensure_future(writing)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([task])
        raise
