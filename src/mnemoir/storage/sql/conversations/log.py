"""The log of one scope: `SqlLog`, over a file of one owner or over the rows of one user in a database of all.

Related writes are one transaction: a message with its session's activity, a deletion with the notes of the vectors
that it leaves behind.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import TypeVar

from mnemoir.core.clock import Clock, utc_now
from mnemoir.core.scope import Scope
from mnemoir.ports.log import Log
from mnemoir.storage.sql.conversations.all_logs import amounts_of
from mnemoir.storage.sql.conversations.recalled import RecalledTables
from mnemoir.storage.sql.conversations.sessions import SessionTables
from mnemoir.storage.sql.conversations.store import Transaction
from mnemoir.storage.sql.conversations.trees import TreeTables
from mnemoir.storage.sql.conversations.vector_notes import VectorTables
from mnemoir.storage.sql.conversations.windows import WindowTables
from mnemoir.storage.sql.engine import Engine, LogAmounts, ScopedEngine, Sql, enter_scope, log_scope, queries

T = TypeVar("T")
_SCOPES = queries("scopes")


class SqlLog(SessionTables, WindowTables, TreeTables, VectorTables, RecalledTables):
    """Thread-safe; every method blocks and raises StorageUnavailable when the database cannot be read or written."""

    def __init__(self, file: ScopedEngine, clock: Clock = utc_now) -> None:
        """`file` is closed with the log."""
        self._file = file
        self._clock = clock

    def with_clock(self, clock: Clock) -> "SqlLog":
        """The same log with another clock."""
        return SqlLog(self._file, clock)

    def together(self, work: Callable[[Log], T]) -> T:
        """The result of `work`, which reads and writes in one transaction and may run again."""
        return self._file.write(lambda sql: work(SqlLog(Transaction(file=self._file, sql=sql), self._clock)))

    def close(self) -> None:
        """Close the file; nothing is read or written afterwards. A second call is harmless."""
        self._file.close()


class ScopeRows:
    """The rows of one user in the database of all."""

    def __init__(self, database: Engine, scope: Scope) -> None:
        """`database` is the caller's."""
        self.name = database.name
        self._database = database
        self._scope = log_scope(scope)

    def write(self, work: Callable[[Sql], T]) -> T:
        """The result of `work`, in a transaction in which nobody else writes rows of the user."""
        return self._database.write_now(self._scope, work)

    def read(self, work: Callable[[Sql], T]) -> T:
        """The result of `work` over one snapshot."""
        return self._database.read_now(self._scope, work)

    def enter(self, sql: Sql) -> Sql:
        """The transaction within the user's scope, which is made if there is none."""
        return enter_scope(sql, self._scope)

    def count(self, sql: Sql, added: LogAmounts) -> None:
        """Add to the counters of the user's scope."""
        if added != LogAmounts():
            sql.run(_SCOPES["count_log"], **asdict(added))

    def turn(self) -> AbstractContextManager[object]:
        """That of the database."""
        return self._database.turn()

    def amounts(self) -> LogAmounts:
        """What these counters say."""
        row = self.read(lambda sql: sql.row(_SCOPES["log_amounts"]))
        return LogAmounts() if row is None else amounts_of(row)

    def epoch(self) -> str:
        """The same for ever: ids are given once."""
        return ""

    def empty_log(self) -> None:
        """Remove the bytes of deleted content from all files."""
        self._database.empty_log_now()

    def close(self) -> None:
        """Nothing: the database is another's."""


_: tuple[type[Log], type[ScopedEngine]] = (SqlLog, ScopeRows)  # checked, never run
