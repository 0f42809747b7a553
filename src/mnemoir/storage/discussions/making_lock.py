"""The right to make memories of a discussion: a lock on `<name>.lock`, which ends with the process that has it."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mnemoir.core.discussion_id import directory_name
from mnemoir.core.discussions import Discussion
from mnemoir.storage.discussions.placed_file import PlacedFile
from mnemoir.storage.discussions.places import Place, lock_file
from mnemoir.storage.file_lock import try_lock
from mnemoir.storage.files.workspace import existing

_OPEN = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_PRIVATE_FILE = 0o600
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.002, 0.05


@asynccontextmanager
async def making_lock(discussion: Discussion, patience_s: float) -> AsyncIterator[bool]:
    """Hold the lock, if it can be had within `patience_s`; whether it is held. Raises StorageUnavailable."""
    lock = await _patiently(discussion, time.monotonic() + patience_s)
    try:
        yield lock is not None
    finally:
        if lock is not None:
            os.close(lock)


async def _patiently(discussion: Discussion, deadline: float) -> int | None:
    pause = _FIRST_PAUSE_S
    while (lock := await _tried(discussion)) is None and time.monotonic() < deadline:
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, _LONGEST_PAUSE_S)
    return lock


async def _tried(discussion: Discussion) -> int | None:
    attempt = asyncio.ensure_future(asyncio.to_thread(_try, discussion))
    try:
        return await asyncio.shield(attempt)
    except asyncio.CancelledError:
        attempt.add_done_callback(_give_back)  # the thread goes on, and may still get it
        raise


def _give_back(attempt: asyncio.Future[int | None]) -> None:
    if not attempt.cancelled() and attempt.exception() is None and (lock := attempt.result()) is not None:
        os.close(lock)


def _try(discussion: Discussion) -> int | None:
    file = PlacedFile(root=discussion.root, place=Place(file=lock_file(directory_name(discussion.id))))
    with file.opened("locked", create=True) as opened:
        folder = existing(opened)
        while True:
            lock = os.open(file.place.file, _OPEN, _PRIVATE_FILE, dir_fd=folder)
            try:
                is_locked = try_lock(lock)
            except OSError:
                os.close(lock)
                raise
            if is_locked and _is_still_there(folder, file.place.file, lock):
                return lock
            os.close(lock)
            if not is_locked:
                return None


def _is_still_there(folder: int, name: str, lock: int) -> bool:
    """Whoever removes a discussion takes the file away, and the next one locks another."""
    try:
        return os.path.samestat(os.stat(name, dir_fd=folder, follow_symlinks=False), os.fstat(lock))
    except FileNotFoundError:
        return False
