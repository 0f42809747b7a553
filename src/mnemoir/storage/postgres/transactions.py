"""`Sql` over an open transaction of PostgreSQL.

Stores name a query by its SQLite text; `named_queries` has its form for PostgreSQL. Where one writer was enough for
SQLite, a transaction holds what it decides about: the row of its scope from its begin, and a name while it asks for
`hold`.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.types.numeric import Int4

from mnemoir.core.scope import Scope
from mnemoir.core.text import without_zeros
from mnemoir.storage.named_queries import postgres_form
from mnemoir.storage.sql.engine import Sql, Value

Connection = psycopg.Connection[tuple[Any, ...]]
_LIST = re.compile(r"%\((\w+)\)s::jsonb")
_ESCAPED_ZERO = r"\u0000"
_HOLD = "SELECT pg_advisory_xact_lock(hashtextextended(%(name)s::text, 0))"


class PostgresSql:
    """The open transaction of `connection`."""

    __slots__ = ("_connection", "scope_id")

    def __init__(self, connection: Connection, scope_id: int | None = None) -> None:
        self._connection = connection
        self.scope_id = scope_id

    def within(self, scope_id: int | None) -> "PostgresSql":
        """The same transaction, for another scope."""
        return PostgresSql(self._connection, scope_id)

    def rows(self, query: str, /, **values: Value) -> list[Any]:
        """Every row."""
        cursor = self._execute(query, values)
        return cursor.fetchall() if cursor.description is not None else []

    def each(self, query: str, /, **values: Value) -> Iterator[Any]:
        """The rows one by one, as they come from the server."""
        with self._connection.cursor() as cursor:
            yield from self._stream(cursor, query, values)

    def row(self, query: str, /, **values: Value) -> Any:
        """The first row."""
        cursor = self._execute(query, values)
        return cursor.fetchone() if cursor.description is not None else None

    def value(self, query: str, /, **values: Value) -> Any:
        """The first column of the first row."""
        row = self.row(query, **values)
        return None if row is None else row[0]

    def run(self, query: str, /, **values: Value) -> int:
        """Run a writing query; the number of changed rows."""
        return self._execute(query, values).rowcount

    def many(self, query: str, values: Sequence[Mapping[str, Value]], /) -> list[Any]:
        """Run the query once for each mapping; the rows of all runs, in order."""
        return [row for each in values for row in self.rows(query, **each)]

    def hold(self, name: str) -> None:
        """Wait until no other transaction holds the name, and hold it until this one ends."""
        self._connection.execute(_HOLD, {"name": name})

    def key_of(self, scope: Scope) -> int | None:
        """None: digests are bare."""
        return None

    def stored_digest(self, digest: bytes) -> bytes:
        """The digest itself: these cells are not encrypted."""
        return digest

    def _execute(self, query: str, values: Mapping[str, Value]) -> psycopg.Cursor[tuple[Any, ...]]:
        statement = form_of(query)
        return self._connection.execute(statement, self._bindings(query, values))

    def _stream(
        self, cursor: psycopg.Cursor[tuple[Any, ...]], query: str, values: Mapping[str, Value]
    ) -> Iterator[Any]:
        statement = form_of(query)
        return cursor.stream(statement, self._bindings(query, values))

    def _bindings(self, query: str, values: Mapping[str, Value]) -> dict[str, Value]:
        """The values with the scope."""
        bound = {name: _of_postgres(value) for name, value in values.items()}
        for name in lists_of(query):
            if isinstance(listed := bound.get(name), str) and _ESCAPED_ZERO in listed:
                bound[name] = json.dumps([_of_postgres(value) for value in json.loads(listed)])
        return {"scope_id": self.scope_id, **bound}


class _Number(Loader):
    """A sum of whole numbers, which PostgreSQL gives as `numeric`."""

    def load(self, data: Buffer) -> int | float:
        text = bytes(data).decode("ascii")
        return int(text) if text.lstrip("-").isdigit() else float(text)


def set_up(connection: Connection) -> None:
    """Have a new connection give values as SQLite gives them."""
    connection.adapters.register_loader("numeric", _Number)
    connection.prepare_threshold = None  # nothing of a transaction outlives it


@lru_cache(maxsize=2048)
def form_of(query: str) -> bytes:
    """PostgreSQL's form of a query, by its SQLite text."""
    return postgres_form(query).encode()


@lru_cache(maxsize=2048)
def lists_of(query: str) -> Sequence[str]:
    """The values of a query, by its SQLite text, that are lists in JSON."""
    return _LIST.findall(postgres_form(query))


def _of_postgres(value: Value) -> Value:
    """The value as PostgreSQL takes it: a text without U+0000, which it cannot hold, and 0 or 1 for a truth."""
    if isinstance(value, str):
        return without_zeros(value)
    return Int4(value) if isinstance(value, bool) else value


_: type[Sql] = PostgresSql  # checked, never run
