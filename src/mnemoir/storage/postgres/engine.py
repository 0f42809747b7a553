"""The engines over a PostgreSQL database, which share its pool of connections.

Reads see one snapshot. A write holds the row of its scope from its begin, so that writes of one user run one after
the other and what one of them decides on stays true until it ends; writes of several users run side by side.
"""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from contextvars import copy_context
from typing import TypeVar

from mnemoir.core.errors import StorageUnavailable
from mnemoir.core.scope import Scope
from mnemoir.core.text import without_zeros
from mnemoir.storage.postgres.opening import READ, WRITE
from mnemoir.storage.postgres.pool import Pool
from mnemoir.storage.postgres.sealed_sql import OpenSql
from mnemoir.storage.postgres.transactions import Connection
from mnemoir.storage.postgres.versions import count_change
from mnemoir.storage.sealing.cells import Cells
from mnemoir.storage.sql.engine import Engine, FileEngine, Sql, hold_scope, of_scope
from mnemoir.storage.sqlite.membership import Membership

T = TypeVar("T")


def open_postgres(
    dsn: str | Pool,
    membership: Membership | None = None,
    on_close: Callable[[], None] = lambda: None,
    cells: Cells | None = None,
) -> "PostgresEngine":
    """Open the database, whose tables are made in the schema `mnemoir` if they are missing, over a pool of its own.

    `cells` encrypt what users said; None leaves it plain. With a `membership` it must be of that data directory, and
    be there if it is expected, also on each later connection; a new one becomes it. `on_close` is called when the
    pool is closed, and not when this fails. Raises StorageUnavailable, naming host and database, when it cannot be
    reached, is older than PostgreSQL 15, has another encoding than UTF-8, lets in too few clients, or was made by
    another version of Mnemoir; StorageDamaged for one of another data directory, and for an empty one in the place of
    one that must be there. Blocks.
    """
    pool = Pool(dsn) if isinstance(dsn, str) else dsn
    warning, open_sql = pool.prepare(membership, cells)
    return PostgresEngine(pool, open_sql, warning, on_close)


def open_shared_tables(
    dsn: str | Pool, membership: Membership | None = None, cells: Cells | None = None
) -> "SharedTables":
    """The same database for blocking callers, who may be of several programs."""
    pool = Pool(dsn) if isinstance(dsn, str) else dsn
    _, open_sql = pool.prepare(membership, cells)
    return SharedTables(pool, open_sql)


class _Joined:
    """A part of this program that uses a pool until it is closed."""

    def __init__(self, pool: Pool, open_sql: OpenSql, on_close: Callable[[], None] = lambda: None) -> None:
        if not pool.join(on_close):
            raise _closed_error(pool.name)
        self.name = pool.name
        self._pool = pool
        self._open_sql = open_sql
        self._is_closed = False

    def close(self) -> None:
        """Finish queued work and close all connections that nothing else uses. May be called again."""
        was_closed, self._is_closed = self._is_closed, True
        if not was_closed:
            self._pool.leave()

    def _open_pool(self) -> Pool:
        if self._is_closed:
            raise _closed_error(self.name)
        return self._pool


class PostgresEngine(_Joined):
    """The engine that `open_postgres` returns."""

    kind = "postgres"
    incarnation = None  # other processes can open the database

    def __init__(
        self, pool: Pool, open_sql: OpenSql, warning: str = "", on_close: Callable[[], None] = lambda: None
    ) -> None:
        super().__init__(pool, open_sql, on_close)
        self.warning = warning

    async def write(self, scope: Scope | None, work: Callable[[Sql], T]) -> T:
        """The result of `work`, once all its writes are durable. It runs in the caller's context, and may run again.

        Raises StorageUnavailable with nothing written, or what `work` raises. A cancelled caller's work may be done.
        """
        return await self._open_pool().answer(WRITE + _sight_of(scope), self._held_work(scope, work))

    def write_now(self, scope: Scope | None, work: Callable[[Sql], T]) -> T:
        """The same, blocking."""
        return self._open_pool().answer_now(WRITE + _sight_of(scope), self._held_work(scope, work))

    async def read(self, scope: Scope | None, work: Callable[[Sql], T]) -> T:
        """The result of `work` over one snapshot. Raises StorageUnavailable, or what `work` raises."""
        return await self._open_pool().answer(READ + _sight_of(scope), self._scoped_work(scope, work))

    def read_now(self, scope: Scope | None, work: Callable[[Sql], T]) -> T:
        """The same, blocking."""
        return self._open_pool().answer_now(READ + _sight_of(scope), self._scoped_work(scope, work))

    async def empty_log(self) -> bool:
        """Nothing: deleted rows go with PostgreSQL's own VACUUM and its log with its checkpoints."""
        return True

    def empty_log_now(self) -> bool:
        """Nothing, either."""
        return True

    def turn(self) -> AbstractContextManager[object]:
        """Nothing: writes of several users run side by side."""
        return nullcontext()

    def version(self, subject: str) -> int | None:
        """See the port: a number that all servers count."""
        return self._open_pool().versions.number_of(subject)

    def note_change(self, sql: Sql, subject: str) -> None:
        """Count it for all servers."""
        count_change(sql, subject)

    async def check_integrity(self) -> list[str]:
        """[]: what PostgreSQL stores, its own programs check."""
        return []

    async def aclose(self) -> None:
        """Finish queued work and close it. May be called again."""
        await asyncio.to_thread(self.close)

    def _held_work(self, scope: Scope | None, work: Callable[[Sql], T]) -> Callable[[Connection], T]:
        context = copy_context()
        return lambda opened: context.copy().run(work, _of_held_scope(self._open_sql(opened), scope))

    def _scoped_work(self, scope: Scope | None, work: Callable[[Sql], T]) -> Callable[[Connection], T]:
        return lambda opened: work(_of_scope(self._open_sql(opened), scope))


class SharedTables(_Joined):
    """The engine that `open_shared_tables` returns. Its transactions see all users."""

    def write(self, work: Callable[[Sql], T]) -> T:
        """The result of `work`, once all its writes are durable. It runs in the caller's context, and may run again.

        Raises StorageUnavailable with nothing written, or what `work` raises.
        """
        return self._answer(WRITE, work)

    def read(self, work: Callable[[Sql], T]) -> T:
        """The result of `work` over one snapshot. Raises StorageUnavailable, or what `work` raises."""
        return self._answer(READ, work)

    def empty_log(self) -> None:
        """Nothing: as with the other engine."""

    def _answer(self, begin: bytes, work: Callable[[Sql], T]) -> T:
        context = copy_context()
        return self._open_pool().answer_now(
            begin + _sight_of(None), lambda connection: context.copy().run(work, self._open_sql(connection))
        )


def _closed_error(name: str) -> StorageUnavailable:
    return StorageUnavailable(f"{name} is closed: the program is stopping.")


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


_: tuple[type[Engine], type[FileEngine]] = (PostgresEngine, SharedTables)  # checked, never run
