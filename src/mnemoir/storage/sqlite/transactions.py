"""The one place where a transaction on a SQLite connection begins and ends, and how stores see it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import apsw

from mnemoir.storage.sql.engine import Sql, Value


class transaction:  # read like the function it was: a generator costs a microsecond more
    """Commit what the body does, or undo it when it raises. One that only reads never waits for a writer."""

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
        with suppress(apsw.Error):  # the failure that led here is raised; a transaction is over even so
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")


class SqliteSql:
    """The transaction that `connection` has open."""

    __slots__ = ("_connection", "scope_id")

    def __init__(self, connection: apsw.Connection, scope_id: int | None = None) -> None:
        self._connection = connection
        self.scope_id = scope_id

    def within(self, scope_id: int | None) -> "SqliteSql":
        """The same transaction, for another scope."""
        return SqliteSql(self._connection, scope_id)

    def rows(self, query: str, /, **values: Value) -> list[Any]:
        """Every row."""
        values["scope_id"] = self.scope_id  # of the call alone: nothing else has this dict
        return self._connection.execute(query, values).fetchall()

    def each(self, query: str, /, **values: Value) -> Iterator[Any]:
        """The rows one by one."""
        values["scope_id"] = self.scope_id
        return self._connection.execute(query, values)

    def row(self, query: str, /, **values: Value) -> Any:
        """The first row."""
        values["scope_id"] = self.scope_id
        return self._connection.execute(query, values).fetchone()

    def value(self, query: str, /, **values: Value) -> Any:
        """The first column of the first row."""
        values["scope_id"] = self.scope_id
        row = self._connection.execute(query, values).fetchone()
        return None if row is None else row[0]

    def run(self, query: str, /, **values: Value) -> int:
        """How many rows were changed."""
        values["scope_id"] = self.scope_id
        self._connection.execute(query, values)
        return self._connection.changes()

    def many(self, query: str, values: Sequence[Mapping[str, Value]], /) -> list[Any]:
        """Once for each mapping."""
        if ":scope_id" in query:
            values = [{"scope_id": self.scope_id, **each} for each in values]
        return self._connection.executemany(query, values).fetchall()


_: type[Sql] = SqliteSql  # checked, never run
