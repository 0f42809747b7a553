"""Second vectors of memories in the database: those of the multilingual model."""

from collections.abc import Sequence

from mnemoir.core.memories import IndexEntry
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import SecondVectors, Unembedded
from mnemoir.storage.sql import backlog
from mnemoir.storage.sql.engine import Engine
from mnemoir.storage.sql.entries import is_multilingual, want_second_vectors
from mnemoir.storage.sql.scopes import entered


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
        return await self._db.read(None, lambda sql: backlog.without_vector(sql, model, limit, backlog.SECOND))

    async def put_vectors(self, model: str, filled: Sequence[tuple[Unembedded, IndexEntry]]) -> int:
        """Store second vectors of texts that have not changed since; how many were stored."""
        return await self._db.write(None, lambda sql: backlog.put_vectors(sql, model, filled, backlog.SECOND))

    async def backlog(self, model: str) -> tuple[int, int]:
        """(texts whose second vector is to be made, texts that need one)."""
        return await self._db.read(None, lambda sql: backlog.backlog(sql, model, backlog.SECOND))


_: type[SecondVectors] = SqlSecondVectors  # checked, never run
