"""The users that memories and conversations are kept for, as they are offered to people who are invited."""

from collections.abc import Sequence

from mnemoir.ports.memory_store import MemoryStore


async def memory_users(store: MemoryStore, tenant: str) -> Sequence[str]:
    """The users of a tenant who have memories, by name."""
    return sorted({owner.user for owner in await store.owners(tenant)})
