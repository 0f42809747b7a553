"""Databases of records on disk: one file a discussion, opened when it is asked for, a few kept open for reading.

A file keeps its rollback journal, as its other readers expect; there is no log beside it that a copy could lose. It
is never opened by other means than SQLite's while SQLite may have it: closing a descriptor would give up every lock
that this process has on the file.
"""

import errno
import os
import shutil
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import apsw

from mnemoir.core.atomic_file import replacing, sync_folder
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.discussions.record_place import Identity, identity_of, refuse_links
from mnemoir.storage.discussions.record_ranking import install
from mnemoir.storage.discussions.record_schema import blank, prepare, refuse_other_files, stand_in
from mnemoir.storage.sqlite.data_file import beside, prepare_folder
from mnemoir.storage.sqlite.failures import damaged, storage_errors
from mnemoir.storage.sqlite.readers import BUSY_MS

T = TypeVar("T")
Work = Callable[[apsw.Connection], T]
_SMALLEST = 512  # bytes: one page, and no page is smaller
_CACHE_KIB = -8192  # negative is KiB: lengths of 100,000 records stay in it beside the words that are looked for
_NEW = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, eq=False)
class _Reader:
    """A connection that nobody uses.

    `identity` tells of which file, should the name get another; `schema` which tables it had: a statement that uses
    those of the stand-in alone does not notice that the file has got them meanwhile.
    """

    path: Path
    identity: Identity
    schema: int
    connection: apsw.Connection


class RecordFiles:
    """Thread-safe; all methods block and raise StorageUnavailable. At most `most_idle` files stay open unused."""

    def __init__(self, most_idle: int = 16) -> None:
        self._most_idle = most_idle
        self._idle: OrderedDict[Path, _Reader] = OrderedDict()
        self._lock = threading.Lock()
        self._closed = False

    def read(self, path: Path, work: Work[T]) -> T:
        """What `work` gives over one snapshot; over an empty database where there is no file. Makes nothing."""
        with storage_errors(path, OSError):
            identity = identity_of(path)
            if identity is None:
                self._forget(path)  # a file that was removed goes when nobody has it open
                with closing(blank()) as connection:
                    return work(connection)
            try:
                return self._read(path, identity, work)
            except apsw.ReadOnlyError:  # a writer was killed: what it left half done is to be undone first
                settle(path)
                return self._read(path, identity, work)

    def begin(self, path: Path) -> bool:
        """Make the file, or complete it; whether there was one with anything in it."""
        with storage_errors(path, OSError):
            was_there = identity_of(path) is not None
        self.write(path, lambda connection: None)
        return was_there

    def write(self, path: Path, work: Work[T]) -> T:
        """What `work` gives, all in one transaction, durable on return; the file is made where there is none."""
        self._refuse_when_closed(path)
        with storage_errors(path, OSError):
            _make(path)
            with closing(opened(path, apsw.SQLITE_OPEN_READWRITE)) as connection:
                connection.pragma("synchronous", "EXTRA")  # the folder too, or a loss of power may undo a commit
                connection.pragma("secure_delete", 1)
                return _in_transaction(path, connection, work)

    def change(self, path: Path, work: Work[None]) -> None:
        """The same as `write`, for work that is nothing where there is no file: none is made for it."""
        with storage_errors(path, OSError):
            is_there = identity_of(path) is not None
        if is_there:
            self.write(path, work)

    def replace(self, path: Path, made: Path) -> None:
        """Put the database `made` in the place of another, in one step. Both are whole then, or neither changed."""
        with storage_errors(path, OSError):
            if identity_of(made) is None:
                raise StorageUnavailable(f"{made} is not there to be put in place. Make the memories again.")
            _make(path)
            for file in (made, path):
                self._forget(file)
                settle(file)  # a journal left beside it, even without a file, would be taken for one of the new file
            _move(made, path)
            sync_folder(path.parent)
            sync_folder(made.parent)

    def close(self) -> None:
        """Close what is kept open; nothing is read or written afterwards."""
        with self._lock:
            self._closed = True
            while self._idle:
                self._idle.popitem()[1].connection.close()

    def _read(self, path: Path, identity: Identity, work: Work[T]) -> T:
        reader = self._taken(path, identity)
        try:
            reader.connection.execute("BEGIN")
            while reader.connection.pragma("schema_version") != reader.schema:
                reader.connection.close()
                reader = _opened_for_reading(path, identity)
                reader.connection.execute("BEGIN")
            outcome = work(reader.connection)
            reader.connection.execute("ROLLBACK")
        except BaseException:
            reader.connection.close()
            raise
        self._give_back(reader)
        return outcome

    def _taken(self, path: Path, identity: Identity) -> _Reader:
        self._refuse_when_closed(path)
        with self._lock:
            reader = self._idle.pop(path, None)
        if reader is not None and reader.identity == identity:
            return reader
        if reader is not None:
            reader.connection.close()
        return _opened_for_reading(path, identity)

    def _give_back(self, reader: _Reader) -> None:
        with self._lock:
            self._idle.setdefault(reader.path, reader)
            kept = self._idle[reader.path] is reader and not self._closed
            over = [] if kept else [reader]
            if self._closed:
                self._idle.pop(reader.path)
            elif len(self._idle) > self._most_idle:
                over.append(self._idle.popitem(last=False)[1])
        for one in over:
            one.connection.close()

    def _forget(self, path: Path) -> None:
        with self._lock:
            reader = self._idle.pop(path, None)
        if reader is not None:
            reader.connection.close()

    def _refuse_when_closed(self, path: Path) -> None:
        if self._closed:
            raise StorageUnavailable(f"{path} is closed: the program is stopping.")


def is_too_short(path: Path) -> bool:
    """Whether a file is no database, though SQLite would take it for an empty one. Raises OSError."""
    return 0 < path.stat().st_size < _SMALLEST and not beside(path, "-journal").exists()


def _opened_for_reading(path: Path, identity: Identity) -> _Reader:
    connection = opened(path, apsw.SQLITE_OPEN_READONLY)
    try:
        schema = int(connection.pragma("schema_version"))
        refuse_other_files(path, connection)
        connection.pragma("cache_size", _CACHE_KIB)
        stand_in(connection)
        install(connection)
    except BaseException:
        connection.close()
        raise
    return _Reader(path, identity, schema, connection)


def opened(path: Path, flags: int) -> apsw.Connection:
    """A connection that waits for the writes of others. Raises what `storage_errors` knows."""
    refuse_links(path)
    if is_too_short(path):
        raise damaged(path, "it is too short for a database")
    connection = apsw.Connection(str(path), flags=flags | apsw.SQLITE_OPEN_NOFOLLOW)
    connection.set_busy_timeout(BUSY_MS)
    return connection


def _in_transaction(path: Path, connection: apsw.Connection, work: Work[T]) -> T:
    connection.execute("BEGIN IMMEDIATE")
    try:
        refuse_other_files(path, connection)
        prepare(connection)
        outcome = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        with suppress(apsw.Error):  # the failure that led here is raised; a transaction is over even so
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        raise
    return outcome


def _make(path: Path) -> None:
    """An empty private file, unless there is one."""
    refuse_links(path)
    if not path.exists():
        prepare_folder(path.parent)
        with suppress(FileExistsError):
            os.close(os.open(path, _NEW, 0o600))


def _move(made: Path, path: Path) -> None:
    """In one step, also to another disk; nobody has either of the files open."""
    try:
        made.replace(path)
    except OSError as exc:
        if exc.errno != errno.EXDEV:
            raise
        with made.open("rb") as source, replacing(path, is_locked=True) as target:
            shutil.copyfileobj(source, target)
        made.unlink()


def settle(path: Path) -> None:
    """Have undone what a killed writer left half done. Raises what `storage_errors` knows."""
    with closing(opened(path, apsw.SQLITE_OPEN_READWRITE)) as connection:
        refuse_other_files(path, connection)
