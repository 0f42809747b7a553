"""The engine of a PostgreSQL database: work runs in threads, each piece in a transaction of its own.

Reads see one snapshot. A write holds the row of its scope from its begin, so that writes of one user run one after
the other and what one of them decides on stays true until it ends; writes of several users run side by side. A write
that meets a deadlock or a conflict is undone and runs again.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from importlib.resources import files
from typing import Any, TypeVar

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool, PoolTimeout

from mnemoir.core.errors import StorageDamaged, StorageUnavailable
from mnemoir.core.scope import Scope
from mnemoir.storage.postgres.transactions import Connection, PostgresSql, set_up
from mnemoir.storage.sql.engine import Damaged, Engine, Sql, hold_scope, of_scope, queries

T = TypeVar("T")
_IDENTITY = queries("identity")
_VERSION = "Mnemoir, schema 1"
_CREATE = b"CREATE SCHEMA mnemoir"
_COMMENT = b"COMMENT ON SCHEMA mnemoir IS 'Mnemoir, schema 1'"
_SERVER = """
    SELECT current_setting('server_version_num')::int / 10000, current_setting('server_encoding')"""
_FOUND = """
    SELECT to_regnamespace(%(schema)s) IS NOT NULL, obj_description(to_regnamespace(%(schema)s), 'pg_namespace')"""
_CONNECTIONS = 8
_WAIT_S = 5  # for a connection
_TRIES = 10  # of work that others were in the way of, or that met a broken connection; more than there are of these
_IN_THE_WAY = (errors.SerializationFailure, errors.DeadlockDetected)
_SCHEMA = "mnemoir"
_PARAMETERS: dict[str, Any] = {"connect_timeout": 3, "keepalives_idle": 5, "tcp_user_timeout": 7000}
_OLDEST = 15
_SETTINGS = b"SET LOCAL search_path TO mnemoir; SET LOCAL statement_timeout TO '30s'"
_WRITE = b"BEGIN ISOLATION LEVEL READ COMMITTED; " + _SETTINGS
_READ = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; " + _SETTINGS
logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # it warns of each failed try; the error tells it once


class _Lost(psycopg.OperationalError):
    """A connection broke before anything was asked of it; another one may be whole."""


def open_postgres(
    dsn: str, directory: str | None = None, on_close: Callable[[], None] = lambda: None
) -> "PostgresEngine":
    """Open the database, whose tables are made in the schema `mnemoir` if they are missing.

    With the id of a data `directory` it must be that one's; a new database becomes it. `on_close` is called when the
    engine is closed, and not when this fails. Raises StorageUnavailable, naming host and database, when it cannot be
    reached, is older than PostgreSQL 15, has another encoding than UTF-8, or was made by another version of Mnemoir;
    StorageDamaged for one of another data directory. Blocks.
    """
    name = _name_of(dsn)
    with _storage_errors(name), psycopg.connect(dsn, **_PARAMETERS) as connection:  # it tells why it fails
        set_up(connection)
        connection.execute(_SETTINGS)
        _prepare(name, directory, connection)
    return PostgresEngine(dsn, on_close)


class PostgresEngine:
    """The engine that `open_postgres` returns; `aclose` closes it."""

    kind = "postgres"
    incarnation = None  # other processes can open the database

    def __init__(self, dsn: str, on_close: Callable[[], None] = lambda: None) -> None:
        self.name = _name_of(dsn)
        self._threads = ThreadPoolExecutor(_CONNECTIONS, thread_name_prefix="postgres")
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            dsn,
            kwargs={**_PARAMETERS, "autocommit": True},
            min_size=1,
            max_size=_CONNECTIONS,
            timeout=_WAIT_S,
            configure=set_up,
            open=True,
        )
        self._is_closed = False
        self._on_close = on_close

    async def write(self, scope: Scope | None, work: Callable[[Sql], T]) -> T:
        """The result of `work`, once all its writes are durable. It runs in the caller's context, and may run again.

        Raises StorageUnavailable with nothing written, or what `work` raises. A cancelled caller's work may be done.
        """
        context = copy_context()

        def write_within(connection: Connection) -> T:
            return context.copy().run(work, _of_held_scope(PostgresSql(connection), scope))

        return await self._in_thread(_WRITE, write_within)

    async def read(self, scope: Scope | None, work: Callable[[Sql], T]) -> T:
        """The result of `work` over one snapshot. Raises StorageUnavailable, or what `work` raises."""
        return await self._in_thread(_READ, lambda opened: work(_of_scope(PostgresSql(opened), scope)))

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
        self._pool.close()
        if not was_closed:
            self._on_close()

    def read_now(self, work: Callable[[Sql], T]) -> T:
        """The result of `work` over one snapshot. Blocks."""
        return self.run(_READ, lambda connection: work(PostgresSql(connection)))

    def run(self, begin: bytes, work: Callable[[Connection], T]) -> T:
        """The result of `work` in a transaction that begins like this. Blocks."""
        with _storage_errors(self.name):
            for _ in range(_TRIES - 1):
                try:
                    return self._attempt(begin, work)
                except (*_IN_THE_WAY, _Lost):
                    continue
            return self._attempt(begin, work)

    async def _in_thread(self, begin: bytes, work: Callable[[Connection], T]) -> T:
        if self._is_closed:
            raise StorageUnavailable(f"{self.name} is closed: the program is stopping.")
        return await asyncio.get_running_loop().run_in_executor(self._threads, self.run, begin, work)

    def _attempt(self, begin: bytes, work: Callable[[Connection], T]) -> T:
        with self._pool.connection() as connection:
            _begin(connection, begin)
            try:
                result = work(connection)
            except BaseException:
                if not connection.closed:
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
            return result


def _begin(connection: Connection, begin: bytes) -> None:
    """Begin a transaction. Raises _Lost for a connection of the pool that broke while nobody used it."""
    try:
        connection.execute(begin)
    except psycopg.OperationalError as exc:
        raise (_Lost(str(exc)) if connection.closed else exc) from exc


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


def _prepare(name: str, directory: str | None, connection: Connection) -> None:
    """Refuse what cannot be used, and make what is missing, one process after the other."""
    version, encoding = connection.execute(_SERVER).fetchone() or (0, "")
    if version < _OLDEST:
        raise StorageUnavailable(f"{name} runs on PostgreSQL {version}. Use PostgreSQL {_OLDEST} or newer.")
    if encoding != "UTF8":
        raise StorageUnavailable(f"{name} has the encoding {encoding}. Make the database with ENCODING 'UTF8'.")
    sql = PostgresSql(connection)
    sql.hold("schema")
    (is_there, version_told) = connection.execute(_FOUND, {"schema": _SCHEMA}).fetchone() or (False, None)
    if not is_there:
        schema = (files("mnemoir.storage.postgres") / "schema" / "main.sql").read_bytes()
        connection.execute(_CREATE)
        connection.execute(schema)
        connection.execute(_COMMENT)
    elif version_told != _VERSION:
        raise StorageUnavailable(
            f"The schema {_SCHEMA} of {name} was not made by this version of Mnemoir. Give Mnemoir another database, "
            "or start the version that made it."
        )
    if directory is not None:
        _take(name, directory, sql)


def _take(name: str, directory: str, sql: PostgresSql) -> None:
    """Give the database to a data directory. Raises StorageDamaged for one of another."""
    stored = sql.value(_IDENTITY["identity"])
    if stored is None:
        sql.run(_IDENTITY["put_identity"], directory=directory, owner="")
    elif stored != directory:
        raise StorageDamaged(
            f"{name} belongs to another data directory (storage_damaged), so nothing is opened. Name the directory "
            "that it belongs to in storage.data_dir, or another database in storage.postgres.dsn."
        )


@contextmanager
def _storage_errors(name: str) -> Iterator[None]:
    """Raise StorageUnavailable, naming the database, in place of errors of the driver."""
    try:
        yield
    except (PoolTimeout, psycopg.OperationalError) as exc:
        raise StorageUnavailable(f"{name} cannot be used: {_first_line(exc)}. Check that it runs.") from exc
    except Damaged as exc:
        raise StorageDamaged(f"{name} is damaged: {exc}.") from exc
    except (errors.DataError, errors.IntegrityError) as exc:  # whose words quote values
        raise StorageUnavailable(f"{name} refused a statement: {type(exc).__name__}.") from exc
    except psycopg.Error as exc:
        raise StorageUnavailable(f"{name} refused a statement: {_first_line(exc)}.") from exc


def _name_of(dsn: str) -> str:
    """Host and database, without what is secret. Raises StorageUnavailable for a text that is no DSN."""
    try:
        told = conninfo_to_dict(dsn)
    except psycopg.ProgrammingError as exc:
        raise StorageUnavailable(
            "storage.postgres.dsn is no connection string of PostgreSQL. Write it as "
            "postgresql://USER:PASSWORD@HOST:PORT/DATABASE."
        ) from exc
    host = told.get("host") or told.get("hostaddr") or "this machine"
    return f"The PostgreSQL database {told.get('dbname') or told.get('user') or 'postgres'} on {host}"


def _first_line(exc: Exception) -> str:
    return (str(exc).strip().splitlines() or [type(exc).__name__])[0].rstrip(".")


_: type[Engine] = PostgresEngine  # checked, never run
