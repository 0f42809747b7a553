"""Positions of chunks in the order of the conversation, and the progress that other programs read.

A chunk's position is a number among the ids of the hash log, so that chunks of ours and hashes that another program
logged have one order. Other programs continue after the last hash of the log, or after the one of the tracker. So
both always name the newest chunk that is not stale, also after chunks before it were inserted or removed.
"""

from collections.abc import Mapping
from typing import Any

from mnemoir.core.discussions import BlockKey
from mnemoir.storage.sql.engine import Damaged, Sql, queries

_QUERIES = queries("records/records")


def new_position(sql: Sql, before: BlockKey | None) -> float:
    """A free position before a block; at the end without one, or when there is no such block."""
    found = None if before is None else sql.row(_QUERIES["position_of"], key=before)
    if found is None:
        return float(sql.row(_QUERIES["last_position"])[0]) + 1
    position = float(found[0])
    free = _free_before(sql, position)
    if free is None:
        _space_out(sql, position)
        position = float(sql.row(_QUERIES["position_of"], key=before)[0])
        free = _free_before(sql, position)
    if free is None:
        raise Damaged("the positions of its chunks leave no room")
    return free


def note_progress(sql: Sql, discussion: str, now: str) -> None:
    """Make log and tracker end with the newest block that is not stale."""
    chunk, foreign = sql.row(_QUERIES["newest_live"]), sql.row(_QUERIES["newest_foreign"])
    if chunk is not None and (foreign is None or chunk[3] > foreign[0]):
        _log_last(sql, chunk, {"discussion": discussion, "hash": chunk[2], "now": now})
        _set_tracker(sql, discussion, chunk[2], now)
    elif foreign is not None:
        _set_tracker(sql, discussion, foreign[1], now)
    else:
        sql.run(_QUERIES["forget_tracker"])


def _log_last(sql: Sql, chunk: tuple[Any, ...], values: Mapping[str, str]) -> None:
    number, log_id, *_ = chunk
    last = sql.row(_QUERIES["newest_logged"])
    if last is not None and last[0] == log_id:
        return
    if log_id is not None:
        sql.run(_QUERIES["unlog"], id=log_id)
    ((added,),) = sql.rows(_QUERIES["log_hash"], **values)
    sql.run(_QUERIES["set_log_id"], id=number, log_id=added)


def _set_tracker(sql: Sql, discussion: str, hash_: str, now: str) -> None:
    sql.run(_QUERIES["set_tracker"], discussion=discussion, hash=hash_, now=now)


def _free_before(sql: Sql, position: float) -> float | None:
    """Half-way to the previous position; None when no floating point number lies between the two."""
    low = float(sql.row(_QUERIES["position_before"], position=position)[0])
    middle = low + (position - low) / 2
    return middle if low < middle < position else None


def _space_out(sql: Sql, position: float) -> None:
    """Space the chunks around a position evenly between the enclosing rows of other programs."""
    low, high = sql.row(_QUERIES["fixed_around"], position=position)
    if high is None:
        high = float(sql.row(_QUERIES["last_position"])[0]) + 1
    chunks = sql.rows(_QUERIES["positions_between"], low=low, high=high)
    step = (high - low) / (len(chunks) + 1)
    moved = [{"id": chunk, "position": low + step * (at + 1)} for at, (chunk,) in enumerate(chunks)]
    sql.many(_QUERIES["move_chunk"], moved)
