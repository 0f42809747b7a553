"""The engine of a PostgreSQL database: work runs in threads, each piece in a transaction of its own.

Reads see one snapshot. A write holds the row of its scope from its begin, so that writes of one user run one after
the other and what one of them decides on stays true until it ends; writes of several users run side by side. A write
that meets a deadlock or a conflict is undone and runs again.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from contextvars import copy_context
from functools import partial
from typing import TypeVar

import psycopg
from psycopg import errors

from mnemoir.core.errors import StorageUnavailable
from mnemoir.core.scope import Scope
from mnemoir.core.text import without_zeros
from mnemoir.storage.postgres.connections import WAIT_S, Connections, NoAnswer
from mnemoir.storage.postgres.failures import name_of, storage_errors
from mnemoir.storage.postgres.opening import CONNECTIONS, READ, SETTINGS, WRITE, prepare, refuse_another
from mnemoir.storage.postgres.sealed_sql import OpenSql, sealed_opener
from mnemoir.storage.postgres.transactions import Connection, PostgresSql
from mnemoir.storage.sealing.cells import Cells
from mnemoir.storage.sql.engine import Engine, Sql, hold_scope, of_scope
from mnemoir.storage.sqlite.membership import Membership

T = TypeVar("T")
_TRIES = 10  # of work that others were in the way of, or that met a broken connection; more than there are of these
_IN_THE_WAY = (errors.SerializationFailure, errors.DeadlockDetected)


class _Lost(psycopg.OperationalError):
    """A connection broke before anything was asked of it; another one may be whole."""


def open_postgres(
    dsn: str,
    membership: Membership | None = None,
    on_close: Callable[[], None] = lambda: None,
    cells: Cells | None = None,
) -> "PostgresEngine":
    """Open the database, whose tables are made in the schema `mnemoir` if they are missing.

    `cells` encrypt what users said; None leaves it plain. With a `membership` it must be of that data directory, and
    be there if it is expected, also on each later connection; a new one becomes it. `on_close` is called when the
    engine is closed, and not when this fails. Raises StorageUnavailable, naming host and database, when it cannot be
    reached, is older than PostgreSQL 15, has another encoding than UTF-8, lets in too few clients, or was made by
    another version of Mnemoir; StorageDamaged for one of another data directory, and for an empty one in the place of
    one that must be there. Blocks.
    """
    name = name_of(dsn)
    with storage_errors(name), closing(Connections(dsn)) as connections:
        connection = connections.of_thread(time.monotonic())
        with connection.transaction():
            connection.execute(SETTINGS)
            warning = prepare(name, membership, connection)
            open_sql = PostgresSql if cells is None else sealed_opener(cells, connection)
    return PostgresEngine(dsn, warning, on_close, open_sql, membership)


class PostgresEngine:
    """The engine that `open_postgres` returns; `aclose` closes it."""

    kind = "postgres"
    incarnation = None  # other processes can open the database

    def __init__(
        self,
        dsn: str,
        warning: str = "",
        on_close: Callable[[], None] = lambda: None,
        open_sql: OpenSql = PostgresSql,
        membership: Membership | None = None,
    ) -> None:
        self.name = name_of(dsn)
        self.warning = warning
        self._open_sql = open_sql
        self._threads = ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="postgres")
        self._connections = Connections(dsn, partial(refuse_another, self.name, membership))
        self._is_closed = False
        self._on_close = on_close

    async def write(self, scope: Scope | None, work: Callable[[Sql], T]) -> T:
        """The result of `work`, once all its writes are durable. It runs in the caller's context, and may run again.

        Raises StorageUnavailable with nothing written, or what `work` raises. A cancelled caller's work may be done.
        """
        context = copy_context()

        def write_within(connection: Connection) -> T:
            return context.copy().run(work, _of_held_scope(self._open_sql(connection), scope))

        return await self._in_thread(WRITE + _sight_of(scope), write_within)

    async def read(self, scope: Scope | None, work: Callable[[Sql], T]) -> T:
        """The result of `work` over one snapshot. Raises StorageUnavailable, or what `work` raises."""
        begin = READ + _sight_of(scope)
        return await self._in_thread(begin, lambda opened: work(_of_scope(self._open_sql(opened), scope)))

    async def empty_log(self) -> None:
        """Nothing: deleted rows go with PostgreSQL's own VACUUM and its log with its checkpoints."""

    async def check_integrity(self) -> list[str]:
        """[]: what PostgreSQL stores, its own programs check."""
        return []

    async def aclose(self) -> None:
        """Finish queued work and close all connections. May be called again."""
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """The same, blocking."""
        was_closed, self._is_closed = self._is_closed, True
        self._threads.shutdown()
        self._connections.close()
        if not was_closed:
            self._on_close()

    def read_now(self, work: Callable[[Sql], T]) -> T:
        """The result of `work` over one snapshot. Blocks."""
        return self._run(
            READ + _sight_of(None), lambda connection: work(self._open_sql(connection)), time.monotonic()
        )

    async def _in_thread(self, begin: bytes, work: Callable[[Connection], T]) -> T:
        if self._is_closed:
            raise StorageUnavailable(f"{self.name} is closed: the program is stopping.")
        asked_at = time.monotonic()
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._run, begin, work, asked_at)

    def _run(self, begin: bytes, work: Callable[[Connection], T], asked_at: float) -> T:
        """The result of `work` in a transaction that begins like this. Blocks."""
        until = asked_at + WAIT_S
        if time.monotonic() > until:  # all threads wait for the database
            raise StorageUnavailable(f"{self.name} has had no free connection for {WAIT_S:.0f} seconds. Try again.")
        with storage_errors(self.name):
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


def _sight_of(scope: Scope | None) -> bytes:
    """What a transaction begins with that sees one user's rows; with those of no single scope it sees all."""
    if scope is None:
        return b"; SET LOCAL mnemoir.\"all\" TO 'on'"
    names = without_zeros(f"{scope.tenant}\n{scope.project}\n{scope.user}").replace("\\", r"\\").replace("'", r"\'")
    return f"; SET LOCAL mnemoir.owner TO E'{names}'".encode()


def _of_scope(sql: Sql, scope: Scope | None) -> Sql:
    return sql if scope is None else of_scope(sql, scope)


def _of_held_scope(sql: Sql, scope: Scope | None) -> Sql:
    """The transaction within a scope that no other writes to; for one without a row its name is held."""
    if scope is None:
        return sql
    within = hold_scope(sql, scope)
    if within.scope_id is None:
        sql.hold(f"scope\n{scope.tenant}\n{scope.project}\n{scope.user}")
        within = hold_scope(sql, scope)
    return within


_: type[Engine] = PostgresEngine  # checked, never run
