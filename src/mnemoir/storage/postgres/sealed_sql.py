"""`Sql` over a transaction of PostgreSQL whose cells are encrypted."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import psycopg

from mnemoir.core.scope import Scope
from mnemoir.storage.postgres.transactions import Connection, PostgresSql
from mnemoir.storage.sealing.cells import Cells
from mnemoir.storage.sealing.statements import Codec, Column, SealedStatements, Values
from mnemoir.storage.sql.engine import Sql, Value
from mnemoir.storage.sql.tables import main_file

Origins = Mapping[tuple[int, int], tuple[str, str]]  # (table, column) by the numbers that PostgreSQL has for both
OpenSql = Callable[[Connection], PostgresSql]
_ORIGINS = """
    SELECT attrelid::bigint, attnum, relname, attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
     WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND attnum > 0"""


def sealed_opener(cells: Cells, connection: Connection) -> OpenSql:
    """Opens `Sql` that encrypts and decrypts, over the database that the connection shows."""
    rows = connection.execute(_ORIGINS).fetchall()
    origins = {(table, column): (name, column_name) for table, column, name, column_name in rows}
    return partial(
        SealedPostgresSql, codec=Codec(cells=cells, file=main_file(), owner=None, shapes={}), origins=origins
    )


class SealedPostgresSql(PostgresSql):
    """The open transaction of `connection`. Raises KeyUnavailable for a cell that cannot be sealed or opened."""

    __slots__ = ("_origins", "_sealed")

    def __init__(
        self, connection: Connection, scope_id: int | None = None, *, codec: Codec, origins: Origins
    ) -> None:
        super().__init__(connection, scope_id)
        self._origins = origins
        self._sealed = SealedStatements(codec, scope_id, super().row)

    def within(self, scope_id: int | None) -> "SealedPostgresSql":
        """The same transaction, for another scope."""
        return SealedPostgresSql(self._connection, scope_id, codec=self._sealed.codec, origins=self._origins)

    def rows(self, query: str, /, **values: Value) -> list[Any]:
        """Every row."""
        cursor = self._execute(query, values)
        if cursor.description is None:
            return []
        shape = self._sealed.shape(query, partial(self._columns_of, cursor))
        rows = cursor.fetchall()
        return [*map(self._sealed.opener(shape, values), rows)] if shape else rows

    def each(self, query: str, /, **values: Value) -> Iterator[Any]:
        """The rows one by one, as they come from the server."""
        with self._connection.cursor() as cursor:
            plain_row: Callable[[Any], Any] | None = None
            for row in self._stream(cursor, query, values):
                if plain_row is None:
                    shape = self._sealed.shape(query, partial(self._columns_of, cursor))
                    plain_row = self._sealed.opener(shape, values)
                yield plain_row(row)

    def row(self, query: str, /, **values: Value) -> Any:
        """The first row."""
        return next(iter(self.rows(query, **values)), None)

    def key_of(self, scope: Scope) -> int | None:
        """The key of the scope's user, if cells are encrypted now."""
        return self._sealed.key_of(scope)

    def stored_digest(self, digest: bytes) -> bytes:
        """What is stored in place of the digest of a text."""
        return self._sealed.stored_digest(digest)

    def _bindings(self, query: str, values: Values) -> dict[str, Value]:
        return super()._bindings(query, self._sealed.bindings(query, values))

    def _columns_of(self, cursor: psycopg.Cursor[tuple[Any, ...]]) -> Sequence[Column] | None:
        result = cursor.pgresult
        if result is None:
            return None
        named = [(result.fname(at) or b"").decode() for at in range(result.nfields)]
        origins = (self._origins.get((result.ftable(at), result.ftablecol(at))) for at in range(result.nfields))
        return [Column(name, *(origin or (None, None))) for name, origin in zip(named, origins, strict=True)]


_: Callable[..., Sql] = SealedPostgresSql  # checked, never run
