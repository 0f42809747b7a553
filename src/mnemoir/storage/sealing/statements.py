"""What encrypts the bound cells of a statement, and decrypts those of its rows, on every database.

Which columns of a query are cells, and where the keys of their rows stand, is worked out once for each query: for a
row that is read from what the database tells of its columns, for one that is written from the name of the table. A
file of one owner has no scopes: all of its cells have that owner's key.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from mnemoir.core.scope import Scope
from mnemoir.storage.sealing.cells import Cells, Opening
from mnemoir.storage.sql.engine import Value, queries
from mnemoir.storage.sql.tables import DIGESTS, SERVER, Owner, SealedFile

_COMMENT = re.compile(r"--.*")
_WRITTEN = re.compile(r"\s*(?:(?:INSERT|REPLACE)(?: OR \w+)? INTO|UPDATE(?: OR \w+)?) (\w+)")
_SCOPES = queries("scopes")
_STATE = queries("own_files/sealing")
Values = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class _CellsOfTable:
    """Where cells of a table stand in a row of a query; `key` and `scope` are None where they are not in the row.

    `joined` is where those columns stand that may be one cell, and `as_bytes` where texts come as bytes.
    """

    table: str
    columns: Sequence[tuple[int, str]]
    joined: Sequence[int]
    as_bytes: Sequence[int]
    key: int | None
    scope: int | None


Shape = Sequence[_CellsOfTable]


@dataclass(frozen=True, slots=True)
class _Places:
    """The places of a row's cells, without the key of the row; `others` are not of the joined columns."""

    each: Sequence[tuple[int, bytes]]
    others: Sequence[tuple[int, bytes]]
    joined: bytes


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a query; table and name there are None for an expression, which may be named by both."""

    name: str
    table: str | None
    origin: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Codec:
    """What all transactions of a file share. `shapes` are the cells of each query that returned rows before."""

    cells: Cells
    file: SealedFile
    owner: Owner | None
    shapes: dict[str, Shape]

    def place(self, table: str, column: str, scope_id: object, key: object) -> bytes:
        if self.owner is not None:
            scope_id = "\1".join(self.owner)
        elif table in self.file.unscoped:
            scope_id = 0
        return f"{table}\0{column}\0{scope_id}\0{key}".encode()

    def joined_place(self, table: str, scope_id: object, key: object) -> bytes:
        return self.place(table, "+".join(self.file.joined.get(table, ())), scope_id, key)

    def places(self, cells: _CellsOfTable, scope_id: object) -> _Places:
        each = [(index, self.place(cells.table, column, scope_id, "")) for index, column in cells.columns]
        others = [(index, place) for index, place in each if index not in cells.joined]
        return _Places(each=each, others=others, joined=self.joined_place(cells.table, scope_id, ""))


class SealedStatements:
    """The cells of one transaction, within a scope. `row` gives the first row of a query without cells.

    Raises KeyUnavailable for a cell that cannot be sealed or opened.
    """

    __slots__ = ("_digest_key", "_key_id", "_row", "_scope_id", "codec")

    def __init__(self, codec: Codec, scope_id: int | None, row: Callable[[str], Any]) -> None:
        self.codec = codec
        self._scope_id = scope_id
        self._row = row
        self._key_id: int | None = None
        self._digest_key: int | None = -1

    def key_of(self, scope: Scope) -> int | None:
        """The key of the scope's user, if cells are encrypted now."""
        cells = self.codec.cells
        return cells.keys.current((scope.tenant, scope.project, scope.user)) if cells.seals else None

    def stored_digest(self, digest: bytes) -> bytes:
        """What is stored in place of the digest of a text."""
        return self.codec.cells.hash(self._hashed_by(), digest)

    def bindings(self, query: str, values: Values) -> dict[str, Value]:
        """The values that a query binds, with digests and cells as they are stored."""
        bound = dict(values)
        for name in DIGESTS:
            if isinstance(digest := values.get(name), bytes):
                bound[name] = self.stored_digest(digest)
        table = _written_table(query) if self.codec.cells.seals else ""
        if table in self.codec.file.tables:
            bound.update(self._stored_cells(table, values))
        return bound

    def shape(self, query: str, columns: Callable[[], Sequence[Column] | None]) -> Shape:
        """The cells in the rows of a query; `columns` are those of its rows, None where it returns none."""
        shape = self.codec.shapes.get(query)
        if shape is None:
            found = columns()
            if found is None:
                return ()
            shape = self.codec.shapes[query] = _cells_in(self.codec.file, found)
        return shape

    def _stored_cells(self, table: str, values: Values) -> dict[str, Value]:
        """The bound cells of a row as they are stored."""
        file, scope_id = self.codec.file, self._scope_id
        cells = {column: cell for column in file.tables[table] if isinstance(cell := values.get(column), str | bytes)}
        if not cells:
            return {}
        if self._scope_id is None and self.codec.owner is None and table not in file.unscoped:
            return dict.fromkeys(cells)  # no row has this scope, and it has no key
        key, joined, sealed_by = values[file.row_keys[table]], file.joined.get(table, ()), self._sealed_by(table)
        stored: dict[str, Value] = {}
        if joined and joined[0] in cells:
            place = self.codec.joined_place(table, scope_id, key)
            one = self.codec.cells.seal_joined(sealed_by, place, [cells.pop(column, None) for column in joined])
            stored = {joined[0]: one, **dict.fromkeys(joined[1:], b"")}
        for column, cell in cells.items():
            place = self.codec.place(table, column, scope_id, key)
            stored[column] = self.codec.cells.seal(sealed_by, place, cell)
        return stored

    def opener(self, shape: Shape, values: Values) -> Callable[[Any], tuple[Any, ...]]:
        """The function that decrypts the cells of a row."""
        opening, codec = Opening(self.codec.cells.keys), self.codec
        placed = [(cells, codec.places(cells, self._scope_id)) for cells in shape]

        def plain_row(row: Any) -> tuple[Any, ...]:
            found = list(row)
            for cells, places in placed:
                if cells.scope is not None:
                    places = codec.places(cells, row[cells.scope])
                for index in cells.as_bytes:
                    if isinstance(text := found[index], bytes):
                        found[index] = text.decode("utf-8", "replace")
                key = values[codec.file.row_keys[cells.table]] if cells.key is None else row[cells.key]
                key = key if isinstance(key, bytes) else str(key).encode()
                is_one = cells.joined and opening.open_joined(found, cells.joined, places.joined + key)
                opening.open_row(found, places.others if is_one else places.each, key)
            return tuple(found)

        return plain_row

    def _sealed_by(self, table: str) -> int:
        """The key of new cells: that of the file's owner or the scope's user, for an unscoped row the server's.

        Lists of jobs and runs go over all users, and must not fail with the key of one.
        """
        if table in self.codec.file.unscoped:
            return self.codec.cells.keys.current(SERVER)
        if self._key_id is None:
            if (owner := self.codec.owner) is None:
                tenant, project, user, _ = self._scope_row()
                owner = tenant, project, user
            self._key_id = self.codec.cells.keys.current(owner)
        return self._key_id

    def _hashed_by(self) -> int | None:
        if self._digest_key == -1:
            if self.codec.owner is not None:
                self._digest_key = self._row(_STATE["sealing_state"])[0]
            else:
                self._digest_key = None if self._scope_id is None else self._scope_row()[3]
        return self._digest_key

    def _scope_row(self) -> Any:
        return self._row(_SCOPES["owner_of_scope"])


@cache
def _written_table(query: str) -> str:
    """The table that a query writes to; "" for one that does not begin like that."""
    found = _WRITTEN.match(_COMMENT.sub("", query))
    return "" if found is None else found[1]


def _cells_in(file: SealedFile, columns: Sequence[Column]) -> Shape:
    """The cells among the columns of a row. Of an expression the name tells, as the marker `cell` gives it."""
    found: dict[str, list[tuple[int, str]]] = {table: [] for table in file.tables}
    for index, column in enumerate(columns):
        table, name = column.table, column.origin
        if table is None:
            table, _, name = column.name.partition(".")
        if table is not None and name is not None and name in file.tables.get(table, ()):
            found[table].append((index, name))
    return [
        _CellsOfTable(
            table=table,
            columns=cells,
            joined=_joined_in(file, table, cells),
            as_bytes=[index for index, _ in cells if columns[index].table is None],
            key=_index_of(columns, table, file.row_keys[table]),
            scope=_index_of(columns, table, "scope_id"),
        )
        for table, cells in found.items()
        if cells
    ]


def _joined_in(file: SealedFile, table: str, cells: Sequence[tuple[int, str]]) -> Sequence[int]:
    """Where the joined columns of a table stand in a row that has them."""
    names, found = file.joined.get(table, ()), {name: index for index, name in cells}
    missing = [name for name in names if name not in found]
    if missing and len(missing) < len(names):
        raise AssertionError(
            f"A query of {table} returns some but not all of {', '.join(names)}: they may be one cell."
        )
    return [found[name] for name in names if not missing]


def _index_of(columns: Sequence[Column], table: str, name: str) -> int | None:
    """Where a column of the table stands; else one of that name of a table that is joined by it, or of a view."""
    of_table = [index for index, column in enumerate(columns) if (column.table, column.origin) == (table, name)]
    alike = [index for index, column in enumerate(columns) if name in (column.origin, column.name)]
    return next(iter((*of_table, *alike)), None)
