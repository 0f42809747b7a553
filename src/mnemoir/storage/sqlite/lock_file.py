"""The file in which a user of a config tree has workflow locks: other programs have it open too."""

import os
from pathlib import Path

import apsw

from mnemoir.storage.sqlite.database import BUSY_MS
from mnemoir.storage.sqlite.shared_file import SharedFile

_NEW = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


def open_lock_file(path: Path) -> SharedFile:
    """The file, made when there is none. Raises StorageUnavailable."""
    return SharedFile(path, _connected)


def _connected(path: Path) -> apsw.Connection:
    os.close(os.open(path, _NEW, 0o600))  # private, when it is a new one
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(BUSY_MS)
    return connection
