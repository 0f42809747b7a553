"""The history of memories: the events of each, and their sources.

Both backends of memories keep it in these tables. Blocking functions within the scope of the caller's transaction.
"""

from collections.abc import Sequence

from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import HistoryEntry, Memory, Provenance
from mnemoir.core.scope import Scope
from mnemoir.storage.planning import Effect
from mnemoir.storage.sql.engine import Sql, Value
from mnemoir.storage.sql.queries import queries
from mnemoir.storage.sql.rows import history_of, narrowing, removed_of, state_as_json, turns_as_json

_QUERIES = {**queries("memories"), **queries("changes")}


def add(sql: Sql, effects: Sequence[Effect], provenance: Provenance, now: str) -> None:
    """Write one event for each effect, all with the turns and the model they came from."""
    if effects:
        common: dict[str, Value] = {"at": now, "model": provenance.model, "source_id": _source_id(sql, provenance)}
        sql.many(_QUERIES["add_history"], [{**common, **_event(effect)} for effect in effects])


def of_memory(sql: Sql, scope: Scope, memory_id: MemoryId) -> list[HistoryEntry]:
    """The events of a memory, oldest first; [] outside the scope."""
    return [history_of(row) for row in sql.rows(_QUERIES["history"], id=memory_id, **narrowing(scope))]


def removed(sql: Sql, scope: Scope, memory_id: MemoryId) -> Memory | None:
    """The memory at its removal, from the last event; None when it was not removed, or is forgotten."""
    return removed_of(sql.row(_QUERIES["last_event"], id=memory_id, **narrowing(scope)), memory_id, scope.user)


def _source_id(sql: Sql, provenance: Provenance) -> int | None:
    if not provenance.turns:
        return None
    turns = turns_as_json(provenance.turns)
    (source_id,) = sql.row(_QUERIES["add_source"], turns=turns, session=provenance.session)
    return int(source_id)


def _event(effect: Effect) -> dict[str, Value]:
    memory, is_removed = effect.memory, effect.event == "DELETE"
    return {
        "memory_id": memory.id,
        "agent": memory.agent,
        "app": memory.app,
        "conversation": memory.conversation,
        "event": effect.event,
        "reason": effect.reason,
        "old_text": memory.text if is_removed else effect.applied.previous_text,
        "new_text": None if is_removed else memory.text,
        "state": state_as_json(memory) if is_removed else None,
    }
