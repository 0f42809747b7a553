"""Databases of records on disk: one shared file a discussion, opened on first use, a few kept open.

A file keeps its rollback journal, as its other readers expect; there is no write-ahead log that a copy could lose.
Only SQLite opens it while SQLite may have it open: closing another descriptor would release every lock that this
process has on the file. The next connection rolls back the unfinished transaction of a killed writer.
"""

import errno
import os
import shutil
import stat
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import apsw

from mnemoir.core.atomic_file import replacing, sync_folder
from mnemoir.core.discussions import ClientFolder, Discussion
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.discussions.places import places
from mnemoir.storage.discussions.record_schema import blank, is_complete, prepare, see_new_tables, stand_in
from mnemoir.storage.discussions.record_search import install
from mnemoir.storage.disk_files import beside, prepare_folder
from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sqlite.database import BUSY_MS
from mnemoir.storage.sqlite.shared_file import SharedFile
from mnemoir.storage.sqlite.transactions import SqliteSql, damage_error, storage_errors, transaction

Identity = tuple[int, int]  # device and inode: another file under the same name has another
T = TypeVar("T")
Work = Callable[[Sql], T]
_SMALLEST = 512  # bytes: one page, and no page is smaller
_CACHE_KIB = -8192  # negative is KiB: room for the lengths of 100,000 records beside the words searched for
_NEW = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC


def records_file(discussion: Discussion) -> Path:
    """The existing file, else the one to create. Raises StorageUnavailable. Only roots may be links."""
    return records_file_of(discussion.file_name, discussion.root, discussion.legacy, discussion.client)


def records_file_of(name: str, root: Path, legacy: Path | None, client: ClientFolder | None = None) -> Path:
    """The same for the discussion whose files have that name."""
    candidates = places(name, "records", client)
    files = [place.below(real(root)) for place in candidates]
    new = files[-1]
    if legacy is not None:
        files.append(candidates[-1].below(real(legacy)))
    with storage_errors(new, OSError):
        return next((file for file in files if _is_there(file)), new)


def identity_of(path: Path) -> Identity | None:
    """The identity of the file; None without one, and for an empty one, which WilmerAI leaves where it searched.

    Raises StorageUnavailable for a link, and OSError.
    """
    refuse_links(path)
    try:
        status = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return (status.st_dev, status.st_ino) if status.st_size else None


def refuse_links(path: Path) -> None:
    """Raise StorageUnavailable when the file or its folder is a link."""
    if path.is_symlink() or path.parent.is_symlink():
        raise StorageUnavailable(
            f"{path} is a link, or lies behind one. Put the file itself in its place: links are not followed."
        )


def real(root: Path) -> Path:
    """The root with links resolved: it may be a link, but SQLite must follow none."""
    return Path(os.path.realpath(root))


def _is_there(file: Path) -> bool:
    """True when the file exists; a folder of that name belongs to another discussion."""
    try:
        return not stat.S_ISDIR(os.lstat(file).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


class RecordFiles:
    """Thread-safe; all methods block and raise StorageUnavailable. At most `most_idle` files stay open unused."""

    def __init__(self, most_idle: int = 16) -> None:
        self._most_idle = most_idle
        self._idle: OrderedDict[Path, SharedFile] = OrderedDict()
        self._lock = threading.Lock()
        self._closed = False

    def read(self, path: Path, work: Work[T]) -> T:
        """The result of `work` over one snapshot, of an empty database without a file. Creates nothing."""
        with storage_errors(path, OSError):
            if identity_of(path) is None:
                self._forget(path)  # a deleted file is freed when no connection has it open
                with closing(blank()) as connection, transaction(connection, reads=True):
                    return work(SqliteSql(connection))
            with self._file_for_caller(path) as file:
                return file.read(lambda sql: work(see_new_tables(sql)))

    def begin(self, path: Path) -> bool:
        """Create the file, or complete its tables; True when there was one that was not empty."""
        with storage_errors(path, OSError):
            was_there = identity_of(path) is not None
        self.write(path, lambda sql: None)
        return was_there

    def write(self, path: Path, work: Work[T]) -> T:
        """The result of `work` in one transaction, durable on return; a missing file is created."""
        self._refuse_after_close(path)
        with storage_errors(path, OSError):
            _make(path)
            with self._file_for_caller(path) as file:
                was_complete, outcome = file.write(lambda sql: (prepare(path, sql), work(sql)))
            if not was_complete:
                self._forget(path)  # the next connection needs no stand-in
            return outcome

    def change(self, path: Path, work: Work[None]) -> None:
        """The same as `write`, for work that has no effect without a file: a missing file is not created."""
        with storage_errors(path, OSError):
            is_there = identity_of(path) is not None
        if is_there:
            self.write(path, work)

    def replace(self, path: Path, made: Path) -> None:
        """Replace the database at `path` by `made` in one step. After a failure neither has changed."""
        with storage_errors(path, OSError):
            if identity_of(made) is None:
                raise StorageUnavailable(f"{made} is not there to be put in place. Make the memories again.")
            _make(path)
            for file in (made, path):
                self._forget(file)
                _open_records(file).close()  # a journal left beside it would be taken for one of the new file
            _move(made, path)
            sync_folder(path.parent)
            sync_folder(made.parent)

    def close(self) -> None:
        """Close all files that are open; nothing is read or written afterwards."""
        with self._lock:
            self._closed = True
            while self._idle:
                self._idle.popitem()[1].close()

    @contextmanager
    def _file_for_caller(self, path: Path) -> Iterator[SharedFile]:
        """Lend the file to one caller; it stays open afterwards unless the work failed."""
        self._refuse_after_close(path)
        with self._lock:
            file = self._idle.pop(path, None)
        file = file or SharedFile(path, _open_records)
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

    def _refuse_after_close(self, path: Path) -> None:
        if self._closed:
            raise StorageUnavailable(f"{path} is closed: the program is stopping.")


def open_connection(
    path: Path, flags: int = apsw.SQLITE_OPEN_READWRITE, *, keeps_statements: bool = True
) -> apsw.Connection:
    """A connection that waits for other writers. Raises the errors that `storage_errors` translates."""
    refuse_links(path)
    if is_too_short(path):
        raise damage_error(path, "it is too short for a database")
    cache = 100 if keeps_statements else 0
    connection = apsw.Connection(str(path), flags=flags | apsw.SQLITE_OPEN_NOFOLLOW, statementcachesize=cache)
    connection.set_busy_timeout(BUSY_MS)
    return connection


def is_too_short(path: Path) -> bool:
    """True for a file that is no database, though SQLite treats it as an empty one. Raises OSError."""
    return 0 < path.stat().st_size < _SMALLEST and not beside(path, "-journal").exists()


def _open_records(path: Path) -> apsw.Connection:
    """A connection to the file, with empty stand-ins for missing tables."""
    connection = open_connection(path)
    try:
        if not is_complete(path, SqliteSql(connection)):
            connection.close()
            # a cached statement over the stand-in would not notice that the file has the table meanwhile
            connection = open_connection(path, keeps_statements=False)
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
    """Create an empty private file, unless there is one."""
    refuse_links(path)
    if not path.exists():
        prepare_folder(path.parent)
        with suppress(FileExistsError):
            os.close(os.open(path, _NEW, 0o600))


def _move(made: Path, path: Path) -> None:
    """Move a file in one step, also to another disk; neither file may be open."""
    try:
        made.replace(path)
    except OSError as exc:
        if exc.errno != errno.EXDEV:
            raise
        with made.open("rb") as source, replacing(path, is_locked=True) as target:
            shutil.copyfileobj(source, target)
        made.unlink()
