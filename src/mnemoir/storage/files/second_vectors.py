"""Second vectors of project files: those of the multilingual model. The marks of users stand in the database."""

from collections.abc import Sequence

from mnemoir.core.memories import IndexEntry
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import SecondVectors, Unembedded
from mnemoir.storage.files import index_table
from mnemoir.storage.files.backlog import Backlog
from mnemoir.storage.files.changing import Unbroken
from mnemoir.storage.files.workspace import project_of
from mnemoir.storage.sql.engine import Engine, Sql, entered
from mnemoir.storage.sql.second_vectors import is_multilingual, make_multilingual


class FileSecondVectors:
    """The port over project files: a marked user's messages get second vectors too, whatever their language."""

    def __init__(self, db: Engine, backlog: Backlog, unbroken: Unbroken) -> None:
        self._db = db
        self._backlog = backlog
        self._unbroken = unbroken

    async def want(self, scope: Scope) -> bool:
        """Mark the user as multilingual; False when that is done already."""
        if await self._db.read(scope.owner, is_multilingual):
            return False

        def work(sql: Sql) -> None:
            project = project_of(scope)
            make_multilingual(entered(sql, scope.owner))
            index_table.want_second_vectors(sql, index_table.enter(sql, project), project)

        await self._db.write(scope.owner, work)
        return True

    async def without_vector(self, model: str, *, limit: int) -> list[Unembedded]:
        """Texts whose second vector is to be made, of all projects, oldest entry first."""
        return await self._backlog.without_vector(model, limit=limit)

    async def put_vectors(self, model: str, filled: Sequence[tuple[Unembedded, IndexEntry]]) -> int:
        """Store second vectors of texts that have not changed since; how many were stored."""
        return await self._unbroken.run(self._backlog.put(model, filled))

    async def backlog(self, model: str) -> tuple[int, int]:
        """(texts whose second vector is to be made, texts that need one)."""
        return await self._backlog.count(model)


_: type[SecondVectors] = FileSecondVectors  # checked, never run
