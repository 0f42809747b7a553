"""Setting aside of a damaged file: it is renamed, never repaired or deleted, and a new one takes its place.

Folders are locked while a file is opened or renamed, so that of several processes that find the damage one renames
the file and none renames the new one.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from mnemoir.core.atomic_file import sync_folder
from mnemoir.storage.sqlite.data_file import beside

Identity = tuple[int, int]  # device and inode
_MARK = ".corrupt-"
_SIDE_FILES = ("-wal", "-shm")


@contextmanager
def folder_locked(folder: Path) -> Iterator[None]:
    """Hold the lock of the folder against all other threads and processes. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def identity_of(path: Path) -> Identity | None:
    """The identity of the file, another one after a replacement; None without a file. Raises OSError."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def set_aside(path: Path, identity: Identity | None) -> Path | None:
    """Rename the file of that identity and its side files; the new path, None when the file is gone or replaced."""
    with folder_locked(path.parent):
        if identity_of(path) != identity:
            return None
        kept_as = beside(path, f"{_MARK}{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}")
        for suffix in ("", *_SIDE_FILES):
            if (file := beside(path, suffix)).exists():
                file.rename(beside(kept_as, suffix))
        sync_folder(path.parent)
        return kept_as


def last_taken_id(path: Path) -> int:
    """The number above which message ids of a new file begin: 0; after a damaged file, above all its possible ids.

    A vector store may still hold vectors under those ids.
    """
    names = (entry.name for entry in path.parent.iterdir())
    was_damaged = any(name.startswith(f"{path.name}{_MARK}") for name in names)
    return time.time_ns() // 1_000_000 if was_damaged else 0
