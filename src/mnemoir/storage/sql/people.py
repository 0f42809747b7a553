"""Everything that the tables of `mnemoir.db` hold of a person, to be exported, counted and erased.

Its queries are made of what `tables.py` says of each table, so a new table with a scope needs none.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mnemoir.core.scope import Scope
from mnemoir.storage.sql.engine import Engine, Sql, hold_scope, log_scope, owner_values, queries
from mnemoir.storage.sql.table_queries import TableQueries, queries_of_tables

_QUERIES = queries("people")
_DROP_SCOPE = queries("erasing")["drop_scope"]


class People:
    """`db` is the caller's. Raises StorageUnavailable."""

    def __init__(self, db: Engine) -> None:
        self._db = db

    async def projects_of(self, tenant: str, user: str) -> Sequence[str]:
        """The projects in which a user has, or had, memories, by name."""
        which = {"tenant": tenant, "user": user}
        rows = await self._db.read(None, lambda sql: sql.rows(_QUERIES["projects_of"], **which))
        return [project for (project,) in rows]

    async def all(self) -> Sequence[Scope]:
        """Every user with rows, by tenant, project and name."""
        rows = await self._db.read(None, lambda sql: sql.rows(_QUERIES["names"]))
        return [Scope(tenant=tenant, project=project, user=user) for tenant, project, user in rows]

    async def amounts(self, scope: Scope) -> Mapping[str, int]:
        """How many rows a user has in each table that an archive tells."""
        return await self._db.read(
            scope, lambda sql: {of.name: int(sql.value(of.count)) for of in _archive_queries()}
        )

    async def tables(self, scope: Scope) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """All rows of a user by table, without what is derived of their words."""
        return await self._db.read(scope, lambda sql: {of.name: [*_rows_of(sql, of)] for of in _archive_queries()})

    async def drop(self, scope: Scope) -> None:
        """Delete the name of a user, and what is left of their rows, so that no byte of it is left."""

        def drop_rows(sql: Sql) -> None:
            sql.run(_QUERIES["drop_file_index"], **owner_values(scope))
            for each in (scope, log_scope(scope)):
                within = hold_scope(sql, each)
                for of in queries_of_tables():
                    within.run(of.drop)
                within.run(_DROP_SCOPE)

        await self._db.write(None, drop_rows)
        await self._db.empty_log()


def _archive_queries() -> list[TableQueries]:
    return [of for of in queries_of_tables() if of.table.archive is not None]


def _rows_of(sql: Sql, of: TableQueries) -> Iterator[Mapping[str, Any]]:
    for row in sql.rows(of.rows):
        values = zip(of.table.columns, row, strict=True)
        yield {column: _value_of(value) if column in of.table.documents else value for column, value in values}


def _value_of(value: Any) -> Any:
    if value is None:
        return None
    try:
        return json.loads(value)
    except ValueError:
        return value  # damaged, and shown as it is
