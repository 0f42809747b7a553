"""The holding of facts: forgetting, erasing, counting, exporting, giving and importing them."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from datetime import date
from functools import partial
from typing import Any

from mnemoir.core.clock import from_text
from mnemoir.core.ids import ChangeId, new_memory_id
from mnemoir.core.memories import Add, Applied, HistoryEntry, Memory, Provenance
from mnemoir.core.scope import Scope
from mnemoir.memory.facts.decide.matters import has_one_value
from mnemoir.memory.facts.decide.personal import FactPolicy
from mnemoir.memory.facts.decide.timeline import behind_newer
from mnemoir.memory.facts.facts import MOST_COMPARED, Facts
from mnemoir.memory.facts.write.plans import Plans
from mnemoir.ports.embedding import Passage
from mnemoir.ports.holdings import Amounts, Archive, ByDay, OpenHolding, Rehearsed
from mnemoir.ports.index_packs import IndexPacks
from mnemoir.ports.memory_store import ALL_CURRENT, Committer, ListCursor, ListFilter, MemoryStore, Project
from mnemoir.search.indexing import Indexing, fact_passage
from mnemoir.search.recall import Recall

FACT = "fact"
_PAGE = 500
_MOST_FORGOTTEN = 2**31
_ALL = ListFilter(visible=ALL_CURRENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldMemory:
    """A memory with its history, oldest first."""

    memory: Memory
    history: Sequence[HistoryEntry]


def holding_of_facts(
    facts: Facts,
    store: MemoryStore,
    indexing: Indexing,
    recall: Recall,
    packs: IndexPacks,
    expire: Callable[[bool], Awaitable[Amounts]] | None = None,
) -> OpenHolding:
    """The holding of facts and of messages that were added verbatim; `recall` and `packs` have indexes of them."""
    exchange = FactExchange(store, indexing, facts.plans, facts.personal)

    async def forget(scope: Scope) -> Amounts:
        if scope.conversation is None:
            return {"memories": await facts.delete_all(scope)}
        return {"memories": await facts.forget_session(scope, scope.conversation)}

    async def forget_part(scope: Scope, metadata: Mapping[str, Any] | None) -> Amounts:
        if metadata is None:
            return {"memories": await facts.delete_all(scope)}
        facts.plans.forget(scope)
        found = await store.select(scope, replace(_ALL, metadata=metadata), limit=_MOST_FORGOTTEN)
        return {"memories": await store.expunge(scope, [memory.id for memory in found])}

    async def erase(scope: Scope) -> Amounts:
        deleted = await facts.delete_all(scope.owner)
        recall.forget(scope)
        return {"memories": deleted}

    async def export(scope: Scope, archive: Archive) -> None:
        await archive.add_pages("current_memories.jsonl", exchange.pages(scope))

    @asynccontextmanager
    async def give(scope: Scope, user: str) -> AsyncIterator[bool]:
        yield False  # all that is given are rows
        for each in (scope, replace(scope, user=user)):
            recall.forget(each)
            await asyncio.to_thread(packs.drop, each)

    async def counts() -> Amounts:
        return asdict(await store.counts())

    async def daily(since: date) -> Mapping[str, ByDay]:
        return {"memories": await store.additions_by_day(since)}

    return OpenHolding(
        name=FACT,
        forget=forget,
        forget_part=forget_part,
        erase=erase,
        export=export,
        giving=give,
        owners=partial(_owners, store),
        counts=counts,
        stored={"memories": partial(_memories_of_users, store), "memory_bytes": partial(_bytes_of_users, store)},
        daily=daily,
        exchange=exchange,
        expire=expire,
    )


async def _owners(store: MemoryStore, tenants: Collection[str]) -> Iterable[Scope]:
    return [
        Scope(tenant=tenant, project=owner.project, user=owner.user)
        for tenant in tenants
        for owner in await store.owners(tenant)
    ]


async def _memories_of_users(store: MemoryStore, tenant: str, user: str | None) -> Amounts:
    counted = Counter[str]()
    for owner in await store.owners(tenant):
        counted[owner.user] += owner.memories if user in (None, owner.user) else 0
    return counted


async def _bytes_of_users(store: MemoryStore, tenant: str, user: str | None) -> Amounts:
    found = await store.bytes_by_user(tenant)
    return found if user is None else {user: found.get(user, 0)}


class FactExchange:
    """Exports facts as `ToldMemory`, including decayed and expired ones, and imports them as `Memory`.

    An import never changes stored memories, and importing the same records again adds nothing.
    """

    def __init__(self, store: MemoryStore, indexing: Indexing, plans: Plans, personal: FactPolicy) -> None:
        self._store = store
        self._indexing = indexing
        self._plans = plans
        self._personal = personal

    async def users(self, project: Project) -> Sequence[Scope]:
        """The users who have memories."""
        return await self._store.users(project)

    async def pages(self, owner: Scope) -> AsyncIterator[Sequence[ToldMemory]]:
        """Pages of the owner's memories, newest first; one that is added meanwhile moves none into a second page."""
        after: ListCursor | None = None
        while page := await self._store.select(owner, _ALL, limit=_PAGE, after=after):
            yield [ToldMemory(memory=memory, history=await self._store.history(owner, memory.id)) for memory in page]
            created_at = from_text(page[-1].created_at)
            at = None if created_at is None else created_at.timestamp()
            after = ListCursor(at=at, memory_id=page[-1].id)

    async def add(self, owner: Scope, records: Sequence[Memory], change: ChangeId | None = None) -> int:
        """Add one user's memories in one step; return how many are new. An id of "" is replaced by a new one.

        A fact that contradicts a newer one, stored or imported, is added as a state of the past. `change` is the id
        of the step in the log of changes, None for a new one.
        """
        return len(await self._add(self._store, owner, records, change))

    async def rehearse(self, owner: Scope, records: Sequence[Memory]) -> Rehearsed:
        """What `add` would do; writes nothing."""
        rehearsal = await self._plans.rehearsal(owner)
        await self._add(rehearsal, owner, records, None)
        return self._plans.keep(rehearsal)

    async def _add(
        self, committer: Committer, owner: Scope, records: Sequence[Memory], change: ChangeId | None
    ) -> list[Applied]:
        # oldest first, so that the order of storing is the order of time
        fresh = [
            memory
            for record in sorted(records, key=lambda record: record.created_at)
            if (memory := await self._fresh(owner, record)) is not None
        ]
        fresh = await self._personal.memories(owner, fresh)
        fresh = await asyncio.to_thread(behind_newer, fresh, await self._rivals(owner, fresh))
        entries = await self._indexing.entries(
            [fact_passage(one.text) if one.kind == "fact" else Passage(text=one.text) for one in fresh]
        )
        adds = [
            Add(memory=memory, entry=entry, reason="import") for memory, entry in zip(fresh, entries, strict=True)
        ]
        return await committer.commit(
            owner, await self._personal.changes_with_tags(owner, adds), Provenance(reason="import", change=change)
        )

    async def _rivals(self, owner: Scope, fresh: Sequence[Memory]) -> Sequence[Memory]:
        """The newest facts of the owner, among which one may contradict what is added."""
        if not any(memory.kind == "fact" and has_one_value(memory.text) for memory in fresh):
            return []
        return await self._store.page(owner, ALL_CURRENT, limit=MOST_COMPARED)

    async def _fresh(self, owner: Scope, record: Memory) -> Memory | None:
        """The memory to add; None when this user has it already. An id taken by another user is replaced."""
        if record.id:
            holder = await self._store.locate(Project(tenant=owner.tenant, project=owner.project), record.id)
            if holder is None:
                return record
            if holder.user == owner.user:
                return None
        return replace(record, id=new_memory_id())
