"""Which users have a file of conversations, which must be there from then on: a mark in the row of their scope."""

from collections.abc import Iterable, Sequence

from mnemoir.core.scope import Scope
from mnemoir.storage.sql.engine import Engine, Sql, enter_scope, of_scope, queries

_QUERIES = queries("conversation_marks")


class ConversationMarks:
    """`db` is the caller's. Raises StorageUnavailable."""

    def __init__(self, db: Engine) -> None:
        self._db = db

    async def has(self, scope: Scope) -> bool:
        """Whether the scope's owner has a file of conversations."""
        return bool(await self._db.read(scope, lambda sql: sql.value(_QUERIES["has_conversations"])))

    async def put(self, scope: Scope) -> None:
        """Note that the owner has a file."""
        await self._db.write(scope, lambda sql: enter_scope(sql, scope.owner).run(_QUERIES["mark"], is_there=1))

    async def drop(self, scope: Scope) -> None:
        """Note that the owner has none."""
        await self._db.write(scope, lambda sql: sql.run(_QUERIES["mark"], is_there=0))

    async def replace(self, scopes: Iterable[Scope]) -> None:
        """Note that these owners have a file, and no other ones."""

        def put_all(sql: Sql) -> None:
            sql.run(_QUERIES["unmark_all"])
            for scope in scopes:
                enter_scope(of_scope(sql, scope), scope).run(_QUERIES["mark"], is_there=1)

        await self._db.write(None, put_all)

    async def all(self) -> Sequence[Scope]:
        """All who have a file, by tenant, project and user."""
        return await self._db.read(None, marked_scopes)


def marked_scopes(sql: Sql) -> Sequence[Scope]:
    """Whose file of conversations must be there, by tenant, project and user."""
    return [
        Scope(tenant=tenant, project=project, user=user) for tenant, project, user in sql.rows(_QUERIES["marked"])
    ]
