"""The one place where a transaction on a SQLite connection begins and ends, and how stores see it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import apsw

from mnemoir.storage.sql.cells import CELLS, Codec, sealed
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
    """The transaction that `connection` has open. Cells pass `codec`; rows pass it by `opens_cells`."""

    __slots__ = ("_codec", "_connection", "scope_id")

    def __init__(self, connection: apsw.Connection, scope_id: int | None = None, codec: Codec | None = None) -> None:
        self._connection = connection
        self._codec = codec
        self.scope_id = scope_id

    def within(self, scope_id: int | None) -> "SqliteSql":
        """The same transaction, for another scope."""
        return SqliteSql(self._connection, scope_id, self._codec)

    def rows(self, query: str, /, **values: Value) -> list[Any]:
        """Every row."""
        return self._connection.execute(query, self._bound(values)).fetchall()

    def each(self, query: str, /, **values: Value) -> Iterator[Any]:
        """The rows one by one."""
        return self._connection.execute(query, self._bound(values))

    def row(self, query: str, /, **values: Value) -> Any:
        """The first row."""
        return self._connection.execute(query, self._bound(values)).fetchone()

    def value(self, query: str, /, **values: Value) -> Any:
        """The first column of the first row."""
        row = self._connection.execute(query, self._bound(values)).fetchone()
        return None if row is None else row[0]

    def run(self, query: str, /, **values: Value) -> int:
        """How many rows were changed."""
        self._connection.execute(query, self._bound(values))
        return self._connection.changes()

    def many(self, query: str, values: Sequence[Mapping[str, Value]], /) -> list[Any]:
        """Once for each mapping."""
        if ":scope_id" in query:
            values = [{"scope_id": self.scope_id, **each} for each in values]
        if self._codec is not None:
            values = [sealed(self._codec, self.scope_id, each) for each in values]
        return self._connection.executemany(query, values).fetchall()

    def _bound(self, values: dict[str, Value]) -> dict[str, Value]:
        """With the scope. The dict is of the call alone: nothing else has it."""
        values["scope_id"] = self.scope_id
        return values if self._codec is None else sealed(self._codec, self.scope_id, values)


def opens_cells(connection: apsw.Connection, codec: Codec | None) -> None:
    """Let every row that the connection gives pass the codec."""
    if codec is None:
        return
    open_cell = codec.open

    def opened(cursor: apsw.Cursor, row: tuple[Any, ...]) -> tuple[Any, ...]:
        names = (name for name, *_ in cursor.description)
        return tuple(
            open_cell(cell) if name in CELLS and isinstance(cell, str | bytes) else cell
            for name, cell in zip(names, row, strict=True)
        )

    connection.row_trace = opened


_: type[Sql] = SqliteSql  # checked, never run
