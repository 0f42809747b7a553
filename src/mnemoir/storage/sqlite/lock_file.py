"""The file with the workflow locks of a config tree's user: other programs have it open too."""

import os
from pathlib import Path

import apsw

from mnemoir.storage.sqlite.database import BUSY_MS
from mnemoir.storage.sqlite.shared_file import SharedFile

_NEW = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


def open_lock_file(path: Path) -> SharedFile:
    """Open the file, created if missing. Raises StorageUnavailable."""
    return SharedFile(path, _connected)


def _connected(path: Path) -> apsw.Connection:
    os.close(os.open(path, _NEW, 0o600))  # a new file is private
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(BUSY_MS)
    return connection
