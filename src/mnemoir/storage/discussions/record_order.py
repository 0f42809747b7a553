"""Where chunks stand in the order of the conversation, and how far other programs see it done.

A chunk's position is a number among the ids of the hash log, so that chunks of ours and hashes that another program
logged make one row. Other programs go on after the last hash of the log, or after the one of the tracker. So both are
kept to name the newest chunk that is not stale, whatever was put in front of it or taken away.
"""

from collections.abc import Mapping
from typing import Any

import apsw

from mnemoir.core.discussions import BlockKey
from mnemoir.storage.sql.queries import queries

_QUERIES = queries("records/records")


def new_position(connection: apsw.Connection, before: BlockKey | None) -> float:
    """A free position in front of a block; at the end without one, or when there is no such block."""
    found = None if before is None else _one(connection, "position_of", key=before)
    if found is None:
        return float(connection.execute(_QUERIES["last_position"]).get) + 1
    position = float(found[0])
    free = _free_before(connection, position)
    if free is None:
        _space_out(connection, position)
        position = float(connection.execute(_QUERIES["position_of"], {"key": before}).get)
        free = _free_before(connection, position)
    if free is None:
        raise apsw.CorruptError("the positions of its chunks leave no room")
    return free


def note_progress(connection: apsw.Connection, discussion: str, now: str) -> None:
    """Let log and tracker end with the newest block that is not stale."""
    chunk, foreign = _one(connection, "newest_live"), _one(connection, "newest_foreign")
    if chunk is not None and (foreign is None or chunk[3] > foreign[0]):
        _log_last(connection, chunk, {"discussion": discussion, "hash": chunk[2], "now": now})
        _set_tracker(connection, discussion, chunk[2], now)
    elif foreign is not None:
        _set_tracker(connection, discussion, foreign[1], now)
    else:
        connection.execute(_QUERIES["forget_tracker"])


def _log_last(connection: apsw.Connection, chunk: tuple[Any, ...], values: Mapping[str, str]) -> None:
    number, log_id, *_ = chunk
    last = _one(connection, "newest_logged")
    if last is not None and last[0] == log_id:
        return
    if log_id is not None:
        connection.execute(_QUERIES["unlog"], {"id": log_id})
    added = connection.execute(_QUERIES["log_hash"], values).get
    connection.execute(_QUERIES["set_log_id"], {"id": number, "log_id": added})


def _set_tracker(connection: apsw.Connection, discussion: str, hash_: str, now: str) -> None:
    connection.execute(_QUERIES["set_tracker"], {"discussion": discussion, "hash": hash_, "now": now})


def _free_before(connection: apsw.Connection, position: float) -> float | None:
    """Half-way to what stands in front; None where floating point has no number between the two."""
    low = float(connection.execute(_QUERIES["position_before"], {"position": position}).get)
    middle = low + (position - low) / 2
    return middle if low < middle < position else None


def _space_out(connection: apsw.Connection, position: float) -> None:
    """Spread the chunks around a position evenly between the rows of other programs that enclose them."""
    ((low, high),) = connection.execute(_QUERIES["fixed_around"], {"position": position})
    if high is None:
        high = float(connection.execute(_QUERIES["last_position"]).get) + 1
    chunks = connection.execute(_QUERIES["positions_between"], {"low": low, "high": high}).fetchall()
    step = (high - low) / (len(chunks) + 1)
    moved = ({"id": chunk, "position": low + step * (at + 1)} for at, (chunk,) in enumerate(chunks))
    connection.executemany(_QUERIES["move_chunk"], moved)


def _one(connection: apsw.Connection, query: str, **values: object) -> tuple[Any, ...] | None:
    return connection.execute(_QUERIES[query], values).fetchone()
