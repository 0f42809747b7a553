"""The one place where a transaction on a SQLite connection begins and ends, and how stores see it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import apsw

from mnemoir.storage.sql.engine import Sql, Value


@contextmanager
def transaction(connection: apsw.Connection, *, reads: bool = False) -> Iterator[None]:
    """Commit what the body does, or undo it when it raises. One that only reads never waits for a writer."""
    connection.execute("BEGIN" if reads else "BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(apsw.Error):  # the failure that led here is raised; a transaction is over even so
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        raise


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
        return self._executed(query, values).fetchall()

    def each(self, query: str, /, **values: Value) -> Iterator[Any]:
        """The rows one by one."""
        return self._executed(query, values)

    def row(self, query: str, /, **values: Value) -> Any:
        """The first row."""
        return self._executed(query, values).fetchone()

    def value(self, query: str, /, **values: Value) -> Any:
        """The first column of the first row."""
        row = self._executed(query, values).fetchone()
        return None if row is None else row[0]

    def run(self, query: str, /, **values: Value) -> int:
        """How many rows were changed."""
        self._executed(query, values)
        return self._connection.changes()

    def many(self, query: str, values: Sequence[Mapping[str, Value]], /) -> None:
        """Once for each mapping."""
        self._connection.executemany(query, ({"scope_id": self.scope_id, **each} for each in values)).fetchall()

    def _executed(self, query: str, values: dict[str, Value]) -> apsw.Cursor:
        values.setdefault("scope_id", self.scope_id)  # of the call alone: nobody else has this dict
        return self._connection.execute(query, values)


_: type[Sql] = SqliteSql  # checked, never run
