"""What a store is written against: `Sql`, one open transaction, the engines that open it, named queries, and scopes.

A store is a set of blocking functions over `Sql`. It names its queries and knows no driver, so it is written once for
every database. Two kinds of engine run it: `Engine` for the server, asynchronous and alone with its database, and
`FileEngine` for what other programs may have open too.

A scope is one row for each user of a project, whose number leads every key of that user's rows, and one more for
conversations.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from mnemoir.core.scope import Scope
from mnemoir.storage.named_queries import queries as queries
from mnemoir.storage.named_queries import subjects as subjects

T = TypeVar("T")
Row = tuple[Any, ...]
Value = str | bytes | int | float | None


class Damaged(Exception):
    """A stored value is damaged. Engines treat it like damage that the database itself detected."""


class Sql(Protocol):
    """One open transaction, for use by one thread.

    Queries are those of `queries/`, values bind by name. The transaction binds `:scope_id` itself; an unknown scope
    binds NULL, which no row has.
    """

    @property
    def scope_id(self) -> int | None:
        """The number of the transaction's scope; None for no scope, or an unknown one."""

    def within(self, scope_id: int | None) -> "Sql":
        """The same transaction, for another scope."""

    def rows(self, query: str, /, **values: Value) -> list[Any]:
        """Every row, as a tuple of its columns."""

    def each(self, query: str, /, **values: Value) -> Iterator[Any]:
        """The same rows one by one, for many or wide ones. No other query may run in the transaction meanwhile."""

    def row(self, query: str, /, **values: Value) -> Any:
        """The first row; None when there is none."""

    def value(self, query: str, /, **values: Value) -> Any:
        """The first column of the first row; None when there is none."""

    def run(self, query: str, /, **values: Value) -> int:
        """Run a writing query; the number of changed rows."""

    def many(self, query: str, values: Sequence[Mapping[str, Value]], /) -> list[Any]:
        """Run a query once for each mapping; the rows of all runs, in order."""

    def hold(self, name: str) -> None:
        """Let no other transaction hold the name until this one ends: what it sees of it stays true until then."""

    def key_of(self, scope: Scope) -> int | None:
        """The id of the key that a new scope gets for its digests; None for bare ones."""

    def stored_digest(self, digest: bytes) -> bytes:
        """What is stored in place of the digest of a text: the digest, or its keyed form where cells are encrypted.

        An empty one stays empty.
        """


class Engine(Protocol):
    """A database that this program reads and writes from its event loop. Raises StorageUnavailable."""

    @property
    def name(self) -> str:
        """What errors call it."""

    @property
    def incarnation(self) -> str | None:
        """A unique name of this opening when no other process can open the database; None when others can."""

    def version(self, subject: str) -> object | None:
        """What another program's change of the subject changes within a second; None while it is not known.

        What was read behind this look may be kept while it stays equal, but for changes of this program. Never waits.
        """

    def note_change(self, sql: Sql, subject: str) -> None:
        """Have other programs notice a change of the subject, once its transaction ends."""

    async def write(self, scope: Scope | None, work: Callable[[Sql], T]) -> T:
        """The result of `work`, once all its writes are durable; they are rolled back when it raises.

        `work` may run again and must then have the same effect. A `scope` of None means no single scope.
        """

    async def read(self, scope: Scope | None, work: Callable[[Sql], T]) -> T:
        """The result of `work` over one snapshot."""

    async def empty_log(self) -> bool:
        """Remove the bytes of deleted content from all files; False when that is done behind who reads for long."""

    def write_now(self, scope: Scope | None, work: Callable[[Sql], T]) -> T:
        """The same as `write`, blocking."""

    def read_now(self, scope: Scope | None, work: Callable[[Sql], T]) -> T:
        """The same as `read`, blocking."""

    def empty_log_now(self) -> bool:
        """The same as `empty_log`, blocking."""

    def turn(self) -> AbstractContextManager[object]:
        """A context that one thread is in at a time where all writes are one after the other.

        In it much is written in pieces, so that others wait for one of them and not for those of several threads.
        """


class FileEngine(Protocol):
    """A database that other programs may have open too, blocking and thread-safe. Raises StorageUnavailable."""

    @property
    def name(self) -> str:
        """What errors call it."""

    def write(self, work: Callable[[Sql], T]) -> T:
        """The result of `work` in one transaction, which is rolled back when it raises. `work` may run again."""

    def read(self, work: Callable[[Sql], T]) -> T:
        """The result of `work` over one snapshot. `work` may run again."""

    def empty_log(self) -> None:
        """Remove the bytes of deleted content from the write-ahead log, unless others are reading now."""

    def close(self) -> None:
        """Close it. May be called again."""


@dataclass(slots=True, kw_only=True)
class LogAmounts:
    """The conversations of a scope, or what a transaction adds: `bytes` are those of messages as they are stored."""

    conversations: int = 0
    messages: int = 0
    bytes: int = 0
    last_used: str | None = None  # ISO 8601, naive UTC


class ScopedEngine(FileEngine, Protocol):
    """A database of which transactions see the rows of one scope."""

    def enter(self, sql: Sql) -> Sql:
        """The transaction within the scope, which is made if there is none; before what may store its first row."""

    def count(self, sql: Sql, added: LogAmounts) -> None:
        """Add to what is counted of the scope. `sql` is within it."""

    def turn(self) -> AbstractContextManager[object] | None:
        """That of the database; None where a long transaction holds up nobody but the scope's own user."""

    def epoch(self) -> str:
        """What differs between a database and its replacement."""


def file_state(path: Path) -> tuple[tuple[int, int, int] | None, ...]:
    """What every write to a file of SQLite by any process changes, of it and of its log; None for a missing one.

    Inode, size in bytes, and time of the last change in nanoseconds. Raises OSError.
    """
    found = _status_of(f"{path}")
    return found, None if found is None else _status_of(f"{path}-wal")


def _status_of(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


_SCOPES = queries("scopes")
_OF_LOGS = "conversations"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogScope(Scope):
    """The scope of a user's conversations, which stay when all memories are forgotten."""


def log_scope(scope: Scope) -> LogScope:
    """That of the scope's user."""
    return LogScope(tenant=scope.tenant, project=scope.project, user=scope.user)


def scope_of(tenant: str, project: str, user: str, kind: str) -> Scope:
    """The scope of a row, for which `owner_values` has these values."""
    found = Scope(tenant=tenant, project=project, user=user)
    return log_scope(found) if kind == _OF_LOGS else found


def owner_values(scope: Scope) -> dict[str, str]:
    """The values that name a user in a query, and which of the user's scopes is meant."""
    kind = _OF_LOGS if isinstance(scope, LogScope) else "memories"
    return {"tenant": scope.tenant, "project": scope.project, "user": scope.user, "kind": kind}


def of_scope(sql: Sql, scope: Scope | None) -> Sql:
    """The transaction within a scope. For an unknown one, and for None, queries of a scope return no rows."""
    found = None if scope is None else sql.row(_SCOPES["scope_id"], **owner_values(scope))
    return sql.within(None if found is None else found[0])


def hold_scope(sql: Sql, scope: Scope) -> Sql:
    """The transaction within a scope that no other one writes to until this ends; several are held in order."""
    return sql.within(sql.value(_SCOPES["held_scope_id"], **owner_values(scope)))


def hold_number(sql: Sql, scope_id: int) -> Sql:
    """The same for the scope of a number."""
    within = sql.within(scope_id)
    within.run(_SCOPES["hold_number"])
    return within


def enter_scope(sql: Sql, scope: Scope) -> Sql:
    """The transaction within a scope, which is assigned a number if it has none and written to by no other one."""
    if sql.scope_id is not None:
        return sql
    sql.run(_SCOPES["enter_scope"], **owner_values(scope), hashed_by=sql.key_of(scope))
    return hold_scope(sql, scope)
