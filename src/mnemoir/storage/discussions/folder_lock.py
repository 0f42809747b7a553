"""A short lock by the folder itself, for writers who need no file of their own for it."""

import errno
import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager

_PATIENCE_S = 10.0
_PAUSE_S = 0.002


@contextmanager
def folder_locked(folder: int) -> Iterator[None]:
    """Keep others out who lock the folder, in this process and in others; blocks. Raises OSError; ETIMEDOUT.

    `folder` must be opened for this alone, as the lock belongs to what was opened.
    """
    deadline = time.monotonic() + _PATIENCE_S
    # asked again and again, because a blocking flock knows no time limit
    while not try_lock(folder):
        if time.monotonic() > deadline:
            raise TimeoutError(errno.ETIMEDOUT, "another program keeps the folder locked")
        time.sleep(_PAUSE_S)
    try:
        yield
    finally:
        fcntl.flock(folder, fcntl.LOCK_UN)


def try_lock(file: int) -> bool:
    """Take the lock of what is open unless somebody has it; closing gives it back, and so does the process's end."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
