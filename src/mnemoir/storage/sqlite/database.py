"""The asynchronous engine of one private file: it runs blocking work in a writer thread or in reader threads.

Write-ahead log with `synchronous=FULL`: an acknowledged write survives a kill and a loss of power. One thread writes.
Each reader thread has its own read-only connection; readers neither wait for others nor block them.
"""

import asyncio
import os
import re
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, closing
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import TypeVar

import apsw

from mnemoir.core.errors import StorageDamaged, StorageUnavailable
from mnemoir.core.scope import Scope
from mnemoir.storage.disk_files import prepare_folder
from mnemoir.storage.process_lock import ProcessLock
from mnemoir.storage.sql.engine import Engine, Sql, of_scope, queries, subjects
from mnemoir.storage.sqlite.data_file import (
    SyncedLog,
    create,
    known_steps,
    make_private,
    migrate,
    problems,
    refuse_other_files,
    refuse_other_schemas,
)
from mnemoir.storage.sqlite.directory_identity import DirectoryIdentity
from mnemoir.storage.sqlite.log_emptying import PATIENCE_S, LogEmptying
from mnemoir.storage.sqlite.membership import belonging_in
from mnemoir.storage.sqlite.transactions import (
    OpenSql,
    SqliteSql,
    Writer,
    damage_error,
    storage_errors,
    transaction,
    unavailable,
)

T = TypeVar("T")
_READER_THREADS = 4
_NAMED_VALUE = re.compile(r":(\w+)")
_PRAGMAS = {
    "synchronous": "FULL",
    "foreign_keys": 1,
    "secure_delete": 1,  # deleted content is overwritten, such as a password in the job of a chat
    "journal_size_limit": 64 * 2**20,  # a log grown larger in a burst is cut back
}
BUSY_MS = 5000  # a connection waits only while the log is being recovered or reset


class Readers:
    """Reader threads with one connection each, created on first use."""

    def __init__(
        self,
        path: Path,
        threads: int,
        open_sql: OpenSql = SqliteSql,
        refuse_replacement: Callable[[], None] = lambda: None,
    ) -> None:
        """`refuse_replacement` raises for a file that is no longer at its path, before anything is read."""
        self._path = path
        self._refuse_replacement = refuse_replacement
        self._open_sql = open_sql
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="sqlite-reader")
        self._own = threading.local()
        self._connections: list[apsw.Connection] = []
        self._stopped = False

    async def run(self, work: Callable[[Sql], T]) -> T:
        """The result of `work` over one snapshot. Raises StorageUnavailable, or what `work` raises."""
        return await asyncio.wrap_future(self._put(work))

    def run_now(self, work: Callable[[Sql], T]) -> T:
        """The same, blocking."""
        return self._put(work).result()

    def stop(self) -> None:
        """Wait for the running reads, then close. Blocks; may be called again."""
        self._stopped = True
        self._threads.shutdown()
        while self._connections:
            self._connections.pop().close()

    def _put(self, work: Callable[[Sql], T]) -> Future[T]:
        if self._stopped:
            raise StorageUnavailable(f"{self._path} is closed: the program is stopping.")
        return self._threads.submit(self._read, work)

    def _read(self, work: Callable[[Sql], T]) -> T:
        with storage_errors(self._path, OSError):
            self._refuse_replacement()
            connection = self._connection()
            with transaction(connection, reads=True):
                return work(self._open_sql(connection))

    def _connection(self) -> apsw.Connection:
        if not hasattr(self._own, "connection"):
            connection = apsw.Connection(str(self._path), flags=apsw.SQLITE_OPEN_READONLY)
            connection.set_busy_timeout(BUSY_MS)
            self._connections.append(connection)
            self._own.connection = connection
        opened: apsw.Connection = self._own.connection
        return opened


def open_database(
    path: Path, open_sql: OpenSql = SqliteSql, identity: DirectoryIdentity | None = None
) -> "SqliteEngine":
    """Open the database at `path`, created if missing, and migrate it. `open_sql` may encrypt its cells.

    With an `identity` it must be the one of that directory, if there was one. Raises StorageUnavailable, naming the
    file and the cause, when another process has it, when it is damaged or lost, when a newer program wrote it, and
    when the disk fails. Blocks for as long as a migration takes.
    """
    with storage_errors(path, OSError):
        prepare_folder(path.parent)
        lock = ProcessLock(path.parent)
        try:
            return SqliteEngine(path, _open_connection(path, identity), lock, open_sql)
        except BaseException:
            lock.release()
            raise


def read_beside(path: Path, work: Callable[[Sql], T]) -> T:
    """The result of `work` over one snapshot, also while another process has the database. Blocks.

    Raises StorageUnavailable, also for a database that a newer program wrote.
    """
    with storage_errors(path), closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        connection.set_busy_timeout(BUSY_MS)
        refuse_other_schemas(path, connection, known_steps())
        with transaction(connection, reads=True):
            return work(SqliteSql(connection))


class SqliteEngine:
    """The engine that `open_database` returns; `aclose` closes it."""

    kind = "sqlite"
    warning = ""

    def __init__(
        self, path: Path, connection: apsw.Connection, lock: ProcessLock, open_sql: OpenSql = SqliteSql
    ) -> None:
        self.path = path
        self.name = str(path)
        self.incarnation = uuid.uuid4().hex  # the process lock keeps every other process out
        self._connection = connection
        self._lock: ProcessLock | None = lock
        refuse_replacement = partial(_refuse_replacement, str(path), path.stat())
        self._emptying = LogEmptying(path)
        self._turn = threading.Lock()
        connection.set_wal_hook(self._note_commit)
        self._writer = Writer(connection, path, open_sql, refuse_replacement)
        self._readers = Readers(path, _READER_THREADS, open_sql, refuse_replacement)

    async def write(self, scope: Scope | None, work: Callable[[Sql], T]) -> T:
        """The result of `work`, once all its writes are durable.

        It runs in the caller's context, in one transaction with other work, and is rolled back alone when it raises.
        Raises StorageUnavailable with nothing written, or what `work` raises. A cancelled caller's work may be done.
        """
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._writer.put(_in_context(_within_scope(scope, work)), future)
        return await future

    def write_now(self, scope: Scope | None, work: Callable[[Sql], T]) -> T:
        """The same, blocking."""
        future: Future[T] = Future()
        self._writer.put(_in_context(_within_scope(scope, work)), future)
        return future.result()

    async def read(self, scope: Scope | None, work: Callable[[Sql], T]) -> T:
        """The result of `work` over one snapshot. Raises StorageUnavailable, or what `work` raises."""
        return await self._readers.run(_within_scope(scope, work))

    def read_now(self, scope: Scope | None, work: Callable[[Sql], T]) -> T:
        """The same, blocking."""
        return self._readers.run_now(_within_scope(scope, work))

    async def empty_log(self) -> bool:
        """Write the log back and truncate it: deleted content is then nowhere on disk.

        While somebody reads for seconds it stays, and is emptied behind them; it is False then.
        """
        asked = asyncio.wrap_future(self._emptying.ask())
        asked.add_done_callback(_note_failure)
        await asyncio.wait([asked], timeout=PATIENCE_S)
        return asked.done() and asked.result()

    def version(self, subject: str) -> str:
        """See the port: always the same, as no other program changes the file."""
        return self.incarnation

    def note_change(self, sql: Sql, subject: str) -> None:
        """Nothing: there is no other program."""

    def turn(self) -> AbstractContextManager[object]:
        """See `Engine`: there is one writer."""
        return self._turn

    async def check_integrity(self) -> list[str]:
        """The problems of the file, a line each; [] when it is sound. Reads all of it."""
        return await self.read(None, problems)

    async def aclose(self) -> None:
        """Finish queued work, write the log back and release the process lock. May be called again."""
        await asyncio.to_thread(self._close)

    def empty_log_now(self) -> bool:
        """The same, blocking."""
        try:
            return self._emptying.ask().result(PATIENCE_S)
        except TimeoutError:
            return False

    def _note_commit(self, _: apsw.Connection, __: str, pages: int) -> int:
        self._emptying.note_length(pages)
        return apsw.SQLITE_OK

    def _close(self) -> None:
        self._emptying.stop()
        self._readers.stop()
        self._writer.stop()
        lock, self._lock = self._lock, None
        if lock is None:
            return
        try:
            with storage_errors(self.path):
                self._connection.close()
        finally:
            lock.release()


def _refuse_replacement(path: str, opened: os.stat_result) -> None:
    """Raise StorageDamaged when the file that was opened is not at its path: what is written to it would be lost.

    Raises StorageUnavailable where the disk does not tell.
    """
    try:  # plainly, since each commit and each read comes by
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        found = None
    except OSError as exc:
        raise unavailable(Path(path), exc) from exc
    if found is not None and found.st_size and os.path.samestat(found, opened):
        return
    raise StorageDamaged(
        f"{path} was removed, emptied or replaced while it was open, so nothing is written to it any more. Put the "
        "file back, from a backup if need be, and restart the server."
    )


def _within_scope(scope: Scope | None, work: Callable[[Sql], T]) -> Callable[[Sql], T]:
    return work if scope is None else lambda sql: work(of_scope(sql, scope))


def _note_failure(asked: asyncio.Future[bool]) -> None:
    """Take note of a failure that nobody waits for any more."""
    if not asked.cancelled():
        asked.exception()


def _in_context(work: Callable[[Sql], T]) -> Callable[[Sql], T]:
    """The work in the context of now."""
    context = copy_context()
    return lambda sql: context.run(work, sql)


def _open_connection(path: Path, identity: DirectoryIdentity | None) -> apsw.Connection:
    steps = known_steps()
    if identity is not None:
        identity.membership(path.name).refuse_loss(path)
    is_new = not path.exists()
    if is_new:
        if identity is not None:
            identity.refuse_remains()
        create(path, steps)
    make_private(path)
    refuse_other_files(path)
    synced = SyncedLog(path)
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.set_busy_timeout(BUSY_MS)
        connection.pragma("journal_mode", "wal")
        synced.compare(connection)
        for name, value in _PRAGMAS.items():
            connection.pragma(name, value)
        if identity is not None:
            identity.membership(path.name).refuse_bare(path, connection)
        refuse_other_schemas(path, connection, steps)
        migrate(connection, steps)
        if not is_new:
            _prepare_all(path, connection)
        if identity is not None:
            _take(path, connection, identity)
    except BaseException:
        connection.close()
        raise
    return connection


def _take(path: Path, connection: apsw.Connection, identity: DirectoryIdentity) -> None:
    """Give the database to its directory, which gets an id with its first one; from then on it must be there."""
    if belonging_in(connection) is None:
        identity.ensure()
    identity.membership(path.name).take(path, connection)
    identity.expect(path.name)


def _prepare_all(path: Path, connection: apsw.Connection) -> None:
    """Compile every query, which takes a millisecond, to detect a missing table or column now."""
    try:
        for subject in (*subjects(), *subjects("sessions")):
            for query in queries(subject).values():
                connection.execute(f"EXPLAIN {query}", dict.fromkeys(_NAMED_VALUE.findall(query)))
    except apsw.SQLError as exc:
        raise damage_error(path, f"its schema is not whole: {exc}") from exc


_: type[Engine] = SqliteEngine  # checked, never run
