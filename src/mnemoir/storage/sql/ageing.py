"""Deletion of what is too old in one scope: events of the history, removed memories, and replaced states."""

from collections.abc import Mapping
from datetime import datetime

from mnemoir.core.clock import to_text
from mnemoir.ports.memory_store import Old
from mnemoir.storage.sql.engine import Sql, queries

_QUERIES = {**queries("ageing"), **queries("forgetting")}
_ALL = -1


def old_in(sql: Sql, old: Old) -> Mapping[str, int]:
    """How many rows of each kind are too old."""
    return {name: len(rows) for name, rows in _old_rows(sql, old, _ALL).items()}


def drop_old(sql: Sql, old: Old, limit: int) -> tuple[Mapping[str, int], int]:
    """Delete so many rows of each kind at most; how many, and how many rows of memories were among them."""
    found = _old_rows(sql, old, limit)
    closed = 0
    for number in found["history"]:
        sql.run(_QUERIES["drop_event"], number=number)
    for memory_id in found["removed"]:
        closed += sql.run(_QUERIES["drop_removed"], id=memory_id)
        sql.run(_QUERIES["drop_history_of"], id=memory_id)
    for seq in found["replaced"]:
        closed += sql.run(_QUERIES["drop_replaced"], seq=seq)
    if found["history"] or found["removed"]:
        sql.run(_QUERIES["erase_sources"])
    return {name: len(rows) for name, rows in found.items()}, closed


def _old_rows(sql: Sql, old: Old, limit: int) -> Mapping[str, list[int | str]]:
    return {
        "history": _ids(sql, "old_events", old.told_before, limit),
        "removed": _ids(sql, "old_removed", old.removed_before, limit),
        "replaced": _ids(sql, "old_replaced", old.removed_before, limit),
    }


def _ids(sql: Sql, query: str, before: datetime | None, limit: int) -> list[int | str]:
    if before is None:
        return []
    return [each for (each,) in sql.rows(_QUERIES[query], before=to_text(before), limit=limit)]
