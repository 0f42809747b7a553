"""The limit on the size of files that the process was given (`ulimit -f`), and the writes that it ended lately.

A disk that is full refuses every write, so a small one shows it. This limit refuses those to files that are long
already, while a small write to another file works. So what it ended is remembered, until the limit is another one or
nothing was ended for ten minutes.
"""

import errno
import os
import threading
from time import monotonic

from mnemoir.core.errors import StorageUnavailable

_REMEMBERED_S = 600.0
_lock = threading.Lock()
_ended: dict[str, tuple[float, int]] = {}  # when, and by which limit, by the name of the file


def size_limit() -> int | None:
    """The most bytes that a file may have; None without a limit."""
    try:
        import resource
    except ImportError:  # only POSIX has it
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    return None if soft == resource.RLIM_INFINITY else soft


def size_error(name: str) -> StorageUnavailable | None:
    """The error for a write to a file that the limit may have ended, which is remembered; None without a limit."""
    limit = size_limit()
    if limit is None:
        return None
    with _lock:
        _ended[name] = monotonic(), limit
    return _error(name, limit)


def os_size_error(name: str, cause: OSError) -> StorageUnavailable | None:
    """The same for an error of the system; None for any other error than that a file would be too long."""
    is_it = cause.errno == errno.EFBIG and cause.strerror == os.strerror(errno.EFBIG)
    return size_error(name) if is_it else None


def refuse_short_files() -> None:
    """Raise StorageUnavailable where the limit ended a write lately, and is still what it was."""
    if not _ended:
        return
    limit, since = size_limit(), monotonic() - _REMEMBERED_S
    with _lock:
        for name, (at, by) in list(_ended.items()):
            if by != limit or at < since:
                del _ended[name]
        left = [*_ended]
    if left and limit is not None:
        raise _error(left[-1], limit)


def _error(name: str, limit: int) -> StorageUnavailable:
    return StorageUnavailable(
        f"{name} could not be written: the process may make files of {limit:,} bytes at most (ulimit -f). Raise that "
        "limit, and restart the server."
    )
