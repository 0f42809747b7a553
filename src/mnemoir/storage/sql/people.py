"""Everything that the tables of `mnemoir.db` hold of a person, to be exported, counted and erased."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mnemoir.core.errors import Conflict
from mnemoir.core.scope import Scope
from mnemoir.storage.sql.engine import Engine, Sql, of_scope, owner_values, queries

_QUERIES = queries("people")
_JSON = ("metadata", "extra", "state", "turns", "applied", "proposed")
# by the name of a file of the export: the query and its columns
_TABLES: Mapping[str, tuple[str, Sequence[str]]] = {
    "memories": (
        "states",
        (
            *("seq", "id", "kind", "agent", "app", "conversation", "role", "speaker", "created_at", "updated_at"),
            *("expires_on", "valid_to", "replaced_by", "text", "metadata", "extra"),
        ),
    ),
    "history": (
        "events",
        (
            *("number", "memory_id", "event", "at", "reason", "model", "source_id", "change_id", "undo_of", "agent"),
            *("app", "conversation", "old_text", "new_text", "state"),
        ),
    ),
    "sources": ("turns", ("id", "session", "turns")),
    "proposals": (
        "waiting",
        (
            *("number", "id", "event", "memory_id", "agent", "app", "conversation", "reason", "at", "successor"),
            *("model", "session", "source_id", "text", "previous_text", "state"),
        ),
    ),
    "receipts": ("answers", ("key", "reason", "given_at", "applied", "proposed")),
    "personal_data": ("values", ("label", "kind", "number", "about", "session_id", "original")),
}


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
        """How many rows a user has in each table of `tables`."""
        counts = await self._db.read(scope, lambda sql: sql.row(_QUERIES["amounts"]))
        return dict(zip(_TABLES, counts, strict=True))

    async def tables(self, scope: Scope) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """All rows of a user by table, without what is derived of their words."""
        return await self._db.read(scope, lambda sql: {name: [*_told(sql, *how)] for name, how in _TABLES.items()})

    async def give(self, scope: Scope, user: str) -> bool:
        """Give all rows of a user to another one, who has none; False when there were none to give.

        Raises Conflict, with nothing changed, for one who has rows, and for rows with keys of their own.
        """
        new = Scope(tenant=scope.tenant, project=scope.project, user=user)

        def work(sql: Sql) -> bool:
            given, taken = of_scope(sql, scope), of_scope(sql, new)
            if given.scope_id is None:
                return False
            if _is_true(taken, "has_rows"):
                raise Conflict(
                    f"There are memories of {user[:80]!r} in the project {scope.project!r} already, so none move.",
                    code="memories_exist",
                )
            if given.row(_QUERIES["has_key"]) is not None:
                raise Conflict(
                    f"The memories of {scope.user[:80]!r} are, or were, encrypted with a key of their own, so they "
                    "cannot be moved.",
                    code="memories_encrypted",
                )
            taken.run(_QUERIES["drop_name"])
            given.run(_QUERIES["give_scope"], user=user)
            return True

        return await self._db.write(None, work)

    async def drop(self, scope: Scope) -> None:
        """Delete the name of a user whose rows were deleted, so that no byte of it is left."""

        def work(sql: Sql) -> None:
            sql.run(_QUERIES["drop_file_index"], **owner_values(scope))
            of_scope(sql, scope).run(_QUERIES["drop_name"])

        await self._db.write(None, work)
        await self._db.empty_log()


def _is_true(sql: Sql, query: str) -> bool:
    row = sql.row(_QUERIES[query])
    return row is not None and bool(row[0])


def _told(sql: Sql, query: str, columns: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    for row in sql.rows(_QUERIES[query]):
        yield {name: _value(name, value) for name, value in zip(columns, row, strict=True)}


def _value(name: str, value: Any) -> Any:
    if name not in _JSON or value is None:
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value  # damaged, and shown as it is
