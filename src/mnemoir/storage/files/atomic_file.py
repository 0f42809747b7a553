"""One file replaced as a whole: whoever reads it, whenever the power fails, it is the old one or the new one.

All functions block and take an open folder (`workspace.Folder.open`); none follows a link. The temporary file has one
fixed name beside its target, so a killed writer leaves at most one behind, and the next writer, who holds the lock,
takes it away.
"""

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # a named pipe must not stop the reader
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LOCK = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_PRIVATE_FILE = 0o600


@dataclass(frozen=True, slots=True)
class Stamp:
    """Tells one content of a file from the next without reading it."""

    mtime_ns: int
    size: int
    inode: int


def stamp_of(folder: int, name: str) -> Stamp | None:
    """The stamp of a file; None when it is not there. Raises OSError; ELOOP for a link."""
    try:
        return _stamp(os.stat(name, dir_fd=folder, follow_symlinks=False))
    except FileNotFoundError:
        return None


def read_file(folder: int, name: str) -> tuple[bytes, Stamp] | None:
    """The bytes and their stamp; None when there is no such file. Raises OSError."""
    try:
        file = os.open(name, _READ, dir_fd=folder)
    except FileNotFoundError:
        return None
    with open(file, "rb") as reader:
        stamp = _stamp(os.fstat(file))
        return reader.read(), stamp


def replace_file(
    folder: int, name: str, content: bytes, *, before_rename: Callable[[Stamp], None] = lambda stamp: None
) -> Stamp:
    """Put `content` in place of the file, durably. Raises OSError; the old file is whole then, or the new one is.

    `before_rename` is told the stamp under which the new content will be seen.
    """
    temporary = _temporary(name)
    remove_file(folder, temporary)
    try:
        stamp = _write_synced(folder, temporary, content)
        before_rename(stamp)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with suppress(OSError):  # the first failure is the one to tell; the next writer cleans up
            remove_file(folder, temporary)
        raise
    os.fsync(folder)
    return stamp


def remove_file(folder: int, name: str) -> None:
    """Take the file away, if it is there. Raises OSError."""
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


def remove_leftover(folder: int, name: str, lock_name: str) -> bool:
    """Take away the temporary file of `name` that a killed writer left; False when there is none.

    Raises OSError; ETIMEDOUT while somebody holds the lock, for then the file is no leftover.
    """
    temporary = _temporary(name)
    try:
        os.stat(temporary, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    lock = take_lock(folder, lock_name, patience_s=0.0)
    try:
        remove_file(folder, temporary)
    finally:
        os.close(lock)
    return True


def take_lock(folder: int, name: str, *, patience_s: float = 10.0) -> int:
    """Take the lock that `name` stands for, against every process and every other caller here.

    Closing what is returned gives the lock back, and so does the end of the process. Raises OSError; ETIMEDOUT
    when someone else keeps it longer than `patience_s`.
    """
    lock = os.open(name, _LOCK, _PRIVATE_FILE, dir_fd=folder)
    try:
        _wait_for(lock, time.monotonic() + patience_s)
    except OSError:
        os.close(lock)
        raise
    return lock


def _temporary(name: str) -> str:
    return f"{name}.tmp"


def _wait_for(lock: int, deadline: float) -> None:
    # asked again and again, because a blocking flock knows no time limit
    pause = 0.001
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError as exc:
            if time.monotonic() > deadline:
                raise TimeoutError(errno.ETIMEDOUT, "another program keeps it locked") from exc
        time.sleep(pause)
        pause = min(pause * 1.5, 0.02)


def _write_synced(folder: int, name: str, content: bytes) -> Stamp:
    file = os.open(name, _CREATE, _PRIVATE_FILE, dir_fd=folder)
    with open(file, "wb", buffering=0) as writer:
        rest = memoryview(content)
        while rest:
            rest = rest[writer.write(rest) :]
        os.fsync(file)
        return _stamp(os.fstat(file))


def _stamp(status: os.stat_result) -> Stamp:
    if stat.S_ISLNK(status.st_mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    return Stamp(status.st_mtime_ns, status.st_size, status.st_ino)
