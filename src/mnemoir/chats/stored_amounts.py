"""What each user has stored: memories, messages, and bytes of files.

It is counted where it is stored, so the figures cannot drift. A figure is kept for some seconds, and what is added
meanwhile is added to it, so that a quota holds from one request to the next; before anything is refused, it is
counted anew. Counting within the transactions that store would add a write to each of them, in several files.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from mnemoir.chats.catalogue import place_of
from mnemoir.chats.conversations import Conversations
from mnemoir.chats.stock import size_of
from mnemoir.conversations.attachments.links import ATTACHMENTS
from mnemoir.core.cached import Cached
from mnemoir.core.usage import Stored
from mnemoir.ports.memory_store import MemoryStore, OwnerSummary

_COUNT_AGAIN_S = 5.0
_MEASURE_AGAIN_S = 60.0  # the folders of a thousand users are many files
_MOST_MEASURED = 1000  # users whose files were measured lately
ByUser = Mapping[str, int]


class StoredAmounts:
    """Counts over the stores of one server, by tenant. For one event loop. Raises StorageUnavailable."""

    def __init__(self, store: MemoryStore, conversations: Conversations) -> None:
        self._store = store
        self._conversations = conversations
        self._owners: dict[str, Cached[Sequence[OwnerSummary]]] = {}
        self._messages: dict[str, Cached[ByUser]] = {}
        self._files: dict[tuple[str, str | None], Cached[Mapping[Stored, int]]] = {}
        self._added: dict[tuple[str, Stored], Counter[str]] = {}  # since the last count
        self._coming: dict[tuple[str, Stored], Counter[str]] = {}  # what is being stored

    async def amount(self, what: Stored, tenant: str, user: str | None, *, fresh: bool = False) -> int:
        """How much of something a user has in all projects; None for all users of the tenant.

        With `fresh` it is counted anew.
        """
        if what == "attachment_bytes" or what == "disk_bytes":
            return (await self._measured(tenant, user, fresh=fresh))[what]
        count = self.memories if what == "memories" else self.messages
        found = await count(tenant, fresh=fresh)
        return sum(found.values()) if user is None else found.get(user, 0)

    async def memories(self, tenant: str, *, fresh: bool = False) -> ByUser:
        """The current memories of each user who has any."""
        counted = Counter[str]()
        for owner in await self._owners_of(tenant, fresh=fresh):
            counted[owner.user] += owner.memories
        return counted + self._not_counted(tenant, "memories")

    async def messages(self, tenant: str, *, fresh: bool = False) -> ByUser:
        """The messages of each user who has any, those of all branches."""
        cached = self._messages.get(tenant)
        if cached is None:
            count = partial(self._count_messages, tenant)
            cached = self._messages[tenant] = Cached(count, for_s=_COUNT_AGAIN_S)
        return Counter(await cached.get(fresh=fresh) or {}) + self._not_counted(tenant, "messages")

    @contextmanager
    def adding(self, what: Stored, tenant: str, user: str, number: int) -> Iterator[None]:
        """Count so many more while the body stores them, and behind it, unless it fails."""
        with self.expecting(what, tenant, user, number):
            yield
        self.add(what, tenant, user, number)

    @contextmanager
    def expecting(self, what: Stored, tenant: str, user: str, number: int) -> Iterator[None]:
        """Count so many more while the body runs."""
        coming = self._coming.setdefault((tenant, what), Counter())
        coming[user] += number
        try:
            yield
        finally:
            coming[user] -= number
            if not coming[user]:
                del coming[user]

    def add(self, what: Stored, tenant: str, user: str, number: int) -> None:
        """Note what was stored since the last count; of files, that they have to be measured again."""
        if what in ("memories", "messages"):
            self._added_to(tenant, what)[user] += number
            return
        for of in (user, None):
            if (measured := self._files.get((tenant, of))) is not None:
                measured.forget()

    async def aclose(self) -> None:
        """Stop counting."""
        for kept in (self._owners, self._messages, self._files):
            await asyncio.gather(*(cached.aclose() for cached in kept.values()))

    def _not_counted(self, tenant: str, what: Stored) -> Counter[str]:
        return self._added_to(tenant, what) + self._coming.get((tenant, what), Counter())

    def _added_to(self, tenant: str, what: Stored) -> Counter[str]:
        return self._added.setdefault((tenant, what), Counter())

    async def _owners_of(self, tenant: str, *, fresh: bool = False) -> Sequence[OwnerSummary]:
        cached = self._owners.get(tenant)
        if cached is None:
            cached = self._owners[tenant] = Cached(partial(self._count_memories, tenant), for_s=_COUNT_AGAIN_S)
        return await cached.get(fresh=fresh) or ()

    async def _count_memories(self, tenant: str) -> Sequence[OwnerSummary]:
        self._added_to(tenant, "memories").clear()  # first: what is added meanwhile may count twice, not never
        return await self._store.owners(tenant)

    async def _count_messages(self, tenant: str) -> ByUser:
        self._added_to(tenant, "messages").clear()
        places = await self._conversations.messages_by_place()
        counted = Counter[str]()
        for folder, user in (await self._folders(tenant)).items():
            counted[user] += places.get(place_of(folder), 0)
        return counted

    async def _folders(self, tenant: str, user: str | None = None) -> dict[Path, str]:
        owners = await self._owners_of(tenant)
        projects, users = {owner.project for owner in owners}, {owner.user for owner in owners}
        named = users if user is None else {user}
        found = await asyncio.to_thread(self._conversations.folders_of, tenant, projects, named)
        return found if user is None else {folder: name for folder, name in found.items() if name == user}

    async def _measured(self, tenant: str, user: str | None, *, fresh: bool) -> Mapping[Stored, int]:
        cached = self._files.get((tenant, user))
        if cached is None:
            while len(self._files) >= _MOST_MEASURED:
                await self._files.pop(next(iter(self._files))).aclose()
            find = partial(self._measure, tenant, user)
            cached = self._files[tenant, user] = Cached(find, for_s=_MEASURE_AGAIN_S)
        return await cached.get(fresh=fresh) or _sizes([])

    async def _measure(self, tenant: str, user: str | None) -> Mapping[Stored, int]:
        return await asyncio.to_thread(_sizes, list(await self._folders(tenant, user)))


def _sizes(folders: Sequence[Path]) -> dict[Stored, int]:
    return {
        "attachment_bytes": sum(size_of(folder / "objects" / ATTACHMENTS) for folder in folders),
        "disk_bytes": sum(map(size_of, folders)),
    }
