"""What is deleted by its age: events of the history, removed memories and replaced states of a scope, and receipts.

When that was last done stands in rows of its own.
"""

import hashlib
import os
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from mnemoir.core.clock import from_text, to_text
from mnemoir.ports.memory_store import Old
from mnemoir.storage.sql.engine import Engine, Sql, queries

_QUERIES = {**queries("ageing"), **queries("forgetting")}
_ALL = 2**62


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


class Stamp(StrEnum):
    """What is noted with its time: a clock that is trusted, a pruning of conversations, and a try to write.

    A file that was imported once is noted by `stamp_of_import`.
    """

    CLOCK = "clock"
    PRUNED = "pruned"
    PROBED = "probed"


def stamp_of_import(path: Path) -> str:
    """The stamp of a file that is imported once; it tells nothing of the path."""
    return f"imported {hashlib.sha256(os.fsencode(path)).hexdigest()}"


class SqlStamps:
    """`db` is the caller's. Raises StorageUnavailable."""

    def __init__(self, db: Engine) -> None:
        self._db = db

    async def read(self, stamp: Stamp | str) -> datetime | None:
        """The time of the last one; None for none."""
        return from_text(await self._db.read(None, lambda sql: sql.value(_QUERIES["stamp"], name=stamp)))

    async def write(self, stamp: Stamp | str, at: datetime) -> None:
        """Note the time of one."""
        await self._db.write(None, lambda sql: sql.run(_QUERIES["put_stamp"], name=stamp, at=to_text(at)))
