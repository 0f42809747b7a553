"""Who has data here: every user, and the projects in which one person has any."""

from collections.abc import Sequence

from mnemoir.chats.conversations import Conversations
from mnemoir.core.scope import DEFAULT_TENANT, Scope
from mnemoir.ports.memory_store import MemoryStore
from mnemoir.ports.run_store import RunStore
from mnemoir.storage.sql.holds import Holds
from mnemoir.storage.sql.people import People


class Everybody:
    """Looks in the database, in project files, in the folders of conversations and at runs."""

    def __init__(
        self, rows: People, store: MemoryStore, conversations: Conversations, runs: RunStore, holds: Holds
    ) -> None:
        self.rows = rows
        self._store = store
        self._conversations = conversations
        self._runs = runs
        self._holds = holds

    async def owners(self) -> Sequence[Scope]:
        """Every user with memories who is not on hold. Raises StorageUnavailable."""
        held = {(hold.tenant, hold.user) for hold in await self._holds.all()}
        return [scope for scope in await self._all() if (scope.tenant, scope.user) not in held]

    async def all(self) -> Sequence[Scope]:
        """Every user with memories, or with conversations in a folder whose name tells. Raises StorageUnavailable."""
        return list(dict.fromkeys([*await self._all(), *await self._conversations.owners()]))

    async def projects_of(self, tenant: str, user: str) -> Sequence[str]:
        """The projects in which a user has, or had, anything, by name. Raises StorageUnavailable."""
        known = [scope for scope in await self._all() if scope.tenant == tenant]
        return sorted(
            {
                *(scope.project for scope in known if scope.user == user),
                *await self._conversations.projects_of(tenant, user, {scope.project for scope in known}),
                *await self._runs.projects_of(tenant, user),
            }
        )

    async def _all(self) -> Sequence[Scope]:
        found = dict.fromkeys(await self.rows.all())
        for tenant in {DEFAULT_TENANT, *(scope.tenant for scope in found)}:
            for owner in await self._store.owners(tenant):
                found.setdefault(Scope(tenant=tenant, project=owner.project, user=owner.user))
        return list(found)
