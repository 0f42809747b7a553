"""Vectors of project files in further spaces. The marks of users stand in the database."""

from collections.abc import Sequence

from mnemoir.core.memories import IndexEntry
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import SpaceVectors, Unembedded
from mnemoir.storage.files import index_table
from mnemoir.storage.files.backlog import Backlog
from mnemoir.storage.files.changing import Unbroken
from mnemoir.storage.files.workspace import project_of
from mnemoir.storage.sql.engine import Engine, Sql, enter_scope
from mnemoir.storage.sql.spaces import mark_space, marked_spaces


class FileSpaceVectors:
    """The port over project files: a marked user's messages get vectors too."""

    def __init__(self, db: Engine, backlog: Backlog, unbroken: Unbroken, space: str) -> None:
        """The `backlog` is that of the space."""
        self._db = db
        self._backlog = backlog
        self._unbroken = unbroken
        self._space = space

    async def want(self, scope: Scope) -> bool:
        """Mark the user of the scope; False when that is done already."""
        if self._space in await self._db.read(scope.owner, marked_spaces):
            return False

        def work(sql: Sql) -> bool:
            project = project_of(scope)
            is_new = mark_space(enter_scope(sql, scope.owner), self._space)
            index_table.want_vectors(sql, index_table.enter(sql, project), project)
            return is_new

        return await self._db.write(scope.owner, work)

    async def without_vector(self, model: str, *, limit: int) -> list[Unembedded]:
        """Texts whose vector in the space is to be made, of all projects, oldest entry first."""
        return await self._backlog.without_vector(model, limit=limit)

    async def put_vectors(self, model: str, filled: Sequence[tuple[Unembedded, IndexEntry]]) -> int:
        """Store vectors of texts that have not changed since; how many were stored."""
        return await self._unbroken.run(self._backlog.put(model, filled))

    async def backlog(self, model: str) -> tuple[int, int]:
        """(texts whose vector in the space is to be made, texts that need one)."""
        return await self._backlog.count(model)


_: type[SpaceVectors] = FileSpaceVectors  # checked, never run
