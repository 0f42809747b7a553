"""The thread of a session in its rows: where it ends, and how it is moved from one branch to another.

Moving it costs what the two branches do not share, however long the rest is.
"""

from dataclasses import dataclass
from typing import Any

import apsw

from mnemoir.conversations.history_digest import message_digest
from mnemoir.conversations.sessions import ROOT, MessageRecord
from mnemoir.storage.conversations.session_rows import Row, text_of
from mnemoir.storage.sql.queries import queries

_TREE = queries("sessions/tree")
_MOST_IDS = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Behind which message another one may stand. Without any, it is the beginning."""

    id: int = ROOT
    created_at: str = ""  # as it is written there
    turn_id: str | None = None


BEGINNING = Place()


def head_of(connection: apsw.Connection, session_id: str) -> Place:
    """The end of the thread."""
    return _place(connection.execute(_TREE["head"], {"session": session_id}).fetchone()) or BEGINNING


def place_of(connection: apsw.Connection, session_id: str, message_id: int) -> Place | None:
    """That of a message, on whichever branch, or of ROOT; None when the session has no such message."""
    if message_id == ROOT:
        return BEGINNING
    if not 0 < message_id <= _MOST_IDS:
        return None
    values = {"session": session_id, "id": message_id}
    return _place(connection.execute(_TREE["place"], values).fetchone())


def place_at(connection: apsw.Connection, session_id: str, created_at: str) -> Place:
    """The message of the thread behind which one of that time belongs."""
    values = {"session": session_id, "created_at": created_at}
    return _place(connection.execute(_TREE["place_at"], values).fetchone()) or BEGINNING


def let_in(connection: apsw.Connection, session_id: str, message_id: int) -> None:
    """What follows a new message on the thread hangs on it from now on."""
    connection.execute(_TREE["let_in"], {"session": session_id, "id": message_id})


def move_head(connection: apsw.Connection, session_id: str, message_id: int) -> None:
    """Let the thread end with a message of the session, or be empty for ROOT.

    A summary of what is no longer on it is dropped. Where windows were to begin after such a message, they begin
    after the last one before it that is on the thread.
    """
    session = {"session": session_id}
    fork = _fork(connection, session_id, message_id)
    connection.execute(_TREE["leave"], {**session, "id": fork})
    if fork != message_id:
        connection.execute(_TREE["join"], {**session, "id": message_id})
    connection.execute(_TREE["drop_left_summary"], session)
    marked: Any = connection.execute(_TREE["marked"], session).get
    if marked is not None:
        begins = _fork(connection, session_id, marked)
        moved = None if begins == marked else begins
        connection.execute(_TREE["move_mark"], {**session, "moved": moved})


def link(connection: apsw.Connection, session_id: str) -> None:
    """Give rows of before, and of other programs, their parents and digests. Costs next to nothing without any."""
    session = {"session": session_id}
    rows = connection.execute(_TREE["unlinked"], session).fetchall()
    if not rows:
        return
    digests = [{"id": row[0], "digest": message_digest(_record(row))} for row in rows]
    connection.executemany(_TREE["put_digest"], digests).fetchall()
    connection.execute(_TREE["link"], session)


def is_unlinked(connection: apsw.Connection, session_id: str) -> bool:
    """Whether there are such rows."""
    return bool(connection.execute(_TREE["is_unlinked"], {"session": session_id}).get)


def _fork(connection: apsw.Connection, session_id: str, message_id: int) -> int:
    """The message of the thread that it is, or hangs on; ROOT for none."""
    found: Any = connection.execute(_TREE["fork"], {"session": session_id, "id": message_id}).get
    return int(found)


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
