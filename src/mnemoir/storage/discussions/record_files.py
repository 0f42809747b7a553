"""Databases of records on disk: one shared file a discussion, opened when it is asked for, a few kept open.

A file keeps its rollback journal, as its other readers expect; there is no log beside it that a copy could lose. It
is never opened by other means than SQLite's while SQLite may have it: closing a descriptor would give up every lock
that this process has on the file. What a killed writer left half done is undone by whoever opens the file next.
"""

import errno
import os
import shutil
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import apsw

from mnemoir.core.atomic_file import replacing, sync_folder
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.discussions.record_place import identity_of, refuse_links
from mnemoir.storage.discussions.record_ranking import install
from mnemoir.storage.discussions.record_schema import blank, is_complete, prepare, see_new_tables, stand_in
from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sqlite.data_file import beside, prepare_folder
from mnemoir.storage.sqlite.database import BUSY_MS
from mnemoir.storage.sqlite.shared_file import SharedFile
from mnemoir.storage.sqlite.transactions import SqliteSql, damaged, storage_errors, transaction

T = TypeVar("T")
Work = Callable[[Sql], T]
_SMALLEST = 512  # bytes: one page, and no page is smaller
_CACHE_KIB = -8192  # negative is KiB: lengths of 100,000 records stay in it beside the words that are looked for
_NEW = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC


class RecordFiles:
    """Thread-safe; all methods block and raise StorageUnavailable. At most `most_idle` files stay open unused."""

    def __init__(self, most_idle: int = 16) -> None:
        self._most_idle = most_idle
        self._idle: OrderedDict[Path, SharedFile] = OrderedDict()
        self._lock = threading.Lock()
        self._closed = False

    def read(self, path: Path, work: Work[T]) -> T:
        """What `work` gives over one snapshot; over an empty database where there is no file. Makes nothing."""
        with storage_errors(path, OSError):
            if identity_of(path) is None:
                self._forget(path)  # a file that was removed goes when nobody has it open
                with closing(blank()) as connection, transaction(connection, reads=True):
                    return work(SqliteSql(connection))
            with self._opened(path) as file:
                return file.read(lambda sql: work(see_new_tables(sql)))

    def begin(self, path: Path) -> bool:
        """Make the file, or complete it; whether there was one with anything in it."""
        with storage_errors(path, OSError):
            was_there = identity_of(path) is not None
        self.write(path, lambda sql: None)
        return was_there

    def write(self, path: Path, work: Work[T]) -> T:
        """What `work` gives, all in one transaction, durable on return; the file is made where there is none."""
        self._refuse_when_closed(path)
        with storage_errors(path, OSError):
            _make(path)
            with self._opened(path) as file:
                was_complete, outcome = file.write(lambda sql: (prepare(path, sql), work(sql)))
            if not was_complete:
                self._forget(path)  # the next connection needs no stand-in
            return outcome

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
                _connected(file).close()  # a journal left beside it would be taken for one of the new file
            _move(made, path)
            sync_folder(path.parent)
            sync_folder(made.parent)

    def close(self) -> None:
        """Close what is kept open; nothing is read or written afterwards."""
        with self._lock:
            self._closed = True
            while self._idle:
                self._idle.popitem()[1].close()

    @contextmanager
    def _opened(self, path: Path) -> Iterator[SharedFile]:
        """The file for one caller; kept open afterwards unless something failed."""
        self._refuse_when_closed(path)
        with self._lock:
            file = self._idle.pop(path, None)
        file = file or SharedFile(path, _connected)
        try:
            yield file
        except BaseException:
            file.close()
            raise
        self._keep(path, file)

    def _keep(self, path: Path, file: SharedFile) -> None:
        over: SharedFile | None = file
        with self._lock:
            if not self._closed and path not in self._idle:
                self._idle[path] = file
                over = self._idle.popitem(last=False)[1] if len(self._idle) > self._most_idle else None
        if over is not None:
            over.close()

    def _forget(self, path: Path) -> None:
        with self._lock:
            file = self._idle.pop(path, None)
        if file is not None:
            file.close()

    def _refuse_when_closed(self, path: Path) -> None:
        if self._closed:
            raise StorageUnavailable(f"{path} is closed: the program is stopping.")


def opened(path: Path, flags: int = apsw.SQLITE_OPEN_READWRITE, *, keeps_statements: bool = True) -> apsw.Connection:
    """A connection that waits for the writes of others. Raises what `storage_errors` knows."""
    refuse_links(path)
    if is_too_short(path):
        raise damaged(path, "it is too short for a database")
    cache = 100 if keeps_statements else 0
    connection = apsw.Connection(str(path), flags=flags | apsw.SQLITE_OPEN_NOFOLLOW, statementcachesize=cache)
    connection.set_busy_timeout(BUSY_MS)
    return connection


def is_too_short(path: Path) -> bool:
    """Whether a file is no database, though SQLite would take it for an empty one. Raises OSError."""
    return 0 < path.stat().st_size < _SMALLEST and not beside(path, "-journal").exists()


def _connected(path: Path) -> apsw.Connection:
    """A connection to the file; with a stand-in for the tables that it lacks, when it does."""
    connection = opened(path)
    try:
        if not is_complete(path, SqliteSql(connection)):
            connection.close()
            # a kept statement over the stand-in would not notice that the file has got the table meanwhile
            connection = opened(path, keeps_statements=False)
            stand_in(connection)
        connection.pragma("synchronous", "EXTRA")  # the folder too, or a loss of power may undo a commit
        connection.pragma("secure_delete", 1)
        connection.pragma("cache_size", _CACHE_KIB)
        install(connection)
    except BaseException:
        connection.close()
        raise
    return connection


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
