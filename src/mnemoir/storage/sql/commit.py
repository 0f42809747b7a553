"""One commit: its changes, and with each all that belongs to it, inside the caller's transaction.

A current memory has a row in `memories` and in `entries` and an event in `history`. What is no longer current is
closed, not destroyed: it stays in `memories` for looks into the past and leaves the other tables.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from mnemoir.core.clock import to_text
from mnemoir.core.errors import InvalidRequest
from mnemoir.core.ids import MemoryId, new_memory_id
from mnemoir.core.memories import (
    UNCHANGED,
    Add,
    Applied,
    Change,
    ChangeEvent,
    IndexEntry,
    Memory,
    Provenance,
    Remove,
    Restore,
    Update,
)
from mnemoir.core.scope import Scope
from mnemoir.core.text import content_hash
from mnemoir.ports.memory_store import StaleChange
from mnemoir.storage.sql.engine import Sql, Value
from mnemoir.storage.sql.entries import drop_entry, put_entry
from mnemoir.storage.sql.forgetting import derived_from, drop_words, erase_traces, named_after
from mnemoir.storage.sql.queries import queries
from mnemoir.storage.sql.rows import (
    as_json,
    memory_of,
    memory_values,
    narrowing,
    removed_of,
    seconds_of,
    state_as_json,
    turns_as_json,
)

_QUERIES = {**queries("memories"), **queries("changes")}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    """A memory and its row."""

    seq: int
    memory: Memory


class Commit:
    """Applies changes one by one; `applied` tells what happened. `finish` must come last."""

    def __init__(self, sql: Sql, scope: Scope, now: datetime) -> None:
        """`sql` is within the scope, which is entered."""
        self.applied: list[Applied] = []
        self._sql = sql
        self._scope = scope
        self._within = narrowing(scope)
        self._now_text = to_text(now)
        self._now = {"now": seconds_of(self._now_text), "now_text": self._now_text}
        self._changes: int
        self._removals: int
        self._next_seq: int
        self._changes, self._removals, self._next_seq = self._row("counters")
        self._provenance = Provenance(reason="")
        self._source_id: int | None = None

    def apply(self, changes: Sequence[Change], provenance: Provenance, *, degrade: bool) -> None:
        """All of them, in order. Raises StaleChange and InvalidRequest; the caller undoes what was written then."""
        self._provenance = provenance
        landed = [self._one(change, degrade=degrade) for change in changes]
        for change, place in zip(changes, landed, strict=True):
            if isinstance(change, Remove) and place is not None and change.replaced_by is not None:
                self._name_successor(place, landed[change.replaced_by])

    def delete(self, memory_id: MemoryId, reason: str) -> Memory | None:
        """Really remove a memory and the closed states it replaced; None when the scope has none of that id."""
        stored = self._find(memory_id)
        if stored is None:
            return None
        self._run("delete_with_past", seq=stored.seq, **self._within)
        if stored.memory.valid_to is None:
            self._removals += 1
        self._note("DELETE", stored.memory, old=stored.memory.text, new=None, reason=reason)
        return stored.memory

    def delete_all(self) -> int:
        """Really remove everything of the scope, and all that is told of it; how many current memories there were."""
        (count,) = self._row("current_of_scope", **self._within)
        self._run("delete_all", **self._within)
        erase_traces(self._sql, self._scope)
        self._removals += count
        return int(count)

    def forget(self, session: str) -> int:
        """Really remove what came from a session, and its words wherever they are; how many current memories."""
        named = named_after(self._sql, session)
        derived = derived_from(self._sql, session, named)
        found = [stored for memory_id in derived.gone if (stored := self._find(memory_id)) is not None]
        for stored in found:
            self._run("delete_with_past", seq=stored.seq, **self._within)
        current = sum(stored.memory.valid_to is None for stored in found)
        self._removals += current
        drop_words(self._sql, session, derived)
        return current

    def finish(self) -> None:
        """Move the scope's revision on."""
        self._run("set_counters", changes=self._changes, removals=self._removals, next_seq=self._next_seq)

    def _one(self, change: Change, *, degrade: bool) -> _Stored | None:
        """The row that the change concerns; None when it has none."""
        if isinstance(change, Add):
            return self._add(change.memory, change.entry, change.reason)
        if isinstance(change, Restore):
            return self._restore(change, degrade=degrade)
        target = self._find(change.target)
        if target is None or not _as_expected(target.memory, change):
            if not degrade:
                raise StaleChange(f"Memory {change.target} changed or vanished since it was read.")
            return self._add_instead(change) if isinstance(change, Update) else None
        if isinstance(change, Remove):
            return self._close(target, change.reason)
        return self._update(target, change)

    def _add(self, memory: Memory, entry: IndexEntry, reason: str) -> _Stored | None:
        """The memory as stored, or the one that stood in its way."""
        memory = self._placed(memory)
        if memory.kind == "fact" and memory.valid_to is None and (same := self._same_text(memory.text)):
            return same
        seq = self._insert(memory)
        if seq is None:
            return self._find(memory.id)
        if memory.valid_to is None:
            put_entry(self._sql, seq, entry)
        self._note("ADD", memory, old=None, new=memory.text, reason=reason)
        self.applied.append(Applied(event="ADD", memory=memory))
        return _Stored(seq=seq, memory=memory)

    def _insert(self, memory: Memory) -> int | None:
        """The number of the new row; None when the scope holds its id, or a current fact of its text, already."""
        seq = self._next_seq
        if self._row("add_memory", **memory_values(memory), seq=seq, change=self._next_change()) is None:
            return None
        self._next_seq += 1
        return seq

    def _restore(self, change: Restore, *, degrade: bool) -> _Stored | None:
        """Reopen the closed state if there is one, else store what the last event says the memory was."""
        row = self._row("last_event", id=change.target, **self._within)
        memory, stored = removed_of(row, change.target, self._scope.user), self._find(change.target)
        is_current = stored is not None and stored.memory.valid_to is None
        if memory is None or is_current or memory.text != change.expected or self._is_said(memory):
            if not degrade:
                raise StaleChange(f"Memory {change.target} is not to be taken back as it was read.")
            return None
        if stored is None:
            seq = self._insert(memory)
            assert seq is not None  # neither its id nor its text is there
        else:
            seq = stored.seq
            self._run("reopen_memory", seq=seq, change=self._next_change())
        put_entry(self._sql, seq, change.entry)
        self._note("ADD", memory, old=None, new=memory.text, reason=change.reason)
        self.applied.append(Applied(event="ADD", memory=memory))
        return _Stored(seq=seq, memory=memory)

    def _is_said(self, memory: Memory) -> bool:
        return memory.kind == "fact" and self._same_text(memory.text) is not None

    def _add_instead(self, change: Update) -> _Stored | None:
        """What the text of an Update becomes when its target is no longer what it was."""
        now = self._now_text
        fact = Memory(id=new_memory_id(), text=change.text, user=self._scope.user, created_at=now, updated_at=now)
        return self._add(fact, change.entry, change.reason)

    def _update(self, target: _Stored, change: Update) -> _Stored:
        before = target.memory
        if change.text == before.text:
            return self._renew(self._with_metadata(target, change), change.reason)
        same = self._same_text(change.text) if before.kind == "fact" else None
        if same is not None and same.seq != target.seq:
            self._name_successor(self._close(target, change.reason), same)
            return self._renew(same, change.reason)
        copy: dict[str, Value] = {"copy_id": new_memory_id(), "copy_seq": self._next_seq}
        self._next_seq += 1
        self._run("keep_closed_copy", seq=target.seq, **copy, **self._now)
        self._run(
            "rewrite_memory",
            seq=target.seq,
            text=change.text,
            content_hash=content_hash(change.text),
            change=self._next_change(),
            **self._now,
        )
        put_entry(self._sql, target.seq, change.entry)
        return self._updated(self._with_metadata(target, change), change.text, change.reason)

    def _with_metadata(self, target: _Stored, change: Update) -> _Stored:
        if change.metadata is UNCHANGED:
            return target
        metadata = None if change.metadata is None else as_json(change.metadata)
        self._run("set_metadata", seq=target.seq, metadata=metadata)
        return replace(target, memory=replace(target.memory, metadata=change.metadata))

    def _renew(self, target: _Stored, reason: str) -> _Stored:
        self._run("renew_memory", seq=target.seq, change=self._next_change(), **self._now)
        return self._updated(target, target.memory.text, reason)

    def _updated(self, target: _Stored, text: str, reason: str) -> _Stored:
        before = target.memory
        memory = replace(before, text=text, updated_at=self._now_text)
        self._note("UPDATE", memory, old=before.text, new=text, reason=reason)
        self.applied.append(Applied(event="UPDATE", memory=memory, previous_text=before.text))
        return _Stored(seq=target.seq, memory=memory)

    def _close(self, target: _Stored, reason: str) -> _Stored:
        self._run("close_memory", seq=target.seq, **self._now)
        drop_entry(self._sql, target.seq)
        self._removals += 1
        self._note("DELETE", target.memory, old=target.memory.text, new=None, reason=reason)
        self.applied.append(Applied(event="DELETE", memory=target.memory))
        return target

    def _name_successor(self, closed: _Stored, successor: _Stored | None) -> None:
        if successor is not None:
            self._run("name_successor", seq=closed.seq, successor=successor.memory.id)

    def _note(self, event: ChangeEvent, memory: Memory, *, old: str | None, new: str | None, reason: str) -> None:
        """Write the event down, and with the first one the turns it came from."""
        if self._source_id is None and self._provenance.turns:
            turns = turns_as_json(self._provenance.turns)
            (self._source_id,) = self._row("add_source", turns=turns, session=self._provenance.session)
        self._run(
            "add_history",
            memory_id=memory.id,
            agent=memory.agent,
            app=memory.app,
            conversation=memory.conversation,
            event=event,
            at=self._now_text,
            reason=reason,
            model=self._provenance.model,
            source_id=self._source_id,
            old_text=old,
            new_text=new,
            state=state_as_json(memory) if event == "DELETE" else None,
        )

    def _find(self, memory_id: MemoryId) -> _Stored | None:
        return self._stored(self._row("memory", id=memory_id, **self._within))

    def _same_text(self, text: str) -> _Stored | None:
        return self._stored(self._row("same_text", content_hash=content_hash(text), **self._within))

    def _stored(self, row: Any) -> _Stored | None:
        return None if row is None else _Stored(seq=row[0], memory=memory_of(row, self._scope.user))

    def _placed(self, memory: Memory) -> Memory:
        """The memory with the scope's inner levels where it leaves them open. Raises InvalidRequest outside it."""
        scope = self._scope
        inner = ((memory.agent, scope.agent), (memory.app, scope.app), (memory.conversation, scope.conversation))
        if memory.user != scope.user or any(None not in pair and pair[0] != pair[1] for pair in inner):
            raise InvalidRequest(
                f"Memory {memory.id} belongs to another user, agent, app or conversation than the one it was to be "
                "stored for."
            )
        agent, app, conversation = (own if own is not None else outer for own, outer in inner)
        return replace(memory, agent=agent, app=app, conversation=conversation)

    def _next_change(self) -> int:
        self._changes += 1
        return self._changes

    def _run(self, query: str, **values: Value) -> None:
        self._sql.run(_QUERIES[query], **values)

    def _row(self, query: str, **values: Value) -> Any:
        return self._sql.row(_QUERIES[query], **values)


def _as_expected(memory: Memory, change: Update | Remove) -> bool:
    """Whether the memory is current and still what the change was decided on."""
    is_same = memory.valid_to is None and memory.text == change.expected
    as_of = change.as_of if isinstance(change, Update) else None
    return is_same and as_of in (None, memory.updated_at or memory.created_at)
