"""The log of a user's changes, and undo: it takes one change back in one commit, which is itself a change of the log.

A change can be undone as long as every memory that it touched still is as the change left it, whatever happened to
others since; so the undo of an undo makes the change again. A memory that a later change touched is a conflict, which
names that change, unless the later change was undone.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from mnemoir.core.errors import Conflict, NotFound
from mnemoir.core.ids import ChangeId, MemoryId, new_change_id
from mnemoir.core.memories import (
    UNCHANGED,
    Applied,
    Change,
    ChangedMemory,
    IndexEntry,
    LoggedChange,
    Memory,
    Provenance,
    Remove,
    Restore,
    Revert,
    state_hash,
)
from mnemoir.core.scope import Scope
from mnemoir.core.text import content_hash
from mnemoir.ports.embedding import Passage
from mnemoir.ports.memory_store import ChangePage, MemoryStore, Project, StaleChange
from mnemoir.search.indexing import Indexing, fact_passage

_REASON = "undone"
_NO_WORDS = IndexEntry(terms=b"")  # for an unchanged text: the store keeps its entry
_ATTEMPTS = 3

Now: TypeAlias = Mapping[MemoryId, Memory | None]  # as they were read; None where there is none


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """The change that undid another one, and what it did."""

    id: ChangeId
    applied: Sequence[Applied]


class Undoing:
    """Lists and undoes changes. Raises NotFound and Conflict; nothing is changed then."""

    def __init__(self, store: MemoryStore, indexing: Indexing) -> None:
        self._store = store
        self._indexing = indexing

    async def changes(self, scope: Scope, *, limit: int, before: int | None = None) -> ChangePage:
        """A page of the user's changes, newest first."""
        return await self._store.changes(scope.owner, limit=limit, before=before)

    async def undo(self, project: Project, change_id: ChangeId, user: str | None = None) -> Undone:
        """Undo a change of the project, of `user` if given. Conflict (`change_conflict`) names a later change."""
        for _ in range(_ATTEMPTS):
            scope, change = await self._find_change(project, change_id, user)
            now = {row.memory_id: await self._store.get(scope, row.memory_id) for row in change.rows}
            await self._refuse_conflict(scope, change, now)
            undo = Provenance(reason=_REASON, change=new_change_id(), undo_of=change.id)
            changes = await self._back(change, now)
            try:
                applied = await self._store.commit(_common_scope(scope, change.rows), changes, undo)
            except StaleChange:  # changed meanwhile: the next look says by what
                continue
            return Undone(id=undo.change or change.id, applied=applied)
        raise Conflict(f"The memories of {change_id} are being changed. Try again.", code="change_conflict")

    async def take_back(self, scope: Scope, change: LoggedChange) -> Sequence[Applied]:
        """Undo of a change what is still as it left it; what was changed since stays, with what it had replaced."""
        for _ in range(_ATTEMPTS):
            now = {row.memory_id: await self._store.get(scope, row.memory_id) for row in change.rows}
            rows = await self._rows_to_take_back(scope, change, now)
            if change.undone_by is not None or not rows:
                return ()
            undo = Provenance(reason=_REASON, change=new_change_id(), undo_of=change.id)
            try:
                changes = await self._back(replace(change, rows=rows), now)
                return await self._store.commit(_common_scope(scope, rows), changes, undo)
            except StaleChange:  # changed meanwhile: the next look leaves that out
                continue
        raise Conflict(f"The memories of {change.id} are being changed. Try again.", code="change_conflict")

    async def _rows_to_take_back(self, scope: Scope, change: LoggedChange, now: Now) -> list[ChangedMemory]:
        """The events of memories that are as the change left them."""
        last = {row.memory_id: row for row in change.rows}
        other = {
            id for id, row in last.items() if not await self._can_be_taken_back(scope, change, row, now[id], last)
        }
        replaced = {
            id
            for id, row in last.items()
            if row.event == "DELETE" and (memory := now[id]) is not None and memory.replaced_by in other
        }
        return [row for row in change.rows if row.memory_id not in other | replaced]

    async def _can_be_taken_back(
        self,
        scope: Scope,
        change: LoggedChange,
        row: ChangedMemory,
        memory: Memory | None,
        last: Mapping[MemoryId, ChangedMemory],
    ) -> bool:
        try:
            if not await self._is_as_left(scope, change, row, memory):
                return False
        except Conflict:  # what it was is not kept any more
            return False
        given_back = [content_hash(text) for text in _facts_given_back([row])]
        said = await self._store.same_text(scope, given_back) if given_back else {}
        return all(one.id in last for one in said.values())

    async def _find_change(
        self, project: Project, change_id: ChangeId, user: str | None
    ) -> tuple[Scope, LoggedChange]:
        found = await self._store.change(project, change_id, user)
        if found is None:
            raise NotFound(
                f"There is no change {change_id[:128]!r} here. List the user's changes to see their ids.",
                code="change_not_found",
            )
        return found

    async def _refuse_conflict(self, scope: Scope, change: LoggedChange, now: Now) -> None:
        if change.undone_by is not None:
            raise Conflict(
                f"{change.id} was undone already, by {change.undone_by}. Undo that one to make it again.",
                code="change_conflict",
            )
        last = {row.memory_id: row for row in change.rows}
        for row in last.values():
            if not await self._is_as_left(scope, change, row, now[row.memory_id]):
                raise await self._conflict(scope, change, row.memory_id)
        for text in _facts_given_back(change.rows):
            said = await self._store.same_text(_common_scope(scope, change.rows), [content_hash(text)])
            for other in said.values():
                if other.id not in last:
                    raise await self._conflict(scope, change, other.id)

    async def _is_as_left(
        self, scope: Scope, change: LoggedChange, row: ChangedMemory, memory: Memory | None
    ) -> bool:
        if row.event == "DELETE":
            removed = await self._store.memory_at_removal(scope, row.memory_id)
            if row.before is None:
                raise Conflict(
                    f"Memory {row.memory_id} cannot be taken back: what it was is not kept any more.",
                    code="memory_not_restorable",
                )
            return removed is not None and state_hash(removed) == state_hash(row.before)
        if memory is None:
            return False
        if memory.valid_to is not None:  # a past state is one from the first on
            return row.event == "ADD" and await self._store.last_change(scope, row.memory_id) == change.id
        return memory.text == row.new_text if row.left is None else state_hash(memory) == row.left

    async def _conflict(self, scope: Scope, change: LoggedChange, memory_id: MemoryId) -> Conflict:
        later = await self._store.last_change(scope, memory_id)
        by = "another program" if later in (None, change.id) else f"the later change {later}"
        return Conflict(
            f"{change.id} cannot be undone: {by} changed memory {memory_id}. Undo what came later first.",
            code="change_conflict",
        )

    async def _back(self, change: LoggedChange, now: Now) -> list[Change]:
        """The changes that take each event back, the last one first."""
        rows = list(reversed(change.rows))
        entries = iter(await self._indexing.entries([_passage(row) for row in rows if _gives_text(row)]))
        seen: set[MemoryId] = set()
        changes: list[Change] = []
        for row in rows:
            is_first = row.memory_id not in seen
            seen.add(row.memory_id)
            entry = next(entries) if _gives_text(row) else _NO_WORDS
            changes.append(_taken_back(row, entry, now[row.memory_id] if is_first else None))
        return changes


def _taken_back(row: ChangedMemory, entry: IndexEntry, now: Memory | None) -> Change:
    """The change that takes one event back; `now` is the memory that must be unchanged until then."""
    as_of = None if now is None else now.updated_at or now.created_at
    if row.event == "DELETE":
        return Restore(target=row.memory_id, expected=row.old_text or "", entry=entry, reason=_REASON)
    if row.event == "ADD":
        is_past = now is not None and now.valid_to is not None
        return Remove(target=row.memory_id, expected=row.new_text or "", reason=_REASON, as_of=as_of, is_past=is_past)
    before = row.before
    return Revert(
        target=row.memory_id,
        expected=row.new_text or "",
        text=row.old_text or "",
        entry=entry,
        updated_at=None if before is None else before.updated_at or before.created_at,
        metadata=UNCHANGED if before is None else before.metadata,
        expires_on=UNCHANGED if before is None else before.expires_on,
        origin=UNCHANGED if before is None else before.given_origin,
        reason=_REASON,
        as_of=as_of,
    )


def _gives_text(row: ChangedMemory) -> bool:
    """True when taking the event back gives a memory another text, which is to be indexed."""
    return row.event == "DELETE" or (row.event == "UPDATE" and row.old_text != row.new_text)


def _facts_given_back(rows: Iterable[ChangedMemory]) -> list[str]:
    return [row.old_text or "" for row in rows if _gives_text(row) and _is_fact(row)]


def _is_fact(row: ChangedMemory) -> bool:
    return row.before is None or row.before.kind == "fact"


def _passage(row: ChangedMemory) -> Passage:
    return fact_passage(row.old_text or "") if _is_fact(row) else Passage(text=row.old_text or "")


def _common_scope(scope: Scope, rows: Sequence[ChangedMemory]) -> Scope:
    """The user's scope, narrowed to the agent, app and conversation that all rows have."""
    agent, app, conversation = (
        values.pop() if len(values := {row.place[at] for row in rows}) == 1 else None for at in range(3)
    )
    return replace(scope, agent=agent, app=app, conversation=conversation)
