"""Second vectors of memories in the database, those of the multilingual model, and the marks of users who need them.

The marks serve project files too.
"""

from collections.abc import Sequence

from mnemoir.core.memories import IndexEntry
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import SecondVectors, Unembedded
from mnemoir.storage.sql.engine import Engine, Sql, entered, queries
from mnemoir.storage.sql.search_snapshot import Vectors, backlog, put_vectors, without_vector

_QUERIES = queries("changes")


def is_multilingual(sql: Sql) -> bool:
    """True when the scope's facts have second vectors."""
    counters = sql.row(_QUERIES["counters"])
    return counters is not None and bool(counters[3])


def make_multilingual(sql: Sql) -> None:
    """Mark the scope: from now on each of its facts needs a second vector."""
    sql.run(_QUERIES["make_multilingual"])


def want_second_vectors(sql: Sql) -> None:
    """Mark the scope, and have second vectors made of the facts that it has."""
    make_multilingual(sql)
    sql.run(_QUERIES["want_second_vectors"])


def _put_second(sql: Sql, entries: Sequence[tuple[int, IndexEntry]]) -> None:
    """Write the vectors of entries of the multilingual model as second ones, by `seq`."""
    sql.many(
        _QUERIES["put_second_vector"],
        [{"seq": seq, "model": entry.model, "vector": entry.vector} for seq, entry in entries],
    )


SECOND = Vectors("next_second_model", "embedded_with_second", "second_backlog", "", _put_second)


class SqlSecondVectors:
    """The port over the tables of memories."""

    def __init__(self, db: Engine) -> None:
        self._db = db

    async def want(self, scope: Scope) -> bool:
        """Mark the user as multilingual; False when that is done already."""
        if await self._db.read(scope.owner, is_multilingual):
            return False
        await self._db.write(scope.owner, lambda sql: want_second_vectors(entered(sql, scope.owner)))
        return True

    async def without_vector(self, model: str, *, limit: int) -> list[Unembedded]:
        """Texts whose second vector is to be made, of all scopes, oldest first."""
        return await self._db.read(None, lambda sql: without_vector(sql, model, limit, SECOND))

    async def put_vectors(self, model: str, filled: Sequence[tuple[Unembedded, IndexEntry]]) -> int:
        """Store second vectors of texts that have not changed since; how many were stored."""
        return await self._db.write(None, lambda sql: put_vectors(sql, model, filled, SECOND))

    async def backlog(self, model: str) -> tuple[int, int]:
        """(texts whose second vector is to be made, texts that need one)."""
        return await self._db.read(None, lambda sql: backlog(sql, model, SECOND))


_: type[SecondVectors] = SqlSecondVectors  # checked, never run
