"""`Sql` over a transaction of SQLite whose cells are encrypted."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import apsw

from mnemoir.core.scope import Scope
from mnemoir.storage.sealing.cells import Cells, OwnCells
from mnemoir.storage.sealing.statements import Codec, Column, SealedStatements, Values
from mnemoir.storage.sql.engine import Sql, Value
from mnemoir.storage.sql.tables import SealedFile, main_file
from mnemoir.storage.sqlite.transactions import OpenSql, SqliteSql


def sealing(cells: Cells) -> OpenSql:
    """Opens `Sql` that encrypts and decrypts, over `mnemoir.db` and `runs.db`."""
    return partial(SealedSql, codec=Codec(cells=cells, file=main_file(), owner=None, shapes={}))


def sealing_own(own: OwnCells, file: SealedFile, scope_id: int | None = None) -> OpenSql:
    """The same over a file of one owner, whose rows have this scope, if any."""
    return partial(SealedSql, scope_id=scope_id, codec=Codec(cells=own.cells, file=file, owner=own.owner, shapes={}))


class SealedSql(SqliteSql):
    """The open transaction of `connection`. Raises KeyUnavailable for a cell that cannot be sealed or opened."""

    __slots__ = ("_sealed",)

    def __init__(self, connection: apsw.Connection, scope_id: int | None = None, *, codec: Codec) -> None:
        super().__init__(connection, scope_id)
        self._sealed = SealedStatements(codec, scope_id, super().row)

    def within(self, scope_id: int | None) -> "SealedSql":
        """The same transaction, for another scope."""
        return SealedSql(self._connection, scope_id, codec=self._sealed.codec)

    def rows(self, query: str, /, **values: Value) -> list[Any]:
        """Every row."""
        return list(self.each(query, **values))

    def each(self, query: str, /, **values: Value) -> Iterator[Any]:
        """The rows one by one."""
        cursor = self._execute(query, values)
        shape = self._sealed.shape(query, partial(_columns_of, cursor))
        return map(self._sealed.opener(shape, values), cursor) if shape else cursor

    def row(self, query: str, /, **values: Value) -> Any:
        """The first row."""
        return next(self.each(query, **values), None)

    def value(self, query: str, /, **values: Value) -> Any:
        """The first column of the first row."""
        row = self.row(query, **values)
        return None if row is None else row[0]

    def many(self, query: str, values: Sequence[Values], /) -> list[Any]:
        """Run the query once for each mapping; the rows of all runs, in order."""
        return [row for each in values for row in self.each(query, **each)]

    def key_of(self, scope: Scope) -> int | None:
        """The key of the scope's user, if cells are encrypted now."""
        return self._sealed.key_of(scope)

    def stored_digest(self, digest: bytes) -> bytes:
        """What is stored in place of the digest of a text."""
        return self._sealed.stored_digest(digest)

    def _execute(self, query: str, values: dict[str, Value]) -> apsw.Cursor:
        values["scope_id"] = self.scope_id
        return self._connection.execute(query, self._sealed.bindings(query, values))


def _columns_of(cursor: apsw.Cursor) -> list[Column] | None:
    try:
        return [Column(name, table, origin) for name, _, _, table, origin in cursor.description_full]
    except apsw.ExecutionCompleteError:
        return None  # no rows


_: Callable[..., Sql] = SealedSql  # checked, never run
