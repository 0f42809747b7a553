"""Transactions on a SQLite connection, `Sql` over one, and the writer thread that commits all waiting work together.

A durable commit costs a sync of the disk, whether it holds one write or a hundred. So all waiting work goes into one
transaction, each piece in its own savepoint: a piece that fails is rolled back alone. No caller gets a result before
the transaction is on disk.
"""

import asyncio
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import apsw

from mnemoir.core.errors import StorageDamaged, StorageUnavailable
from mnemoir.core.scope import Scope
from mnemoir.storage.disk_files import disk_error
from mnemoir.storage.size_limit import size_error
from mnemoir.storage.sql.engine import Damaged, Sql, Value

FOREIGN = (apsw.Error, UnicodeDecodeError, Damaged)  # the second for a text whose bytes were damaged
_ADVICE = "Run `mnemoir doctor` to see what is wrong, or restore the file from a backup."
AnyFuture = asyncio.Future[Any] | Future[Any]  # that of a loop, or of a blocked thread
Work = Callable[[Sql], Any]  # its result goes unchanged to its own caller
_MOST_TOGETHER = 512  # bounds how long the first of a batch waits for the last


@contextmanager
def storage_errors(path: Path, *foreign: type[Exception]) -> Iterator[None]:
    """Raise StorageUnavailable, naming the file, in place of the database's errors and of `foreign` ones."""
    translated: tuple[type[Exception], ...] = (*FOREIGN, *foreign)
    try:
        yield
    except translated as exc:
        raise unavailable(path, exc) from exc


def unavailable(path: Path, cause: Exception) -> StorageUnavailable:
    """The StorageUnavailable for an error of the database."""
    if isinstance(cause, apsw.FullError):
        return StorageUnavailable(f"{path} could not be written: the disk is full. Free some space and try again.")
    is_write = getattr(cause, "extendedresult", 0) == apsw.SQLITE_IOERR_WRITE
    if is_write and (error := size_error(str(path))) is not None:
        return error
    if isinstance(cause, apsw.CorruptError | apsw.NotADBError | UnicodeDecodeError | Damaged):
        return damage_error(path, str(cause))
    return disk_error(path, cause)


def damage_error(path: Path, what: str) -> StorageDamaged:
    """The error for a damaged file, which is never silently repaired or replaced."""
    return StorageDamaged(f"{path} is damaged ({what}) and was left as it is. {_ADVICE}")


class transaction:  # a class, named like a function: a generator costs a microsecond more
    """Commit the body's writes, or roll them back when it raises. A reading transaction never waits for a writer."""

    __slots__ = ("_begin", "_connection")

    def __init__(self, connection: apsw.Connection, *, reads: bool = False) -> None:
        self._connection = connection
        self._begin = "BEGIN" if reads else "BEGIN IMMEDIATE"

    def __enter__(self) -> None:
        self._connection.execute(self._begin)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._undo()
            return
        try:
            self._connection.execute("COMMIT")
        except BaseException:
            self._undo()
            raise

    def _undo(self) -> None:
        with suppress(apsw.Error):  # the first failure is raised; the transaction is over even so
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")


class SqliteSql:
    """The open transaction of `connection`."""

    __slots__ = ("_connection", "scope_id")

    def __init__(self, connection: apsw.Connection, scope_id: int | None = None) -> None:
        self._connection = connection
        self.scope_id = scope_id

    def within(self, scope_id: int | None) -> "SqliteSql":
        """The same transaction, for another scope."""
        return SqliteSql(self._connection, scope_id)

    def rows(self, query: str, /, **values: Value) -> list[Any]:
        """Every row."""
        return self._execute(query, values).fetchall()

    def each(self, query: str, /, **values: Value) -> Iterator[Any]:
        """The rows one by one."""
        return self._execute(query, values)

    def row(self, query: str, /, **values: Value) -> Any:
        """The first row."""
        return self._execute(query, values).fetchone()

    def value(self, query: str, /, **values: Value) -> Any:
        """The first column of the first row."""
        row = self._execute(query, values).fetchone()
        return None if row is None else row[0]

    def run(self, query: str, /, **values: Value) -> int:
        """Run a writing query; the number of changed rows."""
        self._execute(query, values)
        return self._connection.changes()

    def many(self, query: str, values: Sequence[Mapping[str, Value]], /) -> list[Any]:
        """Run the query once for each mapping; the rows of all runs, in order."""
        if ":scope_id" in query:
            values = [{"scope_id": self.scope_id, **each} for each in values]
        return self._connection.executemany(query, values).fetchall()

    def hold(self, name: str) -> None:
        """Nothing: a transaction that writes is alone."""

    def key_of(self, scope: Scope) -> int | None:
        """None: digests are bare."""
        return None

    def stored_digest(self, digest: bytes) -> bytes:
        """The digest itself: these cells are not encrypted."""
        return digest

    def _execute(self, query: str, values: dict[str, Value]) -> apsw.Cursor:
        """The cursor of the query, with the scope bound. The dict belongs to this call alone."""
        values["scope_id"] = self.scope_id
        return self._connection.execute(query, values)


OpenSql = Callable[[apsw.Connection], Sql]  # over an open transaction
_: type[Sql] = SqliteSql  # checked, never run


@dataclass(frozen=True, slots=True)
class _Waiting:
    work: Work
    future: AnyFuture


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    value: Any = None
    error: Exception | None = None


class Writer:
    """Owns the writing connection from its start to the end of `stop`."""

    def __init__(
        self,
        connection: apsw.Connection,
        path: Path,
        open_sql: OpenSql = SqliteSql,
        refuse_replacement: Callable[[], None] = lambda: None,
    ) -> None:
        """`refuse_replacement` raises for a file that is no longer at its path, before anything is written to it."""
        self._connection = connection
        self._refuse_replacement = refuse_replacement
        self._sql = open_sql(connection)
        self._path = path
        self._queue: SimpleQueue[_Waiting | None] = SimpleQueue()
        self._entry = threading.Lock()
        self._stopped = False
        # A daemon, so that a program that forgot to close still ends; that is no worse than a kill.
        self._thread = threading.Thread(target=self._run, name="sqlite-writer", daemon=True)
        self._thread.start()

    def put(self, work: Work, future: AnyFuture) -> None:
        """Queue `work`; its outcome goes to `future`. Raises StorageUnavailable when stopped."""
        with self._entry:
            if self._stopped:
                raise StorageUnavailable(f"{self._path} is closed: the program is stopping.")
            self._queue.put(_Waiting(work, future))

    def stop(self) -> None:
        """Finish the queued work and end the thread. Blocks; may be called again."""
        with self._entry:
            if not self._stopped:
                self._stopped = True
                self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (first := self._queue.get()) is not None:
            batch, is_last = self._with_waiting(first)
            _answer(batch, self._commit(batch))
            if is_last:
                return

    def _with_waiting(self, first: _Waiting) -> tuple[list[_Waiting], bool]:
        """`first` with the work that waits behind it, and True when the end of the queue was reached."""
        batch = [first]
        with suppress(Empty):
            while len(batch) < _MOST_TOGETHER:
                following = self._queue.get_nowait()
                if following is None:
                    return batch, True
                batch.append(following)
        return batch, False

    def _commit(self, batch: Sequence[_Waiting]) -> Sequence[_Outcome]:
        try:
            self._refuse_replacement()
            with transaction(self._connection):
                return [self._attempt(waiting) for waiting in batch]
        except StorageUnavailable as exc:
            return [_Outcome(error=exc) for _ in batch]
        except apsw.Error as exc:
            return [_Outcome(error=_with_cause(unavailable(self._path, exc), exc)) for _ in batch]

    def _attempt(self, waiting: _Waiting) -> _Outcome:
        """The outcome of one piece of work. Raises apsw.Error when its failure ended the whole transaction."""
        if waiting.future.cancelled():
            return _Outcome()
        self._connection.execute("SAVEPOINT piece")
        try:
            outcome = _Outcome(value=waiting.work(self._sql))
        except Exception as exc:  # any error is raised again in the waiting caller
            if isinstance(exc, apsw.Error) and not self._connection.in_transaction:
                raise
            self._connection.execute("ROLLBACK TO piece")
            outcome = _Outcome(error=self._translated_error(exc))
        self._connection.execute("RELEASE piece")
        return outcome

    def _translated_error(self, exc: Exception) -> Exception:
        return _with_cause(unavailable(self._path, exc), exc) if isinstance(exc, FOREIGN) else exc


def _with_cause(error: StorageUnavailable, cause: Exception) -> StorageUnavailable:
    error.__cause__ = cause
    return error


def _answer(batch: Sequence[_Waiting], outcomes: Sequence[_Outcome]) -> None:
    """Deliver the outcomes with one wake-up per event loop: a wake-up costs more than a small write."""
    of_loop: defaultdict[asyncio.AbstractEventLoop, list[tuple[AnyFuture, _Outcome]]] = defaultdict(list)
    for waiting, outcome in zip(batch, outcomes, strict=True):
        if isinstance(waiting.future, Future):
            _settle([(waiting.future, outcome)])
        else:
            of_loop[waiting.future.get_loop()].append((waiting.future, outcome))
    for loop, answers in of_loop.items():
        with suppress(RuntimeError):  # the loop was closed: no caller is waiting
            loop.call_soon_threadsafe(_settle, answers)


def _settle(answers: Sequence[tuple[AnyFuture, _Outcome]]) -> None:
    for future, outcome in answers:
        if future.done():
            continue
        if outcome.error is not None:
            future.set_exception(outcome.error)
        else:
            future.set_result(outcome.value)
