"""The threads of a PostgreSQL database, each with its connection: all that this process asks of it runs there.

Each piece of work is one transaction. One that meets a deadlock or a conflict is undone and runs again.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from typing import TypeVar

import psycopg
from psycopg import errors

from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.postgres.connections import WAIT_S, Connections, NoAnswer
from mnemoir.storage.postgres.failures import name_of, storage_errors
from mnemoir.storage.postgres.opening import DATA, SETTINGS, Kind, cluster_of, is_made, prepare, refuse_another
from mnemoir.storage.postgres.sealed_sql import OpenSql, sealed_opener
from mnemoir.storage.postgres.transactions import Connection, PostgresSql
from mnemoir.storage.postgres.versions import Versions
from mnemoir.storage.sealing.cells import Cells
from mnemoir.storage.sqlite.membership import Membership

T = TypeVar("T")
_TRIES = 10  # of work that others were in the way of, or that met a broken connection; more than there are of these
_IN_THE_WAY = (errors.SerializationFailure, errors.DeadlockDetected)


class _Lost(psycopg.OperationalError):
    """A connection broke before anything was asked of it; another one may be whole."""


class Pool:
    """For use by any thread. Each engine over it joins it, and the last one that leaves closes it."""

    def __init__(self, dsn: str, kind: Kind = DATA) -> None:
        """Opens nothing yet. Raises StorageUnavailable for a text that is no DSN."""
        self.name = name_of(dsn, kind.setting)
        self._kind = kind
        self._dsn = dsn
        self._membership: Membership | None = None
        self._threads = ThreadPoolExecutor(kind.connections, thread_name_prefix="postgres")
        self._connections = Connections(dsn, lambda new: refuse_another(self.name, self._membership, new))
        self._entry = threading.Lock()
        self._engines = 0
        self._at_end: list[Callable[[], None]] = []
        self.is_closed = False
        self.versions = Versions(self.name, self.answer_now)

    def prepare(self, membership: Membership | None, cells: Cells | None) -> tuple[str, OpenSql]:
        """Refuse a database that cannot be used and make what is missing: what to warn of, and what opens `Sql`.

        With a `membership` it must be of that data directory, also on each later connection of all engines.
        """
        with self._own_connection() as connection, connection.transaction():
            connection.execute(SETTINGS)
            warning = prepare(self.name, self._kind, membership, connection)
            open_sql = PostgresSql if cells is None else sealed_opener(cells, connection)
        self._membership = membership or self._membership
        return warning, open_sql

    def has_schema(self) -> bool:
        """Whether the tables were made."""
        with self._own_connection() as connection:
            return is_made(self.name, self._kind, connection)

    def cluster(self) -> int:
        """What tells its cluster from all others."""
        with self._own_connection() as connection:
            return cluster_of(connection)

    def join(self, at_end: Callable[[], None]) -> bool:
        """Count an engine more; `at_end` is called when the pool is closed. False when it is already."""
        with self._entry:
            if not self.is_closed:
                self._engines += 1
                self._at_end.append(at_end)
            return not self.is_closed

    def leave(self) -> None:
        """Count an engine less; behind the last one, finish queued work and close all connections."""
        with self._entry:
            self._engines -= 1
            self.is_closed = not self._engines
        if self.is_closed:
            self.versions.close()
            self._threads.shutdown()
            self._connections.close()
            while self._at_end:
                self._at_end.pop()()

    @contextmanager
    def _own_connection(self) -> Iterator[Connection]:
        with self._errors(), closing(Connections(self._dsn)) as connections:
            yield connections.of_thread(time.monotonic())

    def _errors(self) -> AbstractContextManager[None]:
        return storage_errors(self.name, self._kind.setting)

    async def answer(self, begin: bytes, work: Callable[[Connection], T]) -> T:
        """The result of `work` in a transaction that begins like this."""
        return await asyncio.wrap_future(self._put(begin, work))

    def answer_now(self, begin: bytes, work: Callable[[Connection], T]) -> T:
        """The same, blocking. Not for the pool's own threads."""
        return self._put(begin, work).result()

    def _put(self, begin: bytes, work: Callable[[Connection], T]) -> Future[T]:
        return self._threads.submit(self._run, begin, work, time.monotonic())

    def _run(self, begin: bytes, work: Callable[[Connection], T], asked_at: float) -> T:
        until = asked_at + WAIT_S
        if time.monotonic() > until:  # all threads wait for the database
            raise StorageUnavailable(f"{self.name} has had no free connection for {WAIT_S:.0f} seconds. Try again.")
        with self._errors():
            for _ in range(_TRIES - 1):
                try:
                    return self._attempt(begin, work, until)
                except (*_IN_THE_WAY, _Lost):
                    continue
            return self._attempt(begin, work, until)

    def _attempt(self, begin: bytes, work: Callable[[Connection], T], until: float) -> T:
        connection = self._connections.of_thread(until)
        try:
            _begin(connection, begin)
            try:
                result = work(connection)
            except BaseException:
                _roll_back(connection)
                raise
            connection.execute("COMMIT")
        except errors.ReadOnlySqlTransaction:
            connection.close()  # it may be of a server that is a standby by now; the next one finds the primary
            raise
        except NoAnswer as exc:
            self._connections.note_lost(exc)
            raise
        return result


def _begin(connection: Connection, begin: bytes) -> None:
    """Begin a transaction. Raises _Lost for a connection that broke while nobody used it."""
    try:
        connection.execute(begin)
    except NoAnswer:
        raise
    except psycopg.OperationalError as exc:
        raise (_Lost(str(exc)) if connection.closed else exc) from exc


def _roll_back(connection: Connection) -> None:
    try:
        connection.execute("ROLLBACK")
    except psycopg.Error:  # the first failure is raised; the connection is of no use any more
        connection.close()
