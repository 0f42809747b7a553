"""Writes that are completed even when their caller is cancelled.

A cancelled write continues in its thread. If the lock for making memories were released meanwhile, the write could
restore data that is forgotten or deleted in the next moment.
"""

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


async def to_its_end(writing: Awaitable[T]) -> T:
    """Await a write and return its result. When cancelled, even repeatedly, it ends only after the write."""
    task = asyncio.ensure_future(writing)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([task])
        raise
