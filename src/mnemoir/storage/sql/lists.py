"""Lists of memories with conditions, in the requested order.

Blocking functions within the scope of the caller's transaction.
"""

from collections.abc import Sequence
from typing import Any

from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Memory, has_members
from mnemoir.core.scope import Scope
from mnemoir.core.text import holds
from mnemoir.ports.memory_store import ListCursor, ListFilter, OwnerSummary, WeekCount
from mnemoir.storage.sql.engine import Sql, queries
from mnemoir.storage.sql.forgetting import named_after
from mnemoir.storage.sql.rows import as_json, from_json, memory_of, narrowing

_QUERIES = queries("lists")
_MOST_ROWS = 2**62
_HIDDEN = {"without": False, "with": None, "only": True}


def select(sql: Sql, scope: Scope, wanted: ListFilter, limit: int, after: ListCursor | None) -> list[Memory]:
    """One page of the memories that match."""
    sign = 1 if wanted.ascending else -1
    place = {
        "sign": sign,
        "limit": min(limit, _MOST_ROWS),
        "place_id": None if after is None else after.memory_id,
        "place_untimed": after is not None and after.at is None,
        "place_at": sign * (after.at or 0.0) if after is not None else 0.0,
    }
    rows = sql.rows(_QUERIES["selected"], **_conditions(sql, scope, wanted), **place)
    return [memory_of(row, scope.user) for row in rows]


def count(sql: Sql, scope: Scope, wanted: ListFilter) -> int:
    """The number of memories that match."""
    (found,) = sql.row(_QUERIES["selected_count"], **_conditions(sql, scope, wanted))
    return int(found)


def selected_seqs(sql: Sql, scope: Scope, wanted: ListFilter) -> list[int]:
    """The numbers of all memories that match, unordered."""
    return [seq for (seq,) in sql.rows(_QUERIES["selected_seqs"], **_conditions(sql, scope, wanted))]


def weeks(sql: Sql, scope: Scope, wanted: ListFilter) -> list[WeekCount]:
    """The number of memories that match, by week and origin."""
    rows = sql.rows(_QUERIES["weeks"], **_conditions(sql, scope, wanted))
    return [
        WeekCount(learned=week, changed=changed, origin=origin, memories=number)
        for week, changed, origin, number in rows
    ]


def learned_in(sql: Sql, session: str) -> list[MemoryId]:
    """The memories made or changed by messages of a session, and those whose metadata name it."""
    learned = [each for (each,) in sql.rows(_QUERIES["learned_in"], session=session)]
    return [MemoryId(each) for each in dict.fromkeys((*learned, *named_after(sql, session)))]


def owners(sql: Sql, tenant: str) -> list[OwnerSummary]:
    """Every user of the tenant that has current memories."""
    return [
        OwnerSummary(project=project, user=user, memories=number, changed_at=changed_at)
        for project, user, number, changed_at in sql.rows(_QUERIES["owners"], tenant=tenant)
    ]


def bytes_by_user(sql: Sql, tenant: str) -> dict[str, int]:
    """The bytes of the texts of current memories of each user of the tenant, as they are stored."""
    return dict(sql.rows(_QUERIES["bytes_by_user"], tenant=tenant))


def _conditions(sql: Sql, scope: Scope, wanted: ListFilter) -> dict[str, Any]:
    instants = {
        "now": wanted.visible.now,
        "at": wanted.visible.at,
        "horizon": wanted.visible.horizon,
        "since": wanted.since,
        "until": wanted.until,
    }
    ids = _ids(sql, wanted)
    seconds = {name: None if instant is None else instant.timestamp() for name, instant in instants.items()}
    return {
        **narrowing(scope),
        "kind": wanted.kind,
        "origin": wanted.origin,
        "hidden": _HIDDEN[wanted.hidden],
        "by": wanted.by,
        "ids": None if ids is None else as_json(list(ids)),
        "seqs": None if (seqs := _seqs(sql, wanted, seconds["at"])) is None else as_json(sorted(seqs)),
        **seconds,
    }


def _ids(sql: Sql, wanted: ListFilter) -> Sequence[MemoryId] | None:
    if wanted.session is None:
        return wanted.ids
    learned = learned_in(sql, wanted.session)
    return learned if wanted.ids is None else [each for each in wanted.ids if each in set(learned)]


def _seqs(sql: Sql, wanted: ListFilter, at: float | None) -> set[int] | None:
    """The memories that meet the conditions which no query can look at; None without such a condition."""
    found: list[set[int]] = []
    if wanted.words is not None:
        is_in = holds(wanted.words)
        found.append({seq for seq, text in sql.each(_QUERIES["texts"], at=at) if is_in(text)})
    if wanted.metadata is not None:
        told = ((seq, from_json(metadata)) for seq, metadata in sql.each(_QUERIES["metadata_of_each"], at=at))
        found.append({seq for seq, metadata in told if has_members(metadata, wanted.metadata)})
    return set.intersection(*found) if found else None
