"""The thread of a session in its rows: its head, and its move from one branch to another.

The cost of a move depends only on the messages that the two branches do not share.
"""

from dataclasses import dataclass

from mnemoir.conversations.history_digest import message_digest
from mnemoir.core.conversations import ROOT, MessageRecord
from mnemoir.storage.sql.conversations.rows import Row, text_of
from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sql.queries import queries

_TREE = queries("sessions/tree")
_MOST_IDS = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The message that another one may follow; without a message, the beginning."""

    id: int = ROOT
    created_at: str = ""  # as stored
    turn_id: str | None = None


BEGINNING = Place()


def head_of(sql: Sql, session_id: str) -> Place:
    """The last message of the thread."""
    return _place(sql.row(_TREE["head"], session=session_id)) or BEGINNING


def place_of(sql: Sql, session_id: str, message_id: int) -> Place | None:
    """The place of a message, on any branch, or of ROOT; None when the session has no such message."""
    if message_id == ROOT:
        return BEGINNING
    if not 0 < message_id <= _MOST_IDS:
        return None
    return _place(sql.row(_TREE["place"], session=session_id, id=message_id))


def place_at(sql: Sql, session_id: str, created_at: str) -> Place:
    """The message of the thread that one of that time follows."""
    return _place(sql.row(_TREE["place_at"], session=session_id, created_at=created_at)) or BEGINNING


def let_in(sql: Sql, session_id: str, message_id: int) -> None:
    """Make a new message on the thread the parent of the one that follows it."""
    sql.run(_TREE["let_in"], session=session_id, id=message_id)


def move_head(sql: Sql, session_id: str, message_id: int) -> None:
    """Make a message of the session the end of the thread; ROOT empties the thread.

    A summary of messages that are no longer on it is dropped. If windows began after such a message, they now begin
    after the last one before it that is on the thread.
    """
    fork = _fork(sql, session_id, message_id)
    sql.run(_TREE["leave"], session=session_id, id=fork)
    if fork != message_id:
        sql.run(_TREE["join"], session=session_id, id=message_id)
    sql.run(_TREE["drop_left_summary"], session=session_id)
    marked = sql.value(_TREE["marked"], session=session_id)
    if marked is not None:
        begins = _fork(sql, session_id, marked)
        sql.run(_TREE["move_mark"], session=session_id, moved=None if begins == marked else begins)


def link(sql: Sql, session_id: str) -> None:
    """Set parents and digests of rows by earlier releases and other programs. Costs next to nothing without any."""
    rows = sql.rows(_TREE["unlinked"], session=session_id)
    if rows:
        sql.many(_TREE["put_digest"], [{"id": row[0], "digest": message_digest(_record(row))} for row in rows])
        sql.run(_TREE["link"], session=session_id)


def is_unlinked(sql: Sql, session_id: str) -> bool:
    """True when the session has such rows."""
    return bool(sql.value(_TREE["is_unlinked"], session=session_id))


def _fork(sql: Sql, session_id: str, message_id: int) -> int:
    """The message itself if on the thread, else its nearest ancestor on the thread; ROOT for none."""
    return int(sql.value(_TREE["fork"], session=session_id, id=message_id))


def _place(row: Row | None) -> Place | None:
    if row is None:
        return None
    message_id, created_at, turn_id = row
    return Place(id=message_id, created_at=text_of(created_at) or "", turn_id=text_of(turn_id))


def _record(row: Row) -> MessageRecord:
    message_id, role, content, calls, files = row
    return MessageRecord(
        session_id="",
        id=message_id,
        role=text_of(role) or "",
        content=text_of(content),
        tool_calls=text_of(calls),
        files=text_of(files),
    )
