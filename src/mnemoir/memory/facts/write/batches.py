"""One manual change of many memories: tags, a last day, another project, deletion. Each is one change, with one undo.

A move is two changes, for each project has its own log: what is undone in both is as it was before.
"""

from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

from mnemoir.core.errors import Conflict, InvalidRequest
from mnemoir.core.ids import ChangeId, MemoryId, new_change_id, new_memory_id
from mnemoir.core.keyed_lock import KeyedLock
from mnemoir.core.memories import (
    Add,
    Change,
    IndexEntry,
    Memory,
    Provenance,
    Remove,
    Update,
    size_of_metadata,
)
from mnemoir.core.scope import Scope
from mnemoir.memory.facts.decide.personal import FactPolicy
from mnemoir.memory.facts.extract.requests import TextBound, unknown_memory
from mnemoir.memory.facts.write.undoing import Undoing
from mnemoir.ports.embedding import Passage
from mnemoir.ports.memory_store import ALL_CURRENT, MemoryStore, Project, StaleChange
from mnemoir.search.indexing import Indexing, fact_passage

MOST_TAGS = 50
_TAGS = "tags"
_UNCHANGED = IndexEntry(terms=b"")  # for an unchanged text: the store keeps its entry


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchChange:
    """One change of the log of a project, and how many memories it concerned."""

    id: ChangeId
    project: str
    memories: int


class Batches:
    """Changes of many memories of one user. Raises NotFound, Conflict and InvalidRequest; nothing is changed then."""

    def __init__(
        self,
        store: MemoryStore,
        indexing: Indexing,
        personal: FactPolicy,
        bound: TextBound,
        undoing: Undoing,
        same_user: KeyedLock,
    ) -> None:
        """`same_user` is held by every add of a user."""
        self._undoing = undoing
        self._same_user = same_user
        self._store = store
        self._indexing = indexing
        self._personal = personal
        self._bound = bound

    async def tag(
        self, scope: Scope, ids: Iterable[MemoryId], add: Sequence[str], remove: Sequence[str]
    ) -> list[BatchChange]:
        """Add tags to the metadata of memories, under `tags`, and take others away."""
        changes: list[Change] = []
        for memory in await self._current(scope, ids):
            before = _tags_of(memory)
            tags = list(dict.fromkeys(tag for tag in (*before, *add) if tag not in remove))
            if len(tags) > MOST_TAGS:
                raise InvalidRequest(f"Memory {memory.id} would have more than {MOST_TAGS} tags.", field=_TAGS)
            if tags != before:
                rest = {name: value for name, value in (memory.metadata or {}).items() if name != _TAGS}
                metadata = {**rest, _TAGS: tags} if tags else rest or None
                self._bound.check_metadata(metadata)
                more = size_of_metadata(metadata) - size_of_metadata(memory.metadata)
                changes.append(replace(_same_text(memory), metadata=metadata, more_metadata_bytes=more))
        return await self._commit(scope, changes)

    async def expire(self, scope: Scope, ids: Iterable[MemoryId], day: str | None) -> list[BatchChange]:
        """Give memories a last day (YYYY-MM-DD), or none."""
        memories = await self._current(scope, ids)
        changes = [replace(_same_text(one), expires_on=day) for one in memories if one.expires_on != day]
        return await self._commit(scope, changes)

    async def delete(self, scope: Scope, ids: Iterable[MemoryId]) -> list[BatchChange]:
        """Delete memories with the states that they replaced."""
        return await self._commit(scope, [_removal(one, "request") for one in await self._current(scope, ids)])

    async def move(self, scope: Scope, ids: Iterable[MemoryId], project: str) -> list[BatchChange]:
        """Move memories to the same user's in another project, where they begin a history of their own.

        One whose text the other project has already is only removed here. They are stored there first, and taken back
        when they cannot be removed here; after a kill in between they are in both, and the same move again ends it.
        """
        if project == scope.project:
            raise InvalidRequest(f"The memories are in project {project} already.", field="project")
        target = replace(scope, project=project)
        async with AsyncExitStack() as held:  # two moves never rely on copies that one of them takes back
            for owner in sorted((scope.owner, target.owner), key=lambda each: each.project):
                await held.enter_async_context(self._same_user.hold(owner))
            memories = await self._current(scope, ids)
            there = await self._commit(target, await self._copies(scope, memories, target))
            try:
                here = await self._commit(scope, [_removal(one, f"moved to {project}") for one in memories])
            except Conflict:
                await self._take_back(target, there)
                raise
        return here + there

    async def _copies(self, scope: Scope, memories: Sequence[Memory], target: Scope) -> list[Change]:
        moved = [
            replace(one, id=new_memory_id(), given_origin=one.origin, replaced_by=None)
            for one in await self._personal.take_along(scope, target, memories)
        ]
        entries = await self._indexing.entries([_passage(one) for one in moved])
        return [
            Add(memory=one, entry=entry, reason=f"moved from {scope.project}", is_moved=True)
            for one, entry in zip(moved, entries, strict=True)
        ]

    async def _take_back(self, scope: Scope, changes: Iterable[BatchChange]) -> None:
        for change in changes:
            where = Project(tenant=scope.tenant, project=scope.project)
            if (found := await self._store.change(where, change.id, scope.user)) is not None:
                await self._undoing.take_back(*found)

    async def _commit(self, scope: Scope, changes: Sequence[Change]) -> list[BatchChange]:
        if not changes:
            return []
        changes = await self._personal.changes_with_tags(scope, changes)
        change = new_change_id()
        try:
            applied = await self._store.commit(scope, changes, Provenance(reason="request", change=change))
        except StaleChange:
            raise Conflict(
                "A memory was changed meanwhile, so nothing was done. Read the list again, then try again.",
                code="memory_changed",
            ) from None
        return [BatchChange(id=change, project=scope.project, memories=len(applied))] if applied else []

    async def _current(self, scope: Scope, ids: Iterable[MemoryId]) -> list[Memory]:
        wanted = list(dict.fromkeys(ids))
        found = {each.memory.id: each.memory for each in await self._store.current(scope, ALL_CURRENT, wanted)}
        for each in wanted:
            if each not in found:
                raise unknown_memory(each)
        return [found[each] for each in wanted]


def _tags_of(memory: Memory) -> list[str]:
    tags = (memory.metadata or {}).get(_TAGS, [])
    found = [tags] if isinstance(tags, str) else tags
    if not isinstance(found, list) or not all(isinstance(tag, str) for tag in found):
        raise InvalidRequest(
            f"The metadata of memory {memory.id} have something else under {_TAGS} than a list of words. Edit that "
            "one by itself.",
            field=_TAGS,
        )
    return found


def _same_text(memory: Memory) -> Update:
    return Update(
        target=memory.id,
        expected=memory.text,
        text=memory.text,
        entry=_UNCHANGED,
        reason="edit",
        as_of=memory.updated_at or memory.created_at,
    )


def _removal(memory: Memory, reason: str) -> Remove:
    as_of = memory.updated_at or memory.created_at
    return Remove(target=memory.id, expected=memory.text, reason=reason, as_of=as_of, with_past=True)


def _passage(memory: Memory) -> Passage:
    return fact_passage(memory.text) if memory.kind == "fact" else Passage(text=memory.text)
