"""The log of a user's changes: every commit with its events, as the history keeps them.

An event names its commit. Both backends of memories keep the history in this table, so both read this log. A commit
with erased words is taken out of the log as a whole.

Blocking functions within the scope of the caller's transaction.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any

from mnemoir.core.ids import ChangeId, MemoryId
from mnemoir.core.memories import ChangedMemory, LoggedChange
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import ChangePage, Project
from mnemoir.storage.sql.engine import Sql, of_scope, queries
from mnemoir.storage.sql.rows import before_of

_QUERIES = queries("change_log")
_MOST_ROWS = 1000  # after so many events a page ends
_NEWEST = 2**62


def changes_before(sql: Sql, scope: Scope, limit: int, place: int | None) -> ChangePage:
    """At most `limit` commits before the one at `place`, newest first; fewer when they have many events."""
    undone = _undos_by_commit(sql)
    found: list[LoggedChange] = []
    count = 0
    for change in _logged_changes(sql.each(_QUERIES["events_before"], before=place or _NEWEST), scope, undone):
        if len(found) == limit or (found and count + len(change.rows) > _MOST_ROWS):
            return ChangePage(changes=found, next=found[-1].place)
        found.append(change)
        count += len(change.rows)
    return ChangePage(changes=found)


def change_of(sql: Sql, project: Project, change_id: ChangeId, only: str | None) -> tuple[Scope, LoggedChange] | None:
    """A commit and its user, `only` that one if given; None when nobody, or somebody else, has one of that id.

    What another user did is not read, so it takes no longer than what nobody did.
    """
    if not change_id:
        return None
    user = sql.value(_QUERIES["owner_of_change"], tenant=project.tenant, project=project.project, id=change_id)
    if user is None or only not in (None, user):
        return None
    scope = Scope(tenant=project.tenant, project=project.project, user=user)
    within = of_scope(sql, scope)
    (change,) = _logged_changes(
        within.rows(_QUERIES["events_of_change"], id=change_id), scope, _undos_by_commit(within)
    )
    return scope, change


def change_from(sql: Sql, scope: Scope, message_uid: str) -> LoggedChange | None:
    """The first commit whose turns end with a message; None without one. Its id is "" when it has erased words."""
    rows = sql.rows(_QUERIES["events_from_message"], message_uid=message_uid)
    return next(iter(list(_logged_changes(rows, scope, _undos_by_commit(sql)))[::-1]), None) if rows else None


def changes_from(sql: Sql, scope: Scope, message_uids: Sequence[str]) -> list[LoggedChange]:
    """The listed commits whose turns end with one of these messages, newest first."""
    undone = _undos_by_commit(sql)
    found: dict[ChangeId, LoggedChange] = {}
    for uid in message_uids:
        rows = sql.rows(_QUERIES["events_from_message"], message_uid=uid)
        found |= {change.id: change for change in _logged_changes(rows, scope, undone) if change.id}
    return sorted(found.values(), key=attrgetter("place"), reverse=True)


def last_change_of(sql: Sql, memory_id: MemoryId) -> ChangeId | None:
    """The commit that changed a memory last; None for an unknown memory."""
    found = sql.value(_QUERIES["last_change_of"], id=memory_id)
    return None if found is None else ChangeId(found)


def end_before(sql: Sql, memory_id: MemoryId, change_id: ChangeId) -> str | None:
    """The time at which the memory had ended when the change began it; None when it had not been there before."""
    end: str | None = None
    at_beginning: dict[str, str | None] = {}
    for event, at, change, undo_of in sql.rows(_QUERIES["ends"], id=memory_id):
        if event == "ADD":
            at_beginning[change] = end
        else:
            end = at if undo_of is None else at_beginning.get(undo_of)
    return at_beginning.get(change_id)


def _logged_changes(rows: Iterable[Any], scope: Scope, undone: dict[str, ChangeId]) -> Iterator[LoggedChange]:
    """The commits of events that come newest first."""
    for change_id, events in groupby(rows, itemgetter(1)):
        of_change = list(events)[::-1]
        number, _, undo_of, at, model, session, *_ = of_change[0]
        yield LoggedChange(
            id=ChangeId(change_id),
            place=number,
            at=at,
            rows=[_changed_memory(row, scope) for row in of_change],
            model=model,
            session=session,
            undo_of=undo_of,
            undone_by=undone.get(change_id),
        )


def _changed_memory(row: Any, scope: Scope) -> ChangedMemory:
    event, memory_id, old, new, reason, state, left, agent, app, conversation = row[6:]
    memory_id = MemoryId(memory_id)
    return ChangedMemory(
        event=event,
        memory_id=memory_id,
        old_text=old,
        new_text=new,
        reason=reason,
        before=before_of(old, state, memory_id, scope.user),
        left=left,
        place=(agent, app, conversation),
    )


def _undos_by_commit(sql: Sql) -> dict[str, ChangeId]:
    """The commit that undid each commit, without those that were undone themselves."""
    undone: dict[str, ChangeId] = {}
    for change_id, undo_of in sql.rows(_QUERIES["undos"]):  # the newest first
        if change_id not in undone:
            undone.setdefault(undo_of, ChangeId(change_id))
    return undone
