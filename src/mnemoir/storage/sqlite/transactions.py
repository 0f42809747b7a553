"""Transactions on a SQLite connection, `Sql` over one, and the translation of SQLite's errors into ours."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw

from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.sql.cells import CELLS, Codec, sealed
from mnemoir.storage.sql.engine import Damaged, Sql, Value

FOREIGN = (apsw.Error, UnicodeDecodeError, Damaged)  # the second for a text whose bytes were damaged
_ADVICE = "Run `mnemoir doctor` to see what is wrong, or restore the file from a backup."


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
    if isinstance(cause, apsw.CorruptError | apsw.NotADBError | UnicodeDecodeError | Damaged):
        return damaged(path, str(cause))
    return StorageUnavailable(f"{path} could not be read or written: {cause}. Look at the disk and its permissions.")


def damaged(path: Path, what: str) -> StorageUnavailable:
    """The error for a damaged file, which is never silently repaired or replaced."""
    return StorageUnavailable(f"{path} is damaged ({what}) and was left as it is. {_ADVICE}")


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
    """The open transaction of `connection`. `codec` encodes bound cells; `opens_cells` decodes those of rows."""

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
        """Run a writing query; the number of changed rows."""
        self._connection.execute(query, self._bound(values))
        return self._connection.changes()

    def many(self, query: str, values: Sequence[Mapping[str, Value]], /) -> list[Any]:
        """Run the query once for each mapping; the rows of all runs, in order."""
        if ":scope_id" in query:
            values = [{"scope_id": self.scope_id, **each} for each in values]
        if self._codec is not None:
            values = [sealed(self._codec, self.scope_id, each) for each in values]
        return self._connection.executemany(query, values).fetchall()

    def _bound(self, values: dict[str, Value]) -> dict[str, Value]:
        """The values to bind, with the scope added. The dict belongs to this call alone."""
        values["scope_id"] = self.scope_id
        return values if self._codec is None else sealed(self._codec, self.scope_id, values)


def opens_cells(connection: apsw.Connection, codec: Codec | None) -> None:
    """Make the connection decode the cells of every row with the codec."""
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
