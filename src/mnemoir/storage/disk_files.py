"""Files and folders on the disk, whatever is in them: made, found missing, locked; and what the disk says of them."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mnemoir.core.atomic_file import sync_folder
from mnemoir.core.errors import StorageUnavailable


def prepare_folder(folder: Path) -> None:
    """Create the data directory, private to its owner. An existing one keeps its mode: it may have other users."""
    if folder.is_dir():
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    sync_folder(folder.parent)


def beside(path: Path, suffix: str) -> Path:
    """The path with a suffix added to the file's name."""
    return path.with_name(path.name + suffix)


def loss_of(path: Path) -> str | None:
    """Why a database is lost: it `is missing` or `is empty`; None for one with any bytes. Raises OSError."""
    try:
        return None if path.stat().st_size else "is empty"
    except (FileNotFoundError, NotADirectoryError):
        return "is missing"


@contextmanager
def hold_folder_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of the folder against all other threads and processes. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def file_errors(path: Path) -> Iterator[None]:
    """Raise StorageUnavailable, naming the file, in place of OSError."""
    try:
        yield
    except OSError as exc:
        raise disk_error(path, exc) from exc


def disk_error(path: Path, cause: Exception) -> StorageUnavailable:
    """The error for a file that could not be read or written."""
    return StorageUnavailable(f"{path} could not be read or written: {cause}. Look at the disk and its permissions.")
