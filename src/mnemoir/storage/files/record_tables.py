"""What happened to the memories of project files, and what was answered: history and receipts, in the database.

Blocking functions over one connection, on the same tables as the database backend's. Both outlive the memory they
speak of.
"""

from collections.abc import Sequence
from datetime import datetime

import apsw

from mnemoir.core.clock import to_text
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Applied, HistoryEntry, Memory, Provenance
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import Receipt, Redeemed
from mnemoir.storage.files.draft import Done
from mnemoir.storage.sqlite import receipts
from mnemoir.storage.sqlite.forgetting import Derived, derived_from, drop_words, erase_traces
from mnemoir.storage.sqlite.queries import queries
from mnemoir.storage.sqlite.rows import (
    history_of,
    narrowing,
    owner_values,
    removed_of,
    scope_number,
    state_as_json,
    turns_as_json,
)

_QUERIES = {**queries("memories"), **queries("changes")}


def add_history(
    connection: apsw.Connection, scope: Scope, done: Sequence[Done], provenance: Provenance, at: datetime
) -> None:
    """One row a change, all with the turns and the model they came from."""
    if not done:
        return
    number = _enter(connection, scope)
    source_id = _add_source(connection, number, provenance)
    connection.executemany(
        _QUERIES["add_history"],
        (
            {
                "scope_id": number,
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
        ),
    )


def read_history(connection: apsw.Connection, scope: Scope, memory_id: MemoryId) -> list[HistoryEntry]:
    """Oldest first; [] outside the scope."""
    which = {"scope_id": scope_number(connection, scope), "id": memory_id, **narrowing(scope)}
    return [history_of(row) for row in connection.execute(_QUERIES["history"], which)]


def read_removed(connection: apsw.Connection, scope: Scope, memory_id: MemoryId) -> Memory | None:
    """The memory as the last event says it was when it was removed; None when it was not, or is forgotten."""
    which = {"scope_id": scope_number(connection, scope), "id": memory_id, **narrowing(scope)}
    row = connection.execute(_QUERIES["last_event"], which).fetchone()
    return removed_of(row, memory_id, scope.user)


def erase(connection: apsw.Connection, scope: Scope) -> None:
    """Take out all that is told of the scope's memories."""
    number = scope_number(connection, scope)
    if number is not None:
        erase_traces(connection, number, scope)


def find_derived(connection: apsw.Connection, scope: Scope, session: str, named: Sequence[str]) -> Derived:
    """What came from a session; `named` are memories of the file that say so themselves."""
    number = scope_number(connection, scope)
    return (
        Derived(gone=[MemoryId(each) for each in named])
        if number is None
        else derived_from(connection, number, session, named)
    )


def drop_derived(connection: apsw.Connection, scope: Scope, session: str, derived: Derived) -> None:
    """Take the words of a session out of history, sources and receipts."""
    number = scope_number(connection, scope)
    if number is not None:
        drop_words(connection, number, session, derived)


def earlier_answer(
    connection: apsw.Connection, scope: Scope, receipt: Receipt | None, now: datetime
) -> list[Applied] | None:
    """What was done for this very request; None when it is new. Raises Conflict when its key served another."""
    number = scope_number(connection, scope)
    if receipt is None or number is None:
        return None
    return receipts.already_applied(connection, number, receipt, now)


def add_receipt(
    connection: apsw.Connection, scope: Scope, receipt: Receipt, answer: tuple[str, Sequence[Applied]], now: datetime
) -> None:
    """Keep the reason and the outcome of a change."""
    receipts.keep(connection, _enter(connection, scope), receipt, answer, now)


def read_receipt(connection: apsw.Connection, scope: Scope, key: str, now: datetime) -> Redeemed | None:
    """What was answered under the key in the last 24 hours."""
    number = scope_number(connection, scope)
    return None if number is None else receipts.find(connection, number, key, now)


def _enter(connection: apsw.Connection, scope: Scope) -> int:
    connection.execute(_QUERIES["enter_scope"], owner_values(scope))
    ((number,),) = connection.execute(_QUERIES["scope_id"], owner_values(scope))
    return int(number)


def _add_source(connection: apsw.Connection, number: int, provenance: Provenance) -> int | None:
    if not provenance.turns:
        return None
    source = {
        "scope_id": number,
        "turns": turns_as_json(provenance.turns),
        "session": provenance.session,
    }
    ((source_id,),) = connection.execute(_QUERIES["add_source"], source)
    return int(source_id)


def _old_text(one: Done) -> str | None:
    return one.applied.memory.text if one.applied.event == "DELETE" else one.applied.previous_text
