"""Memories, changes and history as JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from starlette.responses import Response

from mnemoir.core.clock import to_text
from mnemoir.core.memories import Applied, HistoryEntry, Hit, Memory, SourceTurn
from mnemoir.memory.facts import AddResult, freshness
from mnemoir.ports.memory_store import Visible
from mnemoir.search.recall import SearchResult

Json = dict[str, Any]


def answer(body: Mapping[str, Any]) -> Response:
    """200 with a JSON body."""
    return Response(orjson.dumps(body), media_type="application/json")


def memory_json(memory: Memory) -> Json:
    """The record of the contract, and after it what else is set."""
    record: Json = {
        "id": memory.id,
        "memory": memory.text,
        "user_id": memory.user,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at or memory.created_at,
        "metadata": None if memory.metadata is None else dict(memory.metadata),
    }
    further = {
        "agent_id": memory.agent,
        "app_id": memory.app,
        "run_id": memory.conversation,
        "role": memory.role,
        "name": memory.speaker,
        "expiration_date": memory.expires_on,
        "valid_to": memory.valid_to,
        "replaced_by": memory.replaced_by,
    }
    return record | {name: value for name, value in further.items() if value is not None}


def listed_json(memory: Memory, visible: Visible) -> Json:
    """The record with how it stands."""
    fresh = freshness(memory, visible)
    return memory_json(memory) | {
        "kind": memory.kind,
        "state": fresh.state,
        "decays_at": None if fresh.decays_at is None else to_text(fresh.decays_at),
    }


def turn_json(turn: SourceTurn) -> Json:
    """Words that a change came from."""
    return {"role": turn.role, "content": turn.text, "name": turn.speaker, "timestamp": turn.said_at}


def add_json(result: AddResult, *, include_usage: bool) -> Json:
    """What an add did, in the order it was done."""
    added = sum(change.event == "ADD" for change in result.applied)
    body: Json = {
        "results": [applied_json(change) for change in result.applied],
        "message": (
            f"Added {added} memories successfully" if result.facts_found else "No new information found to store"
        ),
    }
    if include_usage:
        body["usage"] = {
            "input_tokens": result.usage.input_tokens,
            "output_tokens": result.usage.output_tokens,
            "cached_tokens": result.usage.cached_tokens,
        }
    return body


def search_json(result: SearchResult, *, explain: bool) -> Json:
    """What was found, best first; `degraded` only when something was missing."""
    body: Json = {"results": [_hit_json(hit, explain=explain) for hit in result.hits]}
    if result.degraded:
        body["degraded"] = list(result.degraded)
    if explain:
        body["stages"] = dict(result.stages)
    return body


def history_json(entries: Sequence[HistoryEntry]) -> list[Json]:
    """Oldest first, each change with the turns it came from."""
    return [_entry_json(entry) for entry in entries]


def applied_json(change: Applied) -> Json:
    """A change as it happened."""
    entry: Json = {"id": change.memory.id, "memory": change.memory.text, "event": change.event}
    if change.event == "UPDATE":
        entry["previous_memory"] = change.previous_text
    return entry


def _hit_json(hit: Hit, *, explain: bool) -> Json:
    record = memory_json(hit.memory) | {"score": hit.score}
    return record | {"signals": dict(hit.signals)} if explain else record


def _entry_json(entry: HistoryEntry) -> Json:
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
    }
