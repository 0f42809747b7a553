"""Locks of files and folders that end with the process that has them (flock), with a limit on the wait.

They stand beside leases for what other programs write too, and where a killed holder must keep nobody waiting: the
system itself ends them. All functions block and raise OSError; ETIMEDOUT when another holder keeps the lock for too
long.
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
    """Hold the lock on a file, made if need be, against every process and every other caller here."""
    lock = patiently(lambda: lock_file(folder, name), patience_s)
    if lock is None:
        raise _kept_by_another()
    try:
        yield
    finally:
        os.close(lock)


@contextmanager
def folder_locked(folder: int) -> Iterator[None]:
    """Hold the lock on the folder itself, for writers who need no file of their own for it.

    `folder` must be opened for this alone, as the lock belongs to what was opened.
    """
    if not patiently(lambda: try_lock(folder) or None, _PATIENCE_S):
        raise _kept_by_another()
    try:
        yield
    finally:
        fcntl.flock(folder, fcntl.LOCK_UN)


def lock_file(folder: int, name: str) -> int | None:
    """The descriptor of a file, made if need be, that holds its lock until it is closed; None when someone has it."""
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
    """Take the lock of what is open unless someone has it; closing gives it back, and so does the process's end."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_still_there(folder: int, name: str, lock: int) -> bool:
    """A file that was removed, or replaced, locks nothing: the next caller locks another."""
    try:
        return os.path.samestat(os.stat(name, dir_fd=folder, follow_symlinks=False), os.fstat(lock))
    except FileNotFoundError:
        return False


def _kept_by_another() -> TimeoutError:
    return TimeoutError(errno.ETIMEDOUT, "another program keeps it locked")
