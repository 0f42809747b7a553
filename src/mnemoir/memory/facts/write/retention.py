"""Retention of facts: what is older than allowed is deleted, a few rows in each transaction.

A memory whose metadata say `"keep": true` stays, and so does everything of a user on legal hold. What is counted
beforehand is what is deleted: the rows of each kind are chosen by their age alone, and memories go last, because
their history goes with them.
"""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import datetime, timedelta

from mnemoir.core.clock import Clock, from_text, utc_now
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Memory
from mnemoir.core.retention import KeptDays
from mnemoir.core.scope import Scope
from mnemoir.ports.holdings import Amounts
from mnemoir.ports.memory_store import ALL_CURRENT, ListCursor, ListFilter, MemoryStore, Old

_AT_ONCE = 500


class FactRetention:
    """`owners` gives every user who is not on hold, `kept_of` for how long things of one are kept."""

    def __init__(
        self,
        store: MemoryStore,
        owners: Callable[[], Awaitable[Sequence[Scope]]],
        kept_of: Callable[[Scope], Awaitable[KeptDays]],
        clock: Clock = utc_now,
    ) -> None:
        self._store = store
        self._owners = owners
        self._kept_of = kept_of
        self._clock = clock

    async def expire(self, dry_run: bool) -> Amounts:
        """Delete what is too old, or only count it; how much of what. Raises StorageUnavailable."""
        done: Counter[str] = Counter()
        now = self._clock()
        for owner in await self._owners():
            kept = await self._kept_of(owner)
            if kept != KeptDays():
                done.update(await self._expire_owner(owner, kept, now, dry_run=dry_run))
        return +done

    async def _expire_owner(self, owner: Scope, kept: KeptDays, now: datetime, *, dry_run: bool) -> Amounts:
        done: Counter[str] = Counter()
        old = Old(told_before=_ago(now, kept.history), removed_before=_ago(now, kept.deleted))
        if dry_run:
            done.update(await self._store.aged(owner, old))
        else:
            while (aged := Counter(await self._store.age(owner, old, limit=_AT_ONCE))).total():
                done.update(aged)
        renewed_before = _ago(now, kept.memories)
        if renewed_before is not None:
            async for ids in self._pages_of_old_ids(owner, renewed_before):
                done["memories"] += len(ids) if dry_run else await self._store.expunge(owner, ids)
        return done

    async def _pages_of_old_ids(self, owner: Scope, before: datetime) -> AsyncIterator[list[MemoryId]]:
        """The ids of memories that were not renewed since a time, in pages; those to be kept are left out."""
        wanted = ListFilter(visible=ALL_CURRENT, until=before, by="updated", ascending=True)
        after: ListCursor | None = None
        while page := await self._store.select(owner, wanted, limit=_AT_ONCE, after=after):
            if ids := [memory.id for memory in page if not _is_kept(memory)]:
                yield ids
            after = ListCursor(at=_renewed_at(page[-1]), memory_id=page[-1].id)


def _ago(now: datetime, days: int | None) -> datetime | None:
    return None if days is None else now - timedelta(days=days)


def _is_kept(memory: Memory) -> bool:
    return (memory.metadata or {}).get("keep") is True


def _renewed_at(memory: Memory) -> float | None:
    at = from_text(memory.updated_at) or from_text(memory.created_at)
    return None if at is None else at.timestamp()
