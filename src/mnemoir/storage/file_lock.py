"""Locks of files and folders that end with the process that has them (flock), with a limit on the wait.

All functions block and raise OSError; ETIMEDOUT when someone else keeps the lock for too long.
"""

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

_LOCK = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_PRIVATE_FILE = 0o600
_PATIENCE_S = 10.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.001, 0.02


@contextmanager
def file_locked(folder: int, name: str, *, patience_s: float = _PATIENCE_S) -> Iterator[None]:
    """Hold the lock on a file, made if need be, against every process and every other caller here."""
    lock = os.open(name, _LOCK, _PRIVATE_FILE, dir_fd=folder)
    try:
        _wait_for(lock, patience_s)
        yield
    finally:
        os.close(lock)


@contextmanager
def folder_locked(folder: int) -> Iterator[None]:
    """Hold the lock on the folder itself, for writers who need no file of their own for it.

    `folder` must be opened for this alone, as the lock belongs to what was opened.
    """
    _wait_for(folder, _PATIENCE_S)
    try:
        yield
    finally:
        fcntl.flock(folder, fcntl.LOCK_UN)


def try_lock(file: int) -> bool:
    """Take the lock of what is open unless someone has it; closing gives it back, and so does the process's end."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait_for(lock: int, patience_s: float) -> None:
    # asked again and again, because a blocking flock knows no time limit
    deadline, pause = time.monotonic() + patience_s, _FIRST_PAUSE_S
    while not try_lock(lock):
        if time.monotonic() > deadline:
            raise TimeoutError(errno.ETIMEDOUT, "another program keeps it locked")
        time.sleep(pause)
        pause = min(pause * 1.5, _LONGEST_PAUSE_S)
