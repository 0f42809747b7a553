"""Manual changes of memories: editing a text, restoring a deleted memory, merging duplicates.

An edit names the version that the editor saw; if the memory has changed since, nothing is changed.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mnemoir.core.clock import from_text
from mnemoir.core.errors import Conflict, InvalidRequest, NotFound
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import (
    FOREIGN,
    UNCHANGED,
    Applied,
    Change,
    HistoryEntry,
    IndexEntry,
    Memory,
    Origin,
    Provenance,
    Remove,
    Restore,
    Unchanged,
    Update,
    size_of_metadata,
)
from mnemoir.core.proposals import Proposal
from mnemoir.core.scope import Scope
from mnemoir.core.text import content_hash
from mnemoir.memory.facts.decide.personal import FactPolicy
from mnemoir.memory.facts.extract.requests import TextBound, unknown_memory
from mnemoir.memory.facts.review.gate import Gate
from mnemoir.memory.facts.review.instructions import SUSPECTED
from mnemoir.ports.memory_store import Committer, MemoryStore, Project, StaleChange
from mnemoir.search.indexing import Indexing, fact_passage

MOST_MERGED = 100
_BY_HAND = Provenance(reason="request")
_UNCHANGED = IndexEntry(terms=b"")  # for an unchanged text: the store keeps its entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """The new text of a memory; None keeps the text. `as_of` is the `updated_at` that the editor saw.

    One that `is_told` comes from a program that passes on what its user told it, not from a person who edits.
    """

    text: str | None = None
    metadata: Mapping[str, Any] | Unchanged | None = UNCHANGED
    as_of: str | None = None
    is_told: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """The memory as it is now, and what of the edit waits for a review instead of being made."""

    memory: Memory
    proposed: Sequence[Proposal] = ()


SuspicionOf = Callable[[Scope, str, Origin], Awaitable[tuple[bool, Gate]]]


class Curation:
    """Edits, restores and merges memories. Raises NotFound, Conflict and InvalidRequest; nothing is changed then."""

    def __init__(
        self,
        store: MemoryStore,
        indexing: Indexing,
        personal: FactPolicy,
        bound: TextBound,
        suspicion_of: SuspicionOf,
    ) -> None:
        """Texts beyond the bound are refused by MemoryTooLong, but for the one that a memory has.

        `suspicion_of` says of a text that was told whether it may be an instruction, and gives its gate.
        """
        self._suspicion_of = suspicion_of
        self._store = store
        self._bound = bound
        self._personal = personal
        self._indexing = indexing

    async def edit(self, project: Project, memory_id: MemoryId, edit: Edit, user: str | None = None) -> Edited:
        """Change the text or metadata of a memory. An unchanged text confirms that it still holds.

        A text that was told goes through what an add goes through: it may wait, and is no person's.
        """
        scope = await self._owner(project, memory_id, user)
        memory = await self._current(scope, memory_id)
        if edit.as_of is not None and from_text(edit.as_of) != from_text(_renewed_at(memory)):
            raise _change_conflict(memory_id)
        if edit.text is not None and edit.text != memory.text:
            self._bound.check(edit.text)
        if edit.metadata is not UNCHANGED and edit.metadata != memory.metadata:
            self._bound.check_metadata(edit.metadata)
        text = memory.text if edit.text is None else await self._personal.text(scope, edit.text)
        if edit.is_told and text != memory.text:
            return await self._take_told(scope, memory, text)
        reason = "confirmed" if text == memory.text else "edit"
        return Edited(memory=await self._rewrite(scope, memory, text, reason=reason, metadata=edit.metadata))

    async def restore(
        self, project: Project, memory_id: MemoryId, user: str | None = None, to: str | None = None
    ) -> Memory:
        """Restore a removed memory, or give any memory the text it had after the event `to` of its history.

        `user` is required for a deleted one. A memory that was forgotten cannot be restored: Conflict
        (`memory_not_restorable`).
        """
        scope = await self._owner(project, memory_id, user)
        history = await self._store.history(scope, memory_id)
        text = None if to is None else _text_after(history, to)
        memory = await self._store.get(scope, memory_id)
        if memory is not None and memory.valid_to is None:
            if text is None:
                raise Conflict(f"Memory {memory_id} is not deleted.", code="memory_not_deleted")
            return await self._rewrite(scope, memory, text, reason="restored")
        removed = await self._store.memory_at_removal(scope, memory_id)
        if removed is None:
            raise _restore_error(memory_id, was_there=bool(history))
        return await self._take_back(scope, removed, removed.text if text is None else text)

    async def merge(
        self, scope: Scope, ids: Sequence[MemoryId], keep: MemoryId, text: str | None = None
    ) -> list[Applied]:
        """Keep one of several memories, with a new `text` if given, and remove the others, which can be restored."""
        if keep not in ids or not 2 <= len(set(ids)) <= MOST_MERGED:
            raise InvalidRequest(
                f"ids must name 2 to {MOST_MERGED} memories, keep among them.", code="validation_error", field="ids"
            )
        kept, *others = [
            await self._current(scope, each) for each in (keep, *sorted(each for each in set(ids) if each != keep))
        ]
        if text is not None and text != kept.text:
            self._bound.check(text)
        wanted = kept.text if text is None else await self._personal.text(scope, text)
        await self._refuse_same_text(scope, wanted, apart_from=ids)
        changes: list[Change] = [
            Remove(target=one.id, expected=one.text, replaced_by=len(others), reason=f"merged into {keep}")
            for one in others
        ]
        changes.append(
            Update(
                target=keep,
                expected=kept.text,
                text=wanted,
                entry=await self._entry(wanted) if wanted != kept.text else _UNCHANGED,
                reason="merged",
                origin="person" if wanted != kept.text else UNCHANGED,
                as_of=_renewed_at(kept),
            )
        )
        return await self._commit(scope, changes, keep)

    async def _take_told(self, scope: Scope, memory: Memory, text: str) -> Edited:
        """Give a memory the text, or propose it. What a tool, a document or the assistant said stays theirs."""
        if memory.kind == "fact":
            await self._refuse_same_text(scope, text, apart_from=[memory.id])
        origin: Origin = memory.origin if memory.origin in (*FOREIGN, "assistant") else "user"
        is_suspected, gate = await self._suspicion_of(scope, text, origin)
        change = Update(
            target=memory.id,
            expected=memory.text,
            text=text,
            entry=await self._entry(text),
            reason=SUSPECTED if is_suspected else "edit",
            origin=origin,
            as_of=_renewed_at(memory),
        )
        applied = await self._commit(scope, [change], memory.id, gate)
        return Edited(memory=applied[-1].memory if applied else memory, proposed=gate.waiting)

    async def _rewrite(
        self,
        scope: Scope,
        memory: Memory,
        text: str,
        *,
        reason: str,
        metadata: Mapping[str, Any] | Unchanged | None = UNCHANGED,
    ) -> Memory:
        is_new = text != memory.text
        if is_new and memory.kind == "fact":
            await self._refuse_same_text(scope, text, apart_from=[memory.id])
        change = Update(
            target=memory.id,
            expected=memory.text,
            text=text,
            entry=await self._entry(text) if is_new else _UNCHANGED,
            reason=reason,
            metadata=metadata,
            more_metadata_bytes=0
            if metadata is UNCHANGED
            else size_of_metadata(metadata) - size_of_metadata(memory.metadata),
            origin="person" if is_new else UNCHANGED,
            as_of=_renewed_at(memory),
        )
        return (await self._commit(scope, [change], memory.id))[-1].memory

    async def _take_back(self, scope: Scope, removed: Memory, text: str) -> Memory:
        if removed.kind == "fact":
            await self._refuse_same_text(scope, removed.text, apart_from=[removed.id])
            await self._refuse_same_text(scope, text, apart_from=[removed.id])
        changes: list[Change] = [
            Restore(target=removed.id, expected=removed.text, entry=await self._entry(removed.text))
        ]
        if text != removed.text:
            entry = await self._entry(text)
            changes.append(
                Update(
                    target=removed.id,
                    expected=removed.text,
                    text=text,
                    entry=entry,
                    reason="restored",
                    origin="person",
                )
            )
        return (await self._commit(scope, changes, removed.id))[-1].memory

    async def _commit(
        self, scope: Scope, changes: Sequence[Change], memory_id: MemoryId, committer: Committer | None = None
    ) -> list[Applied]:
        changes = await self._personal.changes_with_tags(scope, changes)
        try:
            return await (committer or self._store).commit(scope, changes, _BY_HAND)
        except StaleChange:
            raise _change_conflict(memory_id) from None

    async def _owner(self, project: Project, memory_id: MemoryId, user: str | None) -> Scope:
        if user is not None:
            return Scope(tenant=project.tenant, project=project.project, user=user)
        scope = await self._store.locate(project, memory_id)
        if scope is None:
            raise _restore_error(memory_id, was_there=False)
        return scope

    async def _current(self, scope: Scope, memory_id: MemoryId) -> Memory:
        memory = await self._store.get(scope, memory_id)
        if memory is None or memory.valid_to is not None:
            raise _restore_error(memory_id, was_there=False)
        return memory

    async def _refuse_same_text(self, scope: Scope, text: str, *, apart_from: Sequence[MemoryId]) -> None:
        found = await self._store.same_text(scope, [content_hash(text)])
        for other in found.values():
            if other.id not in apart_from:
                raise Conflict(
                    f"Memory {other.id} says the same already. Delete one, merge the two, or choose another text.",
                    code="memory_exists",
                )

    async def _entry(self, text: str) -> IndexEntry:
        (entry,) = await self._indexing.entries([fact_passage(text)])
        return entry


def _renewed_at(memory: Memory) -> str:
    return memory.updated_at or memory.created_at


def _text_after(history: Sequence[HistoryEntry], to: str) -> str:
    """The text after an event; for a DELETE the text before it."""
    event = next((event for event in history if event.id == to), None)
    text = None if event is None else event.new_text if event.event != "DELETE" else event.old_text
    if text is None:
        raise NotFound(
            f"The memory's history has no text at {to[:80]!r}. GET .../history lists its events.",
            code="history_not_found",
        )
    return text


def _change_conflict(memory_id: MemoryId) -> Conflict:
    return Conflict(
        f"Memory {memory_id} was changed meanwhile. Read it again, then change what it says now.",
        code="memory_changed",
    )


def _restore_error(memory_id: MemoryId, *, was_there: bool) -> NotFound | Conflict:
    if was_there:
        return Conflict(
            f"Memory {memory_id[:128]!r} cannot be taken back: what it was is not kept any more.",
            code="memory_not_restorable",
        )
    return unknown_memory(memory_id)
