"""Memories, changes and history as JSON."""

from collections.abc import Sequence
from typing import Any, Literal, NotRequired

from mnemoir.core.clock import to_text
from mnemoir.core.memories import Applied, HistoryEntry, Memory, Origin, SourceTurn
from mnemoir.core.memories import Hit as FoundMemory
from mnemoir.core.proposals import Proposal
from mnemoir.memory.facts import AddResult, freshness
from mnemoir.memory.names.reading import words_by_key
from mnemoir.ports.memory_store import Visible
from mnemoir.search.recall import SearchResult
from mnemoir.server.answer import JsonObject

State = Literal["current", "fading", "hidden", "expired", "deleted"]
Event = Literal["ADD", "UPDATE", "DELETE"]
_SAID = ("user", "api")  # origins that go without saying


class Success(JsonObject):
    """The success of an operation."""

    success: Literal[True]


class MemoryRecord(JsonObject):
    """A memory as every route answers it; optional members without a value are left out.

    `origin` tells where its words come from. It is left out where a user or a client said them.
    """

    id: str
    memory: str
    user_id: str
    created_at: str
    updated_at: str
    metadata: dict[str, Any] | None
    agent_id: NotRequired[str]
    app_id: NotRequired[str]
    run_id: NotRequired[str]
    role: NotRequired[str]
    name: NotRequired[str]
    expiration_date: NotRequired[str]
    valid_to: NotRequired[str]
    replaced_by: NotRequired[str]
    origin: NotRequired[Origin]


class ListedMemory(MemoryRecord):
    """A memory with its state and its origin: `fading` is the last quarter before it decays at `decays_at`."""

    kind: Literal["fact", "message"]
    origin: Origin  # type: ignore[misc]  # always there in lists
    state: State
    decays_at: str | None


class Hit(MemoryRecord):
    """A memory with its score, 0 to 1; `signals` holds each stage's own score on request.

    `likely` is false for one that has nothing in common with the query and was found since the user has few. One that
    `fits` shares a content word with the query, or is near to it by itself; others came along.
    """

    score: float
    fits: bool
    likely: NotRequired[Literal[False]]
    signals: NotRequired[dict[str, float]]
    linked_by: NotRequired[str]


class SearchAnswer(JsonObject):
    """Search hits, best first. `stages` and `signals` come with `explain`.

    `no_room` counts the hits that were passed over since they have more tokens than `max_tokens` left; it is left out
    where there are none.
    """

    results: list[Hit]
    no_room: NotRequired[int]
    degraded: NotRequired[list[str]]
    stages: NotRequired[dict[str, Any]]


class AppliedChange(JsonObject):
    """A change that was applied or, in a plan, would be; there with its `reason`.

    `valid_to` is the end of a state that was told after a newer one.
    """

    id: str
    memory: str
    event: Event
    previous_memory: NotRequired[str | None]
    reason: NotRequired[str]
    valid_to: NotRequired[str]


class Proposed(JsonObject):
    """A change that waits for a review. `memory` is the text to add, the new one, or the one to delete.

    Its `reason` is `suspected_instruction` where the text may be an order to a model rather than a fact, and
    `unconfirmed` where it contradicts what the user told and the user did not say it; `origin` is as in a memory.
    """

    id: str
    event: Event
    memory: str
    reason: str
    previous_memory: str | None
    origin: NotRequired[Origin]


class TokenUsage(JsonObject):
    """The tokens the model used."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int


class KnownMemory(JsonObject):
    """A memory that said already what was to be added."""

    id: str
    memory: str


class AddAnswer(JsonObject):
    """The changes made by an add, in order; `status` and `event_id` with `async_mode`.

    `known` names memories that said already what was to be added; it is left out when there are none.
    With `dry_run` the changes are those that it would make; `plan_id` applies them, null without any.
    `proposed` waits for a review; `dropped_proposals` older ones had to go for it. `left_out` counts what was found
    and may not be stored, by the reason: `secret`, `too_long`, `too_many`, `cut_off`, `empty`. `ignored` names the
    roles of messages that nothing is learned from, since nobody knows whose words they are.
    """

    results: list[AppliedChange]
    message: str
    known: NotRequired[list[KnownMemory]]
    usage: NotRequired[TokenUsage]
    status: NotRequired[Literal["PENDING"]]
    event_id: NotRequired[str]
    plan_id: NotRequired[str | None]
    proposed: NotRequired[list[Proposed]]
    dropped_proposals: NotRequired[int]
    left_out: NotRequired[dict[str, int]]
    ignored: NotRequired[list[str]]


class Turn(JsonObject):
    """A source turn of a change; `message_uid` is the id of the message stored for it."""

    role: str
    content: str
    name: str | None
    timestamp: str | None
    message_uid: str | None


class HistoryEvent(JsonObject):
    """One change of a memory. `session` is the conversation of its turns, `change_id` its change in the log."""

    id: str
    memory_id: str
    event: Event
    old_memory: str | None
    new_memory: str | None
    created_at: str
    reason: str
    model: str | None
    turns: list[Turn]
    session: str | None
    change_id: str | None


def memory_json(memory: Memory) -> MemoryRecord:
    """The documented record, followed by the other members that are set."""
    record: MemoryRecord = {
        "id": memory.id,
        "memory": memory.text,
        "user_id": memory.user,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at or memory.created_at,
        "metadata": None if memory.metadata is None else dict(memory.metadata),
    }
    if memory.agent is not None:
        record["agent_id"] = memory.agent
    if memory.app is not None:
        record["app_id"] = memory.app
    if memory.conversation is not None:
        record["run_id"] = memory.conversation
    if memory.role is not None:
        record["role"] = memory.role
    if memory.speaker is not None:
        record["name"] = memory.speaker
    if memory.expires_on is not None:
        record["expiration_date"] = memory.expires_on
    if memory.valid_to is not None:
        record["valid_to"] = memory.valid_to
    if memory.replaced_by is not None:
        record["replaced_by"] = memory.replaced_by
    if memory.origin not in _SAID:
        record["origin"] = memory.origin
    return record


def listed_json(memory: Memory, visible: Visible) -> ListedMemory:
    """The record with its state."""
    fresh = freshness(memory, visible)
    return {
        **memory_json(memory),
        "origin": memory.origin,
        "kind": memory.kind,
        "state": fresh.state,
        "decays_at": None if fresh.decays_at is None else to_text(fresh.decays_at),
    }


def turn_json(turn: SourceTurn) -> Turn:
    """A source turn of a change."""
    return {
        "role": turn.role,
        "content": turn.text,
        "name": turn.speaker,
        "timestamp": turn.said_at,
        "message_uid": turn.message_uid,
    }


def add_json(result: AddResult, *, include_usage: bool) -> AddAnswer:
    """The changes made by an add, in the order they were made."""
    added = sum(change.event == "ADD" for change in result.applied)
    body: AddAnswer = {
        "results": [applied_json(change) for change in result.applied],
        "message": (
            f"Added {added} memories successfully" if result.facts_found else "No new information found to store"
        ),
    }
    if result.known:
        body["known"] = [{"id": memory.id, "memory": memory.text} for memory in result.known]
    if result.proposed:
        body["proposed"] = [proposed_json(one) for one in result.proposed]
    if result.dropped:
        body["dropped_proposals"] = result.dropped
    if result.left_out:
        body["left_out"] = dict(result.left_out)
    if include_usage:
        body["usage"] = {
            "input_tokens": result.usage.input_tokens,
            "output_tokens": result.usage.output_tokens,
            "cached_tokens": result.usage.cached_tokens,
        }
    return body


def proposed_json(proposal: Proposal) -> Proposed:
    """What a proposal would do."""
    told: Proposed = {
        "id": proposal.id,
        "event": proposal.event,
        "memory": proposal.memory.text,
        "reason": proposal.reason,
        "previous_memory": proposal.previous_text,
    }
    if proposal.memory.origin not in _SAID:
        told["origin"] = proposal.memory.origin
    return told


def plan_json(applied: Sequence[Applied]) -> list[AppliedChange]:
    """The changes that a plan would make, each with its reason."""
    return [{**applied_json(change), "reason": change.reason} for change in applied]


def search_json(result: SearchResult, *, explain: bool) -> SearchAnswer:
    """The hits, best first; `degraded` only when a stage was missing."""
    body: SearchAnswer = {"results": [_hit_json(hit, explain=explain) for hit in result.hits]}
    if result.no_room:
        body["no_room"] = result.no_room
    if result.degraded:
        body["degraded"] = list(result.degraded)
    if explain:
        body["stages"] = dict(result.stages)
    return body


def history_json(entries: Sequence[HistoryEntry]) -> list[HistoryEvent]:
    """The events, oldest first, each change with its source turns."""
    return [_entry_json(entry) for entry in entries]


def applied_json(change: Applied) -> AppliedChange:
    """An applied change."""
    entry: AppliedChange = {"id": change.memory.id, "memory": change.memory.text, "event": change.event}
    if change.event == "UPDATE":
        entry["previous_memory"] = change.previous_text
    if change.event == "ADD" and change.memory.valid_to is not None:
        entry["valid_to"] = change.memory.valid_to
    return entry


def _hit_json(hit: FoundMemory, *, explain: bool) -> Hit:
    found: Hit = {
        **memory_json(hit.memory),
        "score": hit.score,
        "fits": hit.fits,
        "likely": False,
        "signals": dict(hit.signals),
        "linked_by": "",
    }
    if hit.is_likely:
        del found["likely"]
    if not explain:
        del found["signals"]
    if explain and hit.linked_by is not None:
        found["linked_by"] = words_by_key(hit.memory.text).get(hit.linked_by, "")
    if not found["linked_by"]:
        del found["linked_by"]
    return found


def _entry_json(entry: HistoryEntry) -> HistoryEvent:
    return {
        "id": entry.id,
        "memory_id": entry.memory_id,
        "event": entry.event,
        "old_memory": entry.old_text,
        "new_memory": entry.new_text,
        "created_at": entry.at,
        "reason": entry.reason,
        "model": entry.model,
        "turns": [turn_json(turn) for turn in entry.turns],
        "session": entry.session,
        "change_id": entry.change,
    }
