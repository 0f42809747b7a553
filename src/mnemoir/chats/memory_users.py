"""The users that memories and conversations are kept for, as they are offered to people who are invited."""

from collections.abc import Sequence

from mnemoir.chats.conversations import Conversations
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import MemoryStore


async def memory_users(store: MemoryStore, tenant: str) -> Sequence[str]:
    """The users of a tenant who have memories, by name."""
    return sorted({owner.user for owner in await store.owners(tenant)})


async def has_something(
    store: MemoryStore, conversations: Conversations, tenant: str, user: str, default_project: str
) -> bool:
    """Whether a user of a tenant has memories in some project, or conversations in a project with memories."""
    owners = await store.owners(tenant)
    if any(owner.user == user for owner in owners):
        return True
    projects = {default_project, *(owner.project for owner in owners)}
    found = [await conversations.exist(Scope(tenant=tenant, project=name, user=user)) for name in projects]
    return any(found)
