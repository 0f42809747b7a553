"""Connections to the file of sessions: a few kept open, one a thread at work, none carried across a fork."""

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import apsw

from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.conversations.session_indexes import mend_indexes
from mnemoir.storage.conversations.session_schema import upgrade
from mnemoir.storage.conversations.setting_aside import Identity, folder_locked, identity_of
from mnemoir.storage.sqlite.data_file import beside, prepare_folder

BUSY_MS = 2000
MOST_IDLE = 4
_SMALLEST = 512  # bytes: one page, and no page is smaller
_NEW = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_LOG_BYTES = 64 * 2**20  # a log grown larger in a burst is cut back
_DAMAGE = (apsw.CorruptError, apsw.NotADBError)


class Damaged(Exception):
    """The file of that identity is not what was written."""

    def __init__(self, cause: str, identity: Identity | None) -> None:
        super().__init__(cause)
        self.identity = identity


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A connection, and to which file, should the name get another."""

    connection: apsw.Connection
    identity: Identity


class Connections:
    """Thread-safe. `path` is absolute."""

    def __init__(self, path: Path, *, synced: bool) -> None:
        self.path = path
        self._synced = synced
        self._idle: list[Opened] = []
        self._lock = threading.Lock()
        self._closed = False
        self._looked_through: Identity | None = None
        _EVERY.add(self)

    @contextmanager
    def one(self) -> Iterator[Opened]:
        """A connection for one piece of work. Raises Damaged, OSError, apsw.Error and StorageUnavailable."""
        opened = self._taken()
        try:
            yield opened
        except _DAMAGE as exc:
            opened.connection.close()
            raise Damaged(str(exc), opened.identity) from exc
        except BaseException:
            self._give_back(opened)
            raise
        self._give_back(opened)

    def close(self) -> None:
        """Close what is idle, and what is in use as soon as it is given back."""
        self._closed = True
        self.close_idle()

    def close_idle(self) -> None:
        """Let go of the file where nobody works."""
        with self._lock:
            while self._idle:
                self._idle.pop().connection.close()

    def forget_lock(self) -> None:
        """In a new process: whoever held it is not here."""
        self._lock = threading.Lock()

    def _taken(self) -> Opened:
        if self._closed:
            raise StorageUnavailable(f"{self.path} was closed by this program. Open it again to read or write.")
        identity = identity_of(self.path)
        while True:
            with self._lock:
                opened = self._idle.pop() if self._idle else None
            if opened is None:
                return self._opened()
            if opened.identity == identity:
                return opened
            opened.connection.close()

    def _give_back(self, opened: Opened) -> None:
        with self._lock:
            if not self._closed and len(self._idle) < MOST_IDLE:
                self._idle.append(opened)
                return
        opened.connection.close()

    def _opened(self) -> Opened:
        for folder in reversed((self.path.parent, *self.path.parent.parents)):
            prepare_folder(folder)  # one by one, so that each name is synced
        with folder_locked(self.path.parent):
            identity = identity_of(self.path)
            try:
                _refuse_torn(self.path)
                identity = identity or _made(self.path)
                return Opened(self._connected(identity), identity)
            except (Torn, *_DAMAGE) as exc:
                raise Damaged(str(exc), identity) from exc

    def _connected(self, identity: Identity) -> apsw.Connection:
        flags = apsw.SQLITE_OPEN_READWRITE
        connection = apsw.Connection(str(self.path), flags=flags)
        try:
            connection.set_busy_timeout(BUSY_MS)
            connection.pragma("journal_mode", "wal")
            connection.pragma("synchronous", "FULL" if self._synced else "NORMAL")
            connection.pragma("foreign_keys", 1)
            connection.pragma("secure_delete", 1)  # what is deleted is overwritten
            connection.pragma("journal_size_limit", _LOG_BYTES)
            _refuse_short(self.path, connection)
            upgrade(self.path, connection)
            if identity != self._looked_through:
                mend_indexes(self.path, connection)
                connection.execute("PRAGMA shrink_memory")  # or it would hold all pages that were looked at
                self._looked_through = identity
        except BaseException:
            connection.close()
            raise
        return connection


class Torn(Exception):
    """Bytes are missing that SQLite would not miss."""


def _made(path: Path) -> Identity:
    """An empty private file."""
    descriptor = os.open(path, _NEW, 0o600)
    try:
        found = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    return found.st_dev, found.st_ino


def _refuse_torn(path: Path) -> None:
    """An empty file is a beginning, unless a log says that something was in it."""
    size = path.stat().st_size if path.is_file() else 0
    if not size and _size_of(beside(path, "-wal")):
        raise Torn("its beginning is gone, its write-ahead log is there")
    if 0 < size < _SMALLEST:
        raise Torn("it is too short for a database")


def _refuse_short(path: Path, connection: apsw.Connection) -> None:
    """SQLite counts whole pages; the end of the last one may be missing.

    Without a log all pages are in the file, and as long as this reads, nobody can have emptied a log that had some.
    """
    connection.execute("BEGIN")
    try:
        expected = int(connection.pragma("page_count")) * int(connection.pragma("page_size"))
        if not _size_of(beside(path, "-wal")) and path.stat().st_size < expected:
            raise Torn(f"{expected} bytes belong in it, and it has {path.stat().st_size}")
    finally:
        connection.execute("ROLLBACK")


def _size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


_EVERY: weakref.WeakSet[Connections] = weakref.WeakSet()


def _before_fork() -> None:
    """SQLite's locks do not survive a fork: a child that inherits an open file would wreck it."""
    for connections in list(_EVERY):
        connections.close_idle()


def _in_child() -> None:
    for connections in list(_EVERY):
        connections.forget_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_in_child)
