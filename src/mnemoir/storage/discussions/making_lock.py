"""The right to make memories of a discussion: a lock on `<name>.lock`, released when its process ends."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mnemoir.core.discussion_id import directory_name
from mnemoir.core.discussions import Discussion
from mnemoir.storage.discussions.placed_file import placed
from mnemoir.storage.discussions.places import Place, lock_name
from mnemoir.storage.file_lock import lock_file, pauses
from mnemoir.storage.files.workspace import existing


@asynccontextmanager
async def making_lock(discussion: Discussion, patience_s: float) -> AsyncIterator[bool]:
    """Hold the lock if it is free within `patience_s` seconds; yields True if held. Raises StorageUnavailable."""
    lock = await _patiently(discussion, patience_s)
    try:
        yield lock is not None
    finally:
        if lock is not None:
            os.close(lock)


async def _patiently(discussion: Discussion, patience_s: float) -> int | None:
    for pause in pauses(patience_s):
        if (lock := await _tried(discussion)) is not None:
            return lock
        await asyncio.sleep(pause)
    return await _tried(discussion)


async def _tried(discussion: Discussion) -> int | None:
    attempt = asyncio.ensure_future(asyncio.to_thread(_try, discussion))
    try:
        return await asyncio.shield(attempt)
    except asyncio.CancelledError:
        attempt.add_done_callback(_give_back)  # the thread continues, and may still acquire it
        raise


def _give_back(attempt: asyncio.Future[int | None]) -> None:
    if not attempt.cancelled() and attempt.exception() is None and (lock := attempt.result()) is not None:
        os.close(lock)


def _try(discussion: Discussion) -> int | None:
    file = placed(discussion.root, Place(file=lock_name(directory_name(discussion.id))))
    with file.opened("locked", create=True) as folder:
        return lock_file(existing(folder), file.file)
