"""The planner of changes: the effects of a commit on the memories of a scope, independent of the store.

`planned` reads the present memories through `Standing` and writes nothing. A store applies the effects in their
order and enters each in the history, all of them or none. So the rules of adding, updating, removing and restoring
are written once.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from typing import Protocol

from mnemoir.core.clock import from_text, to_text
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
    Remove,
    Restore,
    Revert,
    Update,
)
from mnemoir.core.scope import Scope
from mnemoir.core.text import content_hash, without_zeros
from mnemoir.ports.memory_store import StaleChange
from mnemoir.storage.statement_names import statement_names


def seconds_of(text: str | None) -> float | None:
    """Seconds since 1970 of a stored time; None without one, and for a text that is no time."""
    instant = from_text(text)
    return None if instant is None else instant.timestamp()


def effective_at(memory: Memory) -> float | None:
    """The time of the memory's last renewal. A valid `updated_at` decides alone."""
    updated = seconds_of(memory.updated_at)
    return seconds_of(memory.created_at) if updated is None else updated


def expires_at(memory: Memory) -> float | None:
    """The end of the memory's last day; None when it has none, and for the last day of the calendar."""
    instant = from_text(memory.expires_on)
    if instant is None:
        return None
    try:
        return datetime.combine(instant.date() + timedelta(days=1), time(), UTC).timestamp()
    except OverflowError:
        return None


class Standing(Protocol):
    """A user's memories as they are before a commit."""

    def find(self, memory_id: MemoryId) -> Memory | None:
        """The user's memory or closed state of that id, of any agent, app or conversation; None without one."""

    def same_text(self, content_hash: bytes) -> Iterable[Memory]:
        """The scope's current facts with this hash of the normal form of their text, in order of storing."""

    def memory_at_removal(self, memory_id: MemoryId) -> Memory | None:
        """The memory as it was when it was removed from the scope; None when there is no record of it."""

    def in_past(self, memory: Memory) -> Memory | None:
        """A past state as it fits before those that are kept; None when it is known, or where no past is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """The effect of a commit on one memory.

    `memory` is the memory after the effect, for a DELETE before it; `before` the current memory or the closed state
    that had its id, None for a new one. `entry` replaces the index entry; None keeps it, or deletes it with a DELETE.
    `replaced_by` is the successor of a deleted memory, `until` the time to which it held; None for now. One that goes
    `with_past` is deleted with the states that it replaced.
    """

    event: ChangeEvent
    memory: Memory
    before: Memory | None
    reason: str
    entry: IndexEntry | None = None
    replaced_by: MemoryId | None = None
    until: str | None = None
    with_past: bool = False

    @property
    def outcome(self) -> Applied:
        """The effect as the caller of the commit sees it."""
        previous = self.before.text if self.before is not None and self.event == "UPDATE" else None
        return Applied(event=self.event, memory=self.memory, previous_text=previous, reason=self.reason)


def planned_effects(
    standing: Standing,
    scope: Scope,
    changes: Sequence[Change],
    now: str,
    *,
    degrade: bool = False,
    expected: Sequence[Applied] | None = None,
) -> list[Effect]:
    """The effects of the changes, in order, as of `now`. Raises StaleChange, unless `degrade`, and InvalidRequest.

    With `expected`, effects that are not like these are stale, too.
    """
    plan = _Plan(standing, scope, now, degrade)
    concerned = [plan.make(change) for change in changes]
    for change, deletion in zip(changes, concerned, strict=True):
        if isinstance(change, Remove) and deletion is not None and change.replaced_by is not None:
            plan.name_successor(deletion, concerned[change.replaced_by])
    if expected is not None and not _are_alike(plan.effects, expected):
        raise StaleChange("The changes would not do what they were to do when they were planned.")
    return plan.effects


def _are_alike(effects: Sequence[Effect], expected: Sequence[Applied]) -> bool:
    return len(effects) == len(expected) and all(
        effect.outcome.is_like(one) for effect, one in zip(effects, expected, strict=True)
    )


def removal(memory: Memory, reason: str, *, replaced_by: MemoryId | None = None, until: str | None = None) -> Effect:
    """The effect of removing a current memory."""
    return Effect(event="DELETE", memory=memory, before=memory, reason=reason, replaced_by=replaced_by, until=until)


def _since(at: str | None, memory: Memory, *, is_new: bool) -> str | None:
    """The time of a change, not before the last one of its memory; None for now. A new text has a time of its own."""
    wanted, renewed = from_text(at), from_text(memory.updated_at) or from_text(memory.created_at)
    if wanted is None or renewed is None or wanted > renewed:
        return at if wanted is not None else None
    return to_text(renewed + timedelta(milliseconds=1) if is_new else renewed)


def is_within(memory: Memory, scope: Scope) -> bool:
    """True when the memory belongs to the scope's user and matches every level that the scope is narrowed by."""
    return (
        memory.user == scope.user
        and (scope.agent is None or memory.agent == scope.agent)
        and (scope.app is None or memory.app == scope.app)
        and (scope.conversation is None or memory.conversation == scope.conversation)
    )


def newest_memory(memories: Iterable[Memory]) -> Memory | None:
    """The memory with the newest effective time, of equal ones the last stored; None of none. Pass them as stored."""
    newest, newest_at = None, -math.inf
    for memory in memories:
        at = effective_at(memory)
        at = math.inf if at is None else at
        if at >= newest_at:
            newest, newest_at = memory, at
    return newest


class _Plan:
    """The effects so far, and the memories as they are after them."""

    def __init__(self, standing: Standing, scope: Scope, now: str, degrade: bool) -> None:
        self.effects: list[Effect] = []
        self._standing = standing
        self._scope = scope
        self._now = now
        self._degrade = degrade
        self._after: dict[MemoryId, Memory] = {}  # every memory of an effect; removed ones have a `valid_to`
        self._deletions: dict[MemoryId, int] = {}  # places in `effects`
        self._facts: dict[bytes, dict[MemoryId, Memory]] = {}  # current ones, by the hashes looked up so far

    def make(self, change: Change) -> MemoryId | None:
        """Plan one change; the id of its memory, None when it has none."""
        if isinstance(change, Add):
            return self._add(change.memory, change.entry, change.reason)
        if isinstance(change, Restore):
            return self._restore(change)
        if isinstance(change, Update | Revert):
            change = replace(change, text=without_zeros(change.text))
        target = self._find(change.target)
        if target is None or not is_within(target, self._scope) or not _is_unchanged(target, change):
            self._refuse_stale(f"Memory {change.target} changed or vanished since it was read.")
            return self._add_instead(change) if isinstance(change, Update) else None
        if isinstance(change, Remove):
            return self._remove(
                target, change.reason, replaced_by=change.successor, at=change.at, with_past=change.with_past
            )
        return self._revert(target, change) if isinstance(change, Revert) else self._update(target, change)

    def name_successor(self, removed: MemoryId, successor: MemoryId | None) -> None:
        """Record the successor of a removed memory."""
        at = self._deletions[removed]
        self.effects[at] = replace(self.effects[at], replaced_by=successor)

    def _add(self, memory: Memory, entry: IndexEntry, reason: str) -> MemoryId | None:
        """The id of the stored memory, or of the existing one with the same text."""
        memory = self._memory_in_scope(memory)
        if memory.kind == "fact" and memory.valid_to is None and (same := self._same_text(memory.text)):
            return same.id
        if (held := self._find(memory.id)) is not None:
            return held.id if is_within(held, self._scope) else None
        fitting = memory if memory.valid_to is None else self._standing.in_past(memory)
        if fitting is None:
            return None
        return self._put(Effect(event="ADD", memory=fitting, before=None, reason=reason, entry=entry))

    def _add_instead(self, change: Update) -> MemoryId | None:
        """Add the text of an Update whose target has changed since."""
        now = self._now
        fact = Memory(id=new_memory_id(), text=change.text, user=self._scope.user, created_at=now, updated_at=now)
        return self._add(fact, change.entry, change.reason)

    def _restore(self, change: Restore) -> MemoryId | None:
        before = self._find(change.target)
        memory = self._memory_at_removal(change.target)
        is_current = before is not None and before.valid_to is None
        if (
            is_current
            or memory is None
            or memory.text != change.expected
            or (memory.kind == "fact" and memory.valid_to is None and self._same_text(memory.text) is not None)
        ):
            self._refuse_stale(f"Memory {change.target} is not to be taken back as it was read.")
            return None
        return self._put(Effect(event="ADD", memory=memory, before=before, reason=change.reason, entry=change.entry))

    def _revert(self, target: Memory, change: Revert) -> MemoryId | None:
        is_new = change.text != target.text
        same = self._same_text(change.text) if is_new and target.kind == "fact" else None
        if same is not None and same.id != target.id:
            self._refuse_stale(f"Memory {same.id} says by now what {target.id} said.")
            return None
        metadata = target.metadata if change.metadata is UNCHANGED else change.metadata
        last_day = target.expires_on if change.expires_on is UNCHANGED else change.expires_on
        memory = replace(
            target, text=change.text, metadata=metadata, expires_on=last_day, updated_at=change.updated_at
        )
        if change.origin is not UNCHANGED:
            memory = replace(memory, given_origin=change.origin)
        entry = change.entry if is_new else None
        return self._put(Effect(event="UPDATE", memory=memory, before=target, reason=change.reason, entry=entry))

    def _update(self, target: Memory, change: Update) -> MemoryId:
        metadata = target.metadata if change.metadata is UNCHANGED else change.metadata
        last_day = target.expires_on if change.expires_on is UNCHANGED else change.expires_on
        if change.text == target.text:
            return self._renew(replace(target, metadata=metadata, expires_on=last_day), target, change)
        same = self._same_text(change.text) if target.kind == "fact" else None
        if same is not None and same.id != target.id:  # two facts became one
            self._remove(target, change.reason, replaced_by=same.id, at=change.at)
            return self._renew(same, same, change)
        origin = target.given_origin if change.origin is UNCHANGED else change.origin
        memory = replace(target, text=change.text, metadata=metadata, expires_on=last_day, given_origin=origin)
        return self._renew(memory, target, change, change.entry)

    def _renew(self, memory: Memory, before: Memory, change: Update, entry: IndexEntry | None = None) -> MemoryId:
        at = _since(change.at, before, is_new=memory.text != before.text)
        memory = replace(memory, updated_at=at or self._now)
        return self._put(Effect(event="UPDATE", memory=memory, before=before, reason=change.reason, entry=entry))

    def _remove(
        self,
        target: Memory,
        reason: str,
        *,
        replaced_by: MemoryId | None = None,
        at: str | None = None,
        with_past: bool = False,
    ) -> MemoryId:
        until = _since(at, target, is_new=False)
        gone = removal(target, reason, replaced_by=replaced_by, until=until)
        return self._put(replace(gone, with_past=with_past))

    def _put(self, effect: Effect) -> MemoryId:
        memory, is_removed = effect.memory, effect.event == "DELETE"
        if effect.entry is not None:
            effect = replace(effect, entry=replace(effect.entry, names=statement_names(memory)))
        if is_removed:
            self._deletions[memory.id] = len(self.effects)
        self.effects.append(effect)
        after = replace(memory, valid_to=self._now) if is_removed else memory
        self._after[memory.id] = after
        if memory.kind == "fact":
            self._note_text(effect.before, after)
        return memory.id

    def _note_text(self, before: Memory | None, after: Memory) -> None:
        """Keep the facts by hash up to date. Every text that an effect adds was looked up before."""
        old = None if before is None else content_hash(before.text)
        new = content_hash(after.text) if after.valid_to is None else None
        if old is not None and old != new:
            self._facts.get(old, {}).pop(after.id, None)
        if new in self._facts:
            self._facts[new][after.id] = after

    def _find(self, memory_id: MemoryId) -> Memory | None:
        return self._after.get(memory_id) or self._standing.find(memory_id)

    def _same_text(self, text: str) -> Memory | None:
        """The scope's fact with this text's normal form after the effects so far."""
        hashed = content_hash(text)
        if hashed not in self._facts:
            standing = (self._after.get(memory.id, memory) for memory in self._standing.same_text(hashed))
            self._facts[hashed] = {
                memory.id: memory
                for memory in standing
                if memory.valid_to is None and content_hash(memory.text) == hashed
            }
        return newest_memory(self._facts[hashed].values())

    def _memory_at_removal(self, memory_id: MemoryId) -> Memory | None:
        after = self._after.get(memory_id)
        return self._standing.memory_at_removal(memory_id) if after is None else replace(after, valid_to=None)

    def _memory_in_scope(self, memory: Memory) -> Memory:
        """The memory as it is stored, in the scope where it names no other. Raises InvalidRequest outside it."""
        scope = self._scope
        placed = replace(
            memory,
            text=without_zeros(memory.text),
            speaker=None if memory.speaker is None else without_zeros(memory.speaker),
            agent=memory.agent if memory.agent is not None else scope.agent,
            app=memory.app if memory.app is not None else scope.app,
            conversation=memory.conversation if memory.conversation is not None else scope.conversation,
        )
        if not is_within(placed, scope):
            raise InvalidRequest(
                f"Memory {memory.id} belongs to another user, agent, app or conversation than the one it was to be "
                "stored for."
            )
        return placed

    def _refuse_stale(self, message: str) -> None:
        if not self._degrade:
            raise StaleChange(message)


def _is_unchanged(memory: Memory, change: Update | Revert | Remove) -> bool:
    """True when the memory is current and unchanged since the change was decided."""
    is_past = isinstance(change, Remove) and change.is_past
    is_same = (memory.valid_to is not None) == is_past and memory.text == change.expected
    return is_same and change.as_of in (None, memory.updated_at or memory.created_at)
