"""`Sql` over a transaction whose cells are encrypted: it encrypts bound cells, and decrypts those of rows.

Which columns of a query are cells, and where the keys of their rows stand, is worked out once for each query: for a
row that is read from what SQLite tells of its columns, for one that is written from the name of the table.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import apsw

from mnemoir.core.scope import Scope
from mnemoir.storage.sealing.cells import Cells, Opening
from mnemoir.storage.sql.engine import Sql, Value, queries
from mnemoir.storage.sql.tables import DIGESTS, ROW_KEYS, SEALED_TABLES, SERVER, UNSCOPED_TABLES
from mnemoir.storage.sqlite.transactions import OpenSql, SqliteSql

_COMMENT = re.compile(r"--.*")
_WRITTEN = re.compile(r"\s*(?:(?:INSERT|REPLACE)(?: OR \w+)? INTO|UPDATE(?: OR \w+)?) (\w+)")
Values = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class _CellsOfTable:
    """Where cells of a table stand in a row of a query; `key` and `scope` are None where they are not in the row."""

    table: str
    columns: Sequence[tuple[int, str]]
    key: int | None
    scope: int | None


def sealing(cells: Cells) -> OpenSql:
    """Opens `Sql` that encrypts and decrypts."""
    return partial(SealedSql, cells=cells, shapes={})


class SealedSql(SqliteSql):
    """The open transaction of `connection`. `shapes` are the cells of each query that returned rows before.

    Raises KeyUnavailable for a cell that cannot be encrypted or decrypted.
    """

    __slots__ = ("_cells", "_digest_key", "_key_id", "_shapes")

    def __init__(
        self,
        connection: apsw.Connection,
        scope_id: int | None = None,
        *,
        cells: Cells,
        shapes: dict[str, Sequence[_CellsOfTable]],
    ) -> None:
        super().__init__(connection, scope_id)
        self._cells = cells
        self._shapes = shapes
        self._key_id: int | None = None
        self._digest_key: int | None = -1

    def within(self, scope_id: int | None) -> "SealedSql":
        """The same transaction, for another scope."""
        return SealedSql(self._connection, scope_id, cells=self._cells, shapes=self._shapes)

    def rows(self, query: str, /, **values: Value) -> list[Any]:
        """Every row."""
        return list(self.each(query, **values))

    def each(self, query: str, /, **values: Value) -> Iterator[Any]:
        """The rows one by one."""
        cursor = self._done(query, values)
        shape = self._shape(query, cursor)
        return map(self._opener(shape, values), cursor) if shape else cursor

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
        return self._cells.keys.current((scope.tenant, scope.project, scope.user)) if self._cells.seals else None

    def _done(self, query: str, values: dict[str, Value]) -> apsw.Cursor:
        values["scope_id"] = self.scope_id
        bound = dict(values)
        for name in DIGESTS:
            if isinstance(digest := values.get(name), bytes):
                bound[name] = self._cells.hash(self._hashed_by(), digest)
        table = _written_table(query) if self._cells.seals else None
        if table is not None:
            for column in SEALED_TABLES[table]:
                if isinstance(cell := values.get(column), str | bytes):
                    place = _place(table, column, self.scope_id, values[ROW_KEYS[table]])
                    bound[column] = self._cells.seal(self._sealed_by(table), place, cell)
        return self._connection.execute(query, bound)

    def _shape(self, query: str, cursor: apsw.Cursor) -> Sequence[_CellsOfTable]:
        shape = self._shapes.get(query)
        if shape is None:
            try:
                columns = [(table, origin) for *_, table, origin in cursor.description_full]
            except apsw.ExecutionCompleteError:
                return ()  # no rows
            shape = self._shapes[query] = _cells_in(columns)
        return shape

    def _opener(self, shape: Sequence[_CellsOfTable], values: Values) -> Callable[[Any], tuple[Any, ...]]:
        """The function that decrypts the cells of a row."""
        opening = Opening(self._cells.keys)
        placed = [(cells, _places(cells, self.scope_id)) for cells in shape]

        def opened(row: Any) -> tuple[Any, ...]:
            found = list(row)
            for cells, places in placed:
                if cells.scope is not None:
                    places = _places(cells, row[cells.scope])
                key = values[ROW_KEYS[cells.table]] if cells.key is None else row[cells.key]
                opening.open_row(found, places, str(key).encode())
            return tuple(found)

        return opened

    def _sealed_by(self, table: str) -> int:
        """The key of new cells: that of the scope's user, for an unscoped row that of the server.

        Lists of jobs and runs go over all users, and must not fail with the key of one.
        """
        if table in UNSCOPED_TABLES:
            return self._cells.keys.current(SERVER)
        if self._key_id is None:
            tenant, project, user, _ = self._scope_row()
            self._key_id = self._cells.keys.current((tenant, project, user))
        return self._key_id

    def _hashed_by(self) -> int | None:
        if self._digest_key == -1:
            self._digest_key = None if self.scope_id is None else self._scope_row()[3]
        return self._digest_key

    def _scope_row(self) -> Any:
        return self._connection.execute(_SCOPES["owner_of_scope"], {"scope_id": self.scope_id}).fetchone()


_SCOPES = queries("scopes")
_: Callable[..., Sql] = SealedSql  # checked, never run


@cache
def _written_table(query: str) -> str | None:
    """The table that a query writes to; None when it has no cells that are encrypted."""
    found = _WRITTEN.match(_COMMENT.sub("", query))
    return found[1] if found is not None and found[1] in SEALED_TABLES else None


def _cells_in(columns: Sequence[tuple[str | None, str | None]]) -> Sequence[_CellsOfTable]:
    """The cells among the columns of a row, each given as (table, name there)."""
    names = [name for _, name in columns]
    found = {
        table: [
            (index, name)
            for index, (of, name) in enumerate(columns)
            if of == table and name is not None and name in sealed
        ]
        for table, sealed in SEALED_TABLES.items()
    }
    return [
        _CellsOfTable(
            table=table,
            columns=cells,
            key=_index_of(columns, names, table, ROW_KEYS[table]),
            scope=_index_of(columns, names, table, "scope_id"),
        )
        for table, cells in found.items()
        if cells
    ]


def _index_of(
    columns: Sequence[tuple[str | None, str | None]], names: Sequence[str | None], table: str, name: str
) -> int | None:
    """Where a column of the table stands; else one of that name of a table that is joined by it."""
    if (table, name) in columns:
        return columns.index((table, name))
    return names.index(name) if name in names else None


def _places(cells: _CellsOfTable, scope_id: object) -> Sequence[tuple[int, bytes]]:
    return [(index, _place(cells.table, column, scope_id, "")) for index, column in cells.columns]


def _place(table: str, column: str, scope_id: object, key: object) -> bytes:
    scope = 0 if table in UNSCOPED_TABLES else scope_id
    return f"{table}\0{column}\0{scope}\0{key}".encode()
