"""Advisory locks of files and folders (flock), with a limit on the wait, and the pauses between tries.

They are used instead of leases for files that other programs write too, and where a killed holder must block no other
caller: the operating system releases them when the process ends. All functions block and raise OSError; ETIMEDOUT
when another holder keeps the lock for too long.
"""

import errno
import fcntl
import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
_LOCK = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_PRIVATE_FILE = 0o600
_PATIENCE_S = 10.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.001, 0.02


def pauses(wait_s: float) -> Iterator[float]:
    """Pauses between tries in seconds, until `wait_s` seconds are over; none when that is 0."""
    deadline, pause = time.monotonic() + wait_s, _FIRST_PAUSE_S
    while (left := deadline - time.monotonic()) > 0:
        yield min(left, pause * random.uniform(0.5, 1.5))  # random, so that waiting callers do not all retry at once
        pause = min(pause * 1.5, _LONGEST_PAUSE_S)


def patiently(attempt: Callable[[], T | None], wait_s: float) -> T | None:
    """The first result of `attempt` that is not None; None after `wait_s` seconds. It is tried at least once."""
    for pause in pauses(wait_s):
        if (outcome := attempt()) is not None:
            return outcome
        time.sleep(pause)
    return attempt()


@contextmanager
def hold_file_lock(folder: int, name: str, *, patience_s: float = _PATIENCE_S) -> Iterator[None]:
    """Hold the lock on a file, created if missing, against other processes and other callers in this process."""
    lock = patiently(lambda: lock_file(folder, name), patience_s)
    if lock is None:
        raise _kept_by_another()
    try:
        yield
    finally:
        os.close(lock)


@contextmanager
def hold_folder_lock(folder: int) -> Iterator[None]:
    """Hold the lock on the folder itself, for writers that need no separate lock file.

    `folder` must be a descriptor opened for this lock alone, as the lock belongs to the open descriptor.
    """
    if not patiently(lambda: try_lock(folder) or None, _PATIENCE_S):
        raise _kept_by_another()
    try:
        yield
    finally:
        fcntl.flock(folder, fcntl.LOCK_UN)


def lock_file(folder: int, name: str) -> int | None:
    """Lock a file, created if missing. The descriptor, which holds the lock until closed; None when it is locked."""
    while True:
        lock = os.open(name, _LOCK, _PRIVATE_FILE, dir_fd=folder)
        try:
            is_locked = try_lock(lock)
            is_there = _is_still_there(folder, name, lock)
        except BaseException:
            os.close(lock)
            raise
        if is_locked and is_there:
            return lock
        os.close(lock)
        if not is_locked:
            return None


def try_lock(file: int) -> bool:
    """Lock an open file; False when another holder has the lock. Closing it or ending the process releases it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_still_there(folder: int, name: str, lock: int) -> bool:
    """False for a lock file that was removed or replaced: it excludes nobody, as the next caller locks another."""
    try:
        return os.path.samestat(os.stat(name, dir_fd=folder, follow_symlinks=False), os.fstat(lock))
    except FileNotFoundError:
        return False


def _kept_by_another() -> TimeoutError:
    return TimeoutError(errno.ETIMEDOUT, "another program keeps it locked")
