"""Vectors of memories in further spaces, in the database, and the marks of users whose facts all need one.

The marks serve project files too.
"""

import json

from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import SpaceVectors
from mnemoir.storage.sql.backlogs import SqlBacklog, Vectors
from mnemoir.storage.sql.engine import Engine, Sql, enter_scope, queries
from mnemoir.storage.sql.rows import Entries, put_vectors_in

_QUERIES = queries("changes")


def marked_spaces(sql: Sql) -> frozenset[str]:
    """The spaces in which each fact of the scope needs a vector."""
    counters = sql.row(_QUERIES["counters"])
    return frozenset() if counters is None else frozenset(json.loads(counters[3]))


def mark_space(sql: Sql, space: str) -> bool:
    """Mark the scope: from now on each of its facts needs a vector in the space. False for one that is marked."""
    return sql.run(_QUERIES["mark_space"], space=space) > 0


def want_vectors(sql: Sql, space: str) -> bool:
    """Mark the scope, and have a vector made of each fact that it has. False for one that is marked already."""
    is_new = mark_space(sql, space)
    if is_new:
        sql.run(_QUERIES["want_vectors"], space=space)
    return is_new


class SqlSpaceVectors(SqlBacklog):
    """The port over the tables of memories."""

    def __init__(self, db: Engine, space: str) -> None:
        def put(sql: Sql, entries: Entries) -> Entries:
            return put_vectors_in(sql, space, entries)

        super().__init__(db, Vectors("next_model_in_space", "embedded_in_space", "space_backlog", put, space))
        self._space = space

    async def want(self, scope: Scope) -> bool:
        """Mark the user of the scope; False when that is done already."""
        if self._space in await self._db.read(scope.owner, marked_spaces):
            return False
        return await self._db.write(scope.owner, lambda sql: want_vectors(enter_scope(sql, scope.owner), self._space))


_: type[SpaceVectors] = SqlSpaceVectors  # checked, never run
