"""Deletion of the memories of a session, with all traces of their texts, and of all rows of a user.

A memory whose present text came from the session alone is deleted. One whose text came from elsewhere too, or since,
stays and loses its history from the session. Both backends keep history, sources and receipts in these tables.

All rows of a user become invisible in one small step, and are deleted in many. They refer to the number of a scope.
So the scope with its rows is detached from the user, who gets a new empty one; then the rows are deleted, a few in
each transaction, so that no other writer waits for long. A job of the queue records the remaining work: after a
crash the next start continues it.
"""

import json
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from mnemoir.core.errors import KeyDestroyed
from mnemoir.core.ids import JobId, MemoryId
from mnemoir.core.scope import Scope
from mnemoir.storage.sql.engine import Sql, of_scope, owner_values, queries
from mnemoir.storage.sql.job_queue import put_job
from mnemoir.storage.sql.proposals import erase_proposals
from mnemoir.storage.sql.rows import narrowing
from mnemoir.storage.sql.table_queries import queries_of_tables

_QUERIES = {
    name: query
    for subject in ("forgetting", "erasing", "changes", "change_log", "personal_values")
    for name, query in queries(subject).items()
}
_GIVE_NO_TEXT = ("restored", "merged", "confirmed", "undone")
ERASE = "erase"  # the kind of such jobs

_ROWS_AT_ONCE = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """Memories that came from a session: those to delete, and those that stay without their history from it."""

    gone: Sequence[MemoryId] = ()
    kept: Sequence[MemoryId] = ()


def derived_from(sql: Sql, session: str, named: Sequence[str] = ()) -> Derived:
    """The memories that came from a session; `named` are those whose metadata name it.

    A memory that was merged with one of the session, and got exactly its text, came from the session too.
    """
    touched = dict.fromkeys(memory_id for memory_id, _, _ in sql.rows(_QUERIES["said"], session=session))
    touched.update(dict.fromkeys(memory_id for _, memory_id in _copied_from(sql, session)))
    said_there_alone = {memory_id: _is_said_alone(sql, memory_id, session) for memory_id in touched}
    states = sql.rows(_QUERIES["earlier_states"])
    once_named = [(each, gone) for each, gone, state, _ in states if _names(_member(state, "metadata"), session)]
    for memory_id, is_gone in (*((each, True) for each in named), *once_named):
        said_there_alone.setdefault(memory_id, bool(is_gone))
    return Derived(
        gone=[MemoryId(each) for each, alone in said_there_alone.items() if alone],
        kept=[MemoryId(each) for each, alone in said_there_alone.items() if not alone],
    )


def named_after(sql: Sql, session: str) -> list[str]:
    """Ids of the memories in the database whose metadata name the session."""
    return [each for each, metadata, _ in sql.rows(_QUERIES["metadata"]) if _names(_object(metadata), session)]


def drop_words(sql: Sql, session: str, derived: Derived) -> None:
    """Delete the texts of the session from history, sources, closed states and receipts."""
    copied = [{"number": number} for number, _ in _copied_from(sql, session)]  # while its texts are known
    sql.many(_QUERIES["unlist"], [{"id": memory_id} for memory_id in (*derived.gone, *derived.kept)])
    sql.many(_QUERIES["drop_event"], copied)
    for memory_id in derived.gone:
        sql.run(_QUERIES["drop_history_of"], id=memory_id)
    for memory_id in derived.kept:
        sql.run(_QUERIES["drop_history_from"], id=memory_id, session=session)
        sql.run(_QUERIES["drop_old_texts_of"], id=memory_id)
        sql.run(_QUERIES["drop_past_of"], id=memory_id)
    _drop_receipts(sql, (*derived.gone, *derived.kept))
    sql.run(_QUERIES["unsource"], session=session)
    sql.run(_QUERIES["drop_sources"], session=session)


def drop_traces(sql: Sql, memory_ids: Sequence[MemoryId]) -> None:
    """Delete history, answers and unshared turns of memories that are deleted."""
    sql.many(_QUERIES["unlist"], [{"id": memory_id} for memory_id in memory_ids])
    for memory_id in memory_ids:
        sql.run(_QUERIES["drop_history_of"], id=memory_id)
    _drop_receipts(sql, memory_ids)
    sql.run(_QUERIES["erase_sources"])


def erase_traces(sql: Sql, scope: Scope) -> None:
    """Delete history, proposals, sources and receipts of a scope's memories, present and removed."""
    sql.run(_QUERIES["erase_history"], **narrowing(scope))
    erase_proposals(sql, scope)
    for query in ("erase_sources", "erase_receipts"):
        sql.run(_QUERIES[query])


def _copied_from(sql: Sql, session: str) -> list[tuple[int, str]]:
    """(event, memory id) of the merges, restorings and undos by which a memory got a text of the session."""
    said = {text for _, text, _ in sql.rows(_QUERIES["said"], session=session)} - {None}
    events = sql.rows(_QUERIES["copied"]) if said else []
    return [(number, memory_id) for number, memory_id, old, new in events if new != old and new in said]


def _is_said_alone(sql: Sql, memory_id: str, session: str) -> bool:
    """True when the memory's last text came from this session alone.

    Restoring a memory, merging it with another and confirming it give it no text.
    """
    given = sql.rows(_QUERIES["texts_given"], id=memory_id)
    return not any(
        text == given[0][0] and reason not in _GIVE_NO_TEXT and where != session for text, reason, where, _ in given
    )


def _drop_receipts(sql: Sql, memory_ids: Sequence[str]) -> None:
    """Delete the stored answers that quote one of the memories, or proposals."""
    sql.run(_QUERIES["drop_proposing_receipts"])
    for key, applied in sql.rows(_QUERIES["receipts"]):
        if any(memory_id in applied for memory_id in memory_ids):
            sql.run(_QUERIES["drop_receipt"], key=key)


def _names(metadata: object, session: str) -> bool:
    return isinstance(metadata, dict) and metadata.get("session_id") == session


def _member(text: str, name: str) -> object:
    members = _object(text)
    return members.get(name) if isinstance(members, dict) else None


def _object(text: str) -> object:
    """The parsed JSON; None for invalid JSON, or for one that names no session."""
    if '"session_id"' not in text:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None


def make_nobodys(sql: Sql, scope: Scope, now: datetime) -> int:
    """Detach a user's rows; the number of current memories among them. `sql` is within the user's scope."""
    count = int(sql.value(_QUERIES["current_rows"]))
    changes, removals, next_seq, _ = sql.row(_QUERIES["counters"])
    put_job(sql, _job_of(sql.scope_id), ERASE, {}, now=now)  # as long as this is the scope
    sql.run(_QUERIES["make_nobodys"], name=uuid.uuid4().hex)
    removals += count or 1  # there may have been closed ones
    counters = {"changes": changes, "removals": removals, "next_seq": next_seq}
    sql.run(_QUERIES["begin_scope"], **owner_values(scope), **counters, hashed_by=sql.key_of(scope))
    _keep_values_of_messages(sql, scope)
    return count


def _keep_values_of_messages(sql: Sql, scope: Scope) -> None:
    """Give what stands in messages to the scope that the user has now; not what no key opens any more."""
    with suppress(KeyDestroyed):
        rows = sql.rows(_QUERIES["values_of_messages"])
        names = ("kind", "hash", "about", "session_id", "number", "original", "label")
        of_scope(sql, scope).many(_QUERIES["put_value"], [dict(zip(names, row, strict=True)) for row in rows])


def erase_some(sql: Sql) -> bool:
    """Delete some detached rows; True when there may be more."""
    number = sql.value(_QUERIES["scope_of_nobody"])
    if number is None:
        return False
    within = sql.within(number)
    if not any(within.run(of.drop_some, limit=_ROWS_AT_ONCE) for of in queries_of_tables()):
        within.run(_QUERIES["drop_scope"])
        sql.run(_QUERIES["drop_job"], id=_job_of(number))
    return True


def _job_of(scope_id: int | None) -> JobId:
    return JobId(f"{ERASE}-{scope_id}")
