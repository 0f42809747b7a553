"""One commit: it writes the effects of its changes to all tables inside the caller's transaction, with their history.

A memory has a row in `memories` and in `entries` and an event in `history`. A memory that is no longer current is
closed, not deleted: it stays in `memories` and `entries` for lists and searches of the past. Both backends keep
the history in its table.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from mnemoir.core.clock import to_text
from mnemoir.core.ids import ChangeId, MemoryId, new_change_id, new_memory_id
from mnemoir.core.memories import Applied, Change, HistoryEntry, Memory, Provenance, state_hash
from mnemoir.core.proposals import NO_STEP, QueueStep
from mnemoir.core.scope import Scope
from mnemoir.core.text import content_hash
from mnemoir.ports.memory_store import Old
from mnemoir.storage.planning import (
    Effect,
    Standing,
    effective_at,
    expires_at,
    is_within,
    planned_effects,
    removal,
    seconds_of,
)
from mnemoir.storage.sql.ageing import drop_old
from mnemoir.storage.sql.change_log import end_before
from mnemoir.storage.sql.engine import Sql, Value, queries
from mnemoir.storage.sql.forgetting import derived_from, drop_traces, drop_words, erase_traces, named_after
from mnemoir.storage.sql.proposals import put_proposals, take_approved
from mnemoir.storage.sql.rows import (
    as_json,
    copy_entry,
    from_json,
    history_of,
    memory_of,
    memory_values,
    narrowing,
    put_entry,
    removed_of,
    state_as_json,
    turns_as_json,
    words_of,
)
from mnemoir.storage.sql.spaces import want_vectors

_QUERIES = {**queries("memories"), **queries("changes")}


def add_history(
    sql: Sql,
    scope: Scope,
    effects: Sequence[Effect],
    provenance: Provenance,
    now: str,
    queue: QueueStep = NO_STEP,
) -> None:
    """Write one event for each effect, all of one change, with the turns and the model they came from.

    Those of an approved proposal are the proposal's. What the change proposes is stored with its turns. Raises
    StaleChange.
    """
    origins = take_approved(sql, scope, queue.approved)
    source_id = _source_id(sql, provenance) if effects or queue.proposed else None
    put_proposals(sql, scope, queue.proposed, source_id)
    if effects:
        common: dict[str, Value] = {
            "at": provenance.at or now,
            "model": provenance.model,
            "source_id": source_id,
            "change_id": provenance.change or new_change_id(),
            "undo_of": provenance.undo_of,
        }
        events = [{**_history_event(effect), **origins.get(effect.memory.id, {})} for effect in effects]
        numbers = sql.rows(_QUERIES["next_events"], count=len(events))
        numbered = [{**common, "number": number, **event} for (number,), event in zip(numbers, events, strict=True)]
        sql.many(_QUERIES["add_history"], numbered)


def history_of_memory(sql: Sql, scope: Scope, memory_id: MemoryId) -> list[HistoryEntry]:
    """The events of a memory, oldest first; [] outside the scope."""
    return [history_of(row) for row in sql.rows(_QUERIES["history"], id=memory_id, **narrowing(scope))]


def removed_memory(sql: Sql, scope: Scope, memory_id: MemoryId) -> Memory | None:
    """The memory at its removal, from the last event; None when it was not removed, or is forgotten."""
    return removed_of(sql.row(_QUERIES["last_event"], id=memory_id, **narrowing(scope)), memory_id, scope.user)


def _source_id(sql: Sql, provenance: Provenance) -> int | None:
    if not provenance.turns:
        return None
    turns = turns_as_json(provenance.turns)
    source_id = int(sql.value(_QUERIES["next_source"]))
    last = provenance.turns[-1].message_uid or None
    row: dict[str, Value] = {"turns": turns, "session": provenance.session, "last_message": last}
    sql.run(_QUERIES["add_source"], id=source_id, source_id=source_id, **row)  # its cell is bound to `id`
    return source_id


def _history_event(effect: Effect) -> dict[str, Value]:
    memory, is_removed = effect.memory, effect.event == "DELETE"
    before = effect.before if effect.event != "ADD" else None
    return {
        "memory_id": memory.id,
        "agent": memory.agent,
        "app": memory.app,
        "conversation": memory.conversation,
        "event": effect.event,
        "reason": effect.reason,
        "old_text": memory.text if is_removed else effect.outcome.previous_text,
        "new_text": None if is_removed else memory.text,
        "state": None if before is None else state_as_json(before),
        "left_hash": None if is_removed else state_hash(memory),
    }


class _Rows:
    """The scope's memories as rows; `seqs` holds the numbers of those read or written."""

    def __init__(self, sql: Sql, scope: Scope) -> None:
        self.seqs: dict[MemoryId, int] = {}
        self._sql = sql
        self._scope = scope

    def find(self, memory_id: MemoryId) -> Memory | None:
        """The memory of that id, of any agent, app or conversation."""
        row = self._sql.row(_QUERIES["memory"], id=memory_id, **narrowing(self._scope.owner))
        return None if row is None else self._memory(row)

    def same_text(self, content_hash: bytes) -> Iterable[Memory]:
        """Current facts of the scope."""
        rows = self._sql.rows(_QUERIES["same_text"], content_hash=content_hash, **narrowing(self._scope))
        return [self._memory(row) for row in sorted(rows)]  # their numbers come first

    def memory_at_removal(self, memory_id: MemoryId) -> Memory | None:
        """The removed memory, from the history."""
        return removed_memory(self._sql, self._scope, memory_id)

    def in_past(self, memory: Memory) -> Memory | None:
        """The state up to the next one of its successor; None when the successor had this text then."""
        of_it = {"successor": memory.replaced_by, "begin": seconds_of(memory.created_at)}
        hashed = content_hash(memory.text)
        if self._sql.row(_QUERIES["told_in_past"], content_hash=hashed, **of_it) is not None:
            return None
        following = self._sql.value(_QUERIES["next_in_past"], until=seconds_of(memory.valid_to), **of_it)
        if following is None:
            return memory
        return replace(memory, valid_to=to_text(datetime.fromtimestamp(following, UTC)))

    def _memory(self, row: Any) -> Memory:
        memory = memory_of(row, self._scope.user)
        self.seqs[memory.id] = row[0]
        return memory


def preview(sql: Sql, scope: Scope, changes: Sequence[Change], now: datetime, *, degrade: bool) -> list[Applied]:
    """What a commit would do now. Raises StaleChange and InvalidRequest."""
    return [one.outcome for one in planned_effects(_Rows(sql, scope), scope, changes, to_text(now), degrade=degrade)]


class Commit:
    """Changes and deletions within one transaction. `finish` must come last."""

    def __init__(self, sql: Sql, scope: Scope, now: datetime, of_all_facts: Collection[str] = ()) -> None:
        """`sql` is within the scope, which is entered. `of_all_facts` are the further spaces in which a text that
        needs a vector has one made of each fact.
        """
        self._sql = sql
        self._scope = scope
        self._rows = _Rows(sql, scope)
        self._within = narrowing(scope)
        self._now_text = to_text(now)
        self._now = seconds_of(self._now_text) or now.timestamp()
        self._changes: int
        self._removals: int
        self._next_seq: int
        self._of_all_facts = frozenset(of_all_facts)
        self.waits: set[str] = set()  # the further spaces in which a text that was written needs a vector
        self._changes, self._removals, self._next_seq, marked = sql.row(_QUERIES["counters"])
        self._marked = frozenset(from_json(marked))

    def apply(
        self,
        changes: Sequence[Change],
        provenance: Provenance,
        *,
        degrade: bool,
        expected: Sequence[Applied] | None = None,
        queue: QueueStep = NO_STEP,
    ) -> list[Applied]:
        """Apply all changes, in order. Raises StaleChange and InvalidRequest with nothing written."""
        effects = planned_effects(
            self._rows, self._scope, changes, self._now_text, degrade=degrade, expected=expected
        )
        write = {"ADD": self._add, "UPDATE": self._update, "DELETE": self._close}
        for effect in effects:
            write[effect.event](effect, provenance.undo_of)
        add_history(self._sql, self._scope, effects, provenance, self._now_text, queue)
        return [effect.outcome for effect in effects]

    def delete(self, memory_id: MemoryId, reason: str) -> Memory | None:
        """Delete the rows of a memory and of the closed states it replaced; None when the scope has no such id."""
        memory = self._rows.find(memory_id)
        if memory is None or not is_within(memory, self._scope):
            return None
        self._delete(memory)
        add_history(self._sql, self._scope, [removal(memory, reason)], Provenance(reason=reason), self._now_text)
        return memory

    def delete_all(self) -> int:
        """Delete all rows of the scope, with history and receipts; the number of current memories before."""
        count = int(self._sql.value(_QUERIES["current_of_scope"], **self._within))
        self._run("delete_all", **self._within)
        erase_traces(self._sql, self._scope)
        self._removals += count or 1  # there may have been closed ones
        return count

    def forget(self, session: str) -> int:
        """Delete the memories that came from a session, and its texts in all tables; how many were current."""
        derived = derived_from(self._sql, session, named_after(self._sql, session))
        found = [memory for memory_id in derived.gone if (memory := self._rows.find(memory_id)) is not None]
        for memory in found:
            self._delete(memory)
        drop_words(self._sql, session, derived)
        self._removals += bool(derived.kept)  # which lose their closed states
        return sum(memory.valid_to is None for memory in found)

    def expunge(self, memory_ids: Sequence[MemoryId]) -> int:
        """Delete memories with all that is stored about them; how many were there."""
        found = [memory for memory_id in memory_ids if (memory := self._rows.find(memory_id)) is not None]
        for memory in found:
            self._delete(memory)
        drop_traces(self._sql, [memory.id for memory in found])
        return len(found)

    def age(self, old: Old, limit: int) -> Mapping[str, int]:
        """Delete what `old` names, so many rows of each kind at most; how many of each."""
        aged, closed = drop_old(self._sql, old, limit)
        self._removals += closed
        return aged

    def finish(self) -> None:
        """Advance the scope's revision."""
        self._run("set_counters", changes=self._changes, removals=self._removals, next_seq=self._next_seq)

    def _add(self, effect: Effect, undone: ChangeId | None) -> None:
        memory = effect.memory
        if effect.before is not None:
            ended: dict[str, Value] = {"valid_to": memory.valid_to, "valid_until": seconds_of(memory.valid_to)}
            reopened = {**ended, "replaced_by": memory.replaced_by, "seq": self._rows.seqs[memory.id]}
            self._run("reopen_memory", **reopened, change=self._next_change())
        else:
            self._rows.seqs[memory.id] = seq = self._new_seq()
            self._run("add_memory", **memory_values(memory), seq=seq, change=self._next_change())
        self._put_entry(effect)
        if memory.valid_to is not None and effect.before is None:
            begin: dict[str, Value] = {"now": seconds_of(memory.created_at), "now_text": memory.created_at}
            self._run("end_in_past", successor=memory.replaced_by, id=memory.id, change=self._next_change(), **begin)

    def _update(self, effect: Effect, undone: ChangeId | None) -> None:
        memory, before, seq = effect.memory, effect.before, self._rows.seqs[effect.memory.id]
        assert before is not None  # an updated memory exists
        renewed: dict[str, Value] = {"updated_at": memory.updated_at, "effective_at": effective_at(memory)}
        if memory.text == before.text:
            self._run("renew_memory", seq=seq, change=self._next_change(), **renewed)
        else:
            hashed = content_hash(memory.text)
            changed_at = self._now_text if undone is not None else memory.updated_at or self._now_text
            since = seconds_of(changed_at) if undone is None else self._since(memory.id, hashed)
            copy_seq, change = self._new_seq(), self._next_change()
            copy: dict[str, Value] = {"copy_id": new_memory_id(), "of_seq": seq, "change": change, **words_of(before)}
            self._run("keep_closed_copy", seq=copy_seq, now_text=changed_at, until=since, **copy)
            copy_entry(self._sql, seq, copy_seq)
            text: dict[str, Value] = {"text": memory.text, "content_hash": hashed, "since": since}
            origin = memory.given_origin
            self._run("rewrite_memory", seq=seq, **text, origin=origin, change=self._next_change(), **renewed)
            self._run("empty_vectors", seq=seq)
        if memory.expires_on != before.expires_on:
            self._run("set_last_day", seq=seq, expires_on=memory.expires_on, expires_at=expires_at(memory))
        if memory.metadata is not before.metadata:
            metadata = None if memory.metadata is None else as_json(memory.metadata)
            self._run("set_metadata", seq=seq, metadata=metadata)
        self._put_entry(effect)

    def _since(self, memory_id: MemoryId, hashed: bytes) -> float:
        """The time since which a memory had a text that it gets back; its closed copy is deleted."""
        found = self._sql.row(_QUERIES["earlier_state"], id=memory_id, content_hash=hashed)
        if found is None:
            return self._now
        self._run("drop_state", seq=found[0])
        self._removals += 1
        return self._now if found[1] is None else float(found[1])

    def _put_entry(self, effect: Effect) -> None:
        entry, seq = effect.entry, self._rows.seqs[effect.memory.id]
        if entry is None:
            return
        for space in entry.waits & self._of_all_facts - self._marked:
            want_vectors(self._sql, space)
            self._marked |= {space}
        if effect.memory.kind == "fact":
            entry = replace(entry, waits=entry.waits | self._marked)
        self.waits |= entry.waits
        put_entry(self._sql, seq, entry)

    def _close(self, effect: Effect, undone: ChangeId | None) -> None:
        if effect.with_past:
            self._delete(effect.memory)
            return
        seq = self._rows.seqs[effect.memory.id]
        ended = effect.until or self._now_text
        closed: dict[str, Value] = {"now": self._now, "now_text": ended, "successor": effect.replaced_by}
        until = ended if undone is None else end_before(self._sql, effect.memory.id, undone)
        self._run("close_memory", seq=seq, until=seconds_of(until), change=self._next_change(), **closed)
        self._removals += 1

    def _delete(self, memory: Memory) -> None:
        self._run("delete_with_past", seq=self._rows.seqs[memory.id], **self._within)
        self._removals += 1

    def _new_seq(self) -> int:
        self._next_seq += 1
        return self._next_seq - 1

    def _next_change(self) -> int:
        self._changes += 1
        return self._changes

    def _run(self, query: str, **values: Value) -> None:
        self._sql.run(_QUERIES[query], **values)


_: type[Standing] = _Rows  # checked, never run
