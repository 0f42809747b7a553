"""What happened to the memories of project files, and what was answered: history and receipts, in the database.

Blocking functions within the scope of the transaction, on the same tables as the database backend's. Both outlive the
memory they speak of.
"""

from collections.abc import Sequence
from datetime import datetime

from mnemoir.core.clock import to_text
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Applied, HistoryEntry, Memory, Provenance
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import Receipt
from mnemoir.storage.files.draft import Done
from mnemoir.storage.sql import receipts
from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sql.queries import queries
from mnemoir.storage.sql.rows import history_of, narrowing, removed_of, state_as_json, turns_as_json
from mnemoir.storage.sql.scopes import entered

_QUERIES = {**queries("memories"), **queries("changes")}


def add_history(sql: Sql, scope: Scope, done: Sequence[Done], provenance: Provenance, at: datetime) -> None:
    """One row a change, all with the turns and the model they came from."""
    if not done:
        return
    within = entered(sql, scope)
    source_id = _add_source(within, provenance)
    within.many(
        _QUERIES["add_history"],
        [
            {
                "memory_id": one.applied.memory.id,
                "agent": one.applied.memory.agent,
                "app": one.applied.memory.app,
                "conversation": one.applied.memory.conversation,
                "event": one.applied.event,
                "at": to_text(at),
                "reason": one.reason,
                "model": provenance.model,
                "source_id": source_id,
                "old_text": _old_text(one),
                "new_text": None if one.applied.event == "DELETE" else one.applied.memory.text,
                "state": state_as_json(one.applied.memory) if one.applied.event == "DELETE" else None,
            }
            for one in done
        ],
    )


def read_history(sql: Sql, scope: Scope, memory_id: MemoryId) -> list[HistoryEntry]:
    """Oldest first; [] outside the scope."""
    return [history_of(row) for row in sql.rows(_QUERIES["history"], id=memory_id, **narrowing(scope))]


def read_removed(sql: Sql, scope: Scope, memory_id: MemoryId) -> Memory | None:
    """The memory as the last event says it was when it was removed; None when it was not, or is forgotten."""
    row = sql.row(_QUERIES["last_event"], id=memory_id, **narrowing(scope))
    return removed_of(row, memory_id, scope.user)


def earlier_answer(sql: Sql, receipt: Receipt | None, now: datetime) -> list[Applied] | None:
    """What was done for this very request; None when it is new. Raises Conflict when its key served another."""
    return None if receipt is None else receipts.already_applied(sql, receipt, now)


def add_receipt(
    sql: Sql, scope: Scope, receipt: Receipt, answer: tuple[str, Sequence[Applied]], now: datetime
) -> None:
    """Keep the reason and the outcome of a change."""
    receipts.keep(entered(sql, scope), receipt, answer, now)


def _add_source(sql: Sql, provenance: Provenance) -> int | None:
    if not provenance.turns:
        return None
    turns = turns_as_json(provenance.turns)
    (source_id,) = sql.row(_QUERIES["add_source"], turns=turns, session=provenance.session)
    return int(source_id)


def _old_text(one: Done) -> str | None:
    return one.applied.memory.text if one.applied.event == "DELETE" else one.applied.previous_text
