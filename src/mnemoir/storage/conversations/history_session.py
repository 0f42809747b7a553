"""Which session a history without a session's id belongs to: the one that begins as it does, for longest."""

from collections.abc import Sequence

import apsw

from mnemoir.storage.conversations.history_match import HistoryItem
from mnemoir.storage.conversations.session_rows import Row, text_of
from mnemoir.storage.sql.queries import queries

_TREE = queries("sessions/tree")
_SESSIONS = queries("sessions/sessions")
_MOST_BEGINNINGS = 1000


def session_that_begins(connection: apsw.Connection, history: Sequence[HistoryItem]) -> str | None:
    """The session with a branch that goes along for longest, if that is for a question and an answer at least.

    Of several the one used last; of more than 1,000 branches that begin alike the newest are looked at. Rows must be
    linked.
    """
    least = _first_exchange(history)
    if least is None:
        return None
    values = {"digest": history[0].digest, "limit": _MOST_BEGINNINGS}
    roots: list[Row] = connection.execute(_TREE["roots_saying"], values).fetchall()
    reached: dict[int, str] = dict(roots)
    for level, told in enumerate(history[1:], start=1):
        if level >= least and len(set(reached.values())) == 1:
            break
        further = {
            child: session_id
            for message_id, session_id in reached.items()
            for child in _children(connection, session_id, message_id, told.digest)
        }
        if not further:
            if level < least:
                return None
            break
        reached = further
    return _used_last(connection, set(reached.values()))


def _first_exchange(history: Sequence[HistoryItem]) -> int | None:
    """How many messages the history has up to its first answer to a question."""
    asked = False
    for place, told in enumerate(history):
        if asked and told.role == "assistant":
            return place + 1
        asked = asked or told.role == "user"
    return None


def _children(connection: apsw.Connection, session_id: str, message_id: int, digest: bytes) -> list[int]:
    values = {"session": session_id, "id": message_id, "digest": digest}
    return [row[0] for row in connection.execute(_TREE["children_saying"], values)]


def _used_last(connection: apsw.Connection, sessions: set[str]) -> str | None:
    if len(sessions) <= 1:
        return next(iter(sessions), None)
    used_at = {one: text_of(connection.execute(_SESSIONS["used_at"], {"session": one}).get) for one in sessions}
    return max(sessions, key=lambda one: (used_at[one] or "", one))
