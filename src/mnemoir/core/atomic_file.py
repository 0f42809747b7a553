"""Atomic, durable writes of files: replace a file, append to it, or remove it. On failure the file stays as it was.

All functions block and raise OSError. Functions with a `folder` take the descriptor of an open folder
(`Folder.open`), name the file relative to it and follow no symbolic link. New content is written to a temporary file
beside the target with mode 0600 and synced; the file is then renamed and the folder synced. Writers that hold a lock
share the temporary name `<name>.tmp`, so a killed writer leaves at most one file, which the next writer removes.
"""

import errno
import os
import secrets
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # a named pipe must not stop the reader
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_PRIVATE_FILE = 0o600
_PROBED_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Stamp:
    """Identity of one version of a file, taken from its status without reading the content.

    Only `ctime_ns` shows an edit in place that restores the old time. It also changes when the file is renamed or its
    permissions change, so a different stamp means that the content may be different.
    """

    mtime_ns: int
    size: int
    inode: int
    ctime_ns: int

    def is_renamed(self, before: "Stamp") -> bool:
        """True when the file may be the file of the stamp `before`, renamed."""
        return (self.mtime_ns, self.size, self.inode) == (before.mtime_ns, before.size, before.inode)


def stamp_of(folder: int, name: str) -> Stamp | None:
    """The stamp of a file; None for a missing file.

    Raises OSError: ELOOP for a symbolic link, EINVAL for anything else that is not a regular file.
    """
    status = _status(folder, name)
    return None if status is None else _stamp(status)


def read_file(folder: int, name: str, count: int = -1) -> tuple[bytes, Stamp] | None:
    """The content of a file, or its first bytes, and its stamp; None for a missing file."""
    try:
        file = os.open(name, _READ, dir_fd=folder)
    except FileNotFoundError:
        return None
    with open(file, "rb") as reader:
        stamp = _stamp(os.fstat(file))
        return reader.read(count), stamp


def replace_file(
    folder: int,
    name: str,
    content: bytes,
    *,
    keep_mode: bool = False,
    before_rename: Callable[[Stamp], None] = lambda stamp: None,
) -> Stamp:
    """Replace the file by `content` durably and return the stamp of the new file.

    `before_rename` is called with that stamp before readers can see the new file; if it raises, the old file stays.
    The new file has mode 0600, or with `keep_mode` the mode of the file it replaces. The caller must hold a lock.
    """
    replaced = _status(folder, name) if keep_mode else None
    temporary = leftover_of(name)
    with _removed_on_failure(folder, temporary):
        with _synced_file(folder, temporary) as target:
            target.write(content)
            if replaced is not None and stat.S_ISREG(replaced.st_mode):
                os.fchmod(target.fileno(), stat.S_IMODE(replaced.st_mode))
        stamp = _stamp(os.stat(temporary, dir_fd=folder, follow_symlinks=False))
        before_rename(stamp)
        _rename(folder, temporary, name)
    renamed = stamp_of(folder, name)
    return renamed if renamed is not None and renamed.is_renamed(stamp) else stamp


@contextmanager
def replacing(path: Path, *, is_locked: bool = False) -> Iterator[BinaryIO]:
    """Open a new file, mode 0600, that replaces `path` durably when the block ends.

    When the block raises, `path` stays as it was. Concurrent writers of one path do not disturb each other. With
    `is_locked` the caller holds a lock against other writers, and the temporary file is named `<name>.tmp`.
    """
    temporary = leftover_of(path.name if is_locked else f".{secrets.token_hex(8)}")
    with _open_folder(path.parent) as folder, _removed_on_failure(folder, temporary):
        with _synced_file(folder, temporary) as target:
            yield target
        _rename(folder, temporary, path.name)


def append_file(folder: int, name: str, content: bytes, *, end: int | None = None) -> None:
    """Write `content` at byte `end` durably, truncating whatever follows; None means the end of the file.

    A missing file is created with mode 0600. On failure the file is truncated to `end`.
    """
    is_new = _status(folder, name) is None
    file = os.open(name, _APPEND, _PRIVATE_FILE, dir_fd=folder)
    try:
        _append_and_sync(file, content, end)
    finally:
        os.close(file)
    if is_new:
        os.fsync(folder)


def append_line(path: Path, line: str) -> None:
    """Append a line to a file durably; a missing file is created."""
    with _open_folder(path.parent) as folder:
        append_file(folder, path.name, f"{line}\n".encode())


def remove_file(folder: int, name: str) -> None:
    """Remove the file, if it exists. Not durable until the folder is synced."""
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


def remove_durably(folder: int, *names: str) -> None:
    """Remove those of the files that exist, and sync the folder."""
    for name in names:
        remove_file(folder, name)
    os.fsync(folder)


def leftover_of(name: str) -> str:
    """The name of the temporary file that a killed writer of `name` leaves beside it."""
    return f"{name}.tmp"


def sync_file(path: Path) -> None:
    """Sync a file and its name."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Sync a folder, so that created, renamed and removed names in it are durable."""
    with _open_folder(folder) as opened:
        os.fsync(opened)


def probe_folder(folder: Path) -> None:
    """Write some bytes into the folder durably, and leave nothing behind. Raises OSError."""
    with tempfile.TemporaryFile(dir=folder, prefix=".mnemoir-ready-") as file:  # it has no name, so none is left
        file.write(b"\0" * _PROBED_BYTES)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _open_folder(folder: Path) -> Iterator[int]:
    """Open a folder for calls with `dir_fd`; yields its descriptor."""
    opened = os.open(folder, _FOLDER)
    try:
        yield opened
    finally:
        os.close(opened)


@contextmanager
def _removed_on_failure(folder: int, temporary: str) -> Iterator[None]:
    remove_file(folder, temporary)
    try:
        yield
    except BaseException:
        with suppress(OSError):  # the first failure is raised; the next writer removes the file
            remove_file(folder, temporary)
        raise


@contextmanager
def _synced_file(folder: int, name: str) -> Iterator[BinaryIO]:
    """Create a file in the folder and yield it for writing; at the end it is synced."""
    with open(os.open(name, _CREATE, _PRIVATE_FILE, dir_fd=folder), "wb") as target:
        yield target
        target.flush()
        os.fsync(target.fileno())


def _rename(folder: int, temporary: str, name: str) -> None:
    os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    os.fsync(folder)


def _append_and_sync(file: int, content: bytes, end: int | None) -> None:
    """Append behind `end`, by default at the end of the file; what is longer is cut off first.

    A failed write is cut off again.
    """
    size = os.fstat(file).st_size
    end = size if end is None else end
    if size > end:
        os.ftruncate(file, end)
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(file, rest) :]
        os.fsync(file)
    except OSError:
        with suppress(OSError):  # the first failure is raised; the next writer cuts the rest off
            os.ftruncate(file, end)
        raise


def _status(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _stamp(status: os.stat_result) -> Stamp:
    if stat.S_ISLNK(status.st_mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    return Stamp(status.st_mtime_ns, status.st_size, status.st_ino, status.st_ctime_ns)
