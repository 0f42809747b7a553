"""Second vectors of memories in the database, those of the multilingual model, and the marks of users who need them.

The marks serve project files too.
"""

from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import SecondVectors
from mnemoir.storage.sql.backlogs import SqlBacklog, Vectors
from mnemoir.storage.sql.engine import Engine, Sql, entered, queries
from mnemoir.storage.sql.rows import Entries

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


def _put_second(sql: Sql, entries: Entries) -> Entries:
    """Write the vectors of entries of the multilingual model as second ones, by `seq`; all of them."""
    sql.many(
        _QUERIES["put_second_vector"],
        [{"seq": seq, "second_model": entry.model, "second_vector": entry.vector} for seq, entry in entries],
    )
    return entries


SECOND = Vectors("next_second_model", "embedded_with_second", "second_backlog", "", _put_second)


class SqlSecondVectors(SqlBacklog):
    """The port over the tables of memories."""

    def __init__(self, db: Engine) -> None:
        super().__init__(db, SECOND)

    async def want(self, scope: Scope) -> bool:
        """Mark the user as multilingual; False when that is done already."""
        if await self._db.read(scope.owner, is_multilingual):
            return False
        await self._db.write(scope.owner, lambda sql: want_second_vectors(entered(sql, scope.owner)))
        return True


_: type[SecondVectors] = SqlSecondVectors  # checked, never run
