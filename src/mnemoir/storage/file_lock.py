"""Advisory locks of files and folders (flock), with a limit on the wait.

They are used instead of leases for files that other programs write too, and where a killed holder must block no other
caller: the operating system releases them when the process ends. All functions block and raise OSError; ETIMEDOUT
when another holder keeps the lock for too long.
"""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from mnemoir.storage.patience import patiently

_LOCK = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_PRIVATE_FILE = 0o600
_PATIENCE_S = 10.0


@contextmanager
def file_locked(folder: int, name: str, *, patience_s: float = _PATIENCE_S) -> Iterator[None]:
    """Hold the lock on a file, created if missing, against other processes and other callers in this process."""
    lock = patiently(lambda: lock_file(folder, name), patience_s)
    if lock is None:
        raise _kept_by_another()
    try:
        yield
    finally:
        os.close(lock)


@contextmanager
def folder_locked(folder: int) -> Iterator[None]:
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
