"""The session of a history without a session id: the one whose beginning matches it for longest."""

from collections.abc import Sequence

from mnemoir.storage.sql.conversations.history_match import HistoryItem
from mnemoir.storage.sql.conversations.rows import Row, text_of
from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sql.queries import queries

_TREE = queries("sessions/tree")
_SESSIONS = queries("sessions/sessions")
_MOST_BEGINNINGS = 1000


def session_that_begins(sql: Sql, history: Sequence[HistoryItem]) -> str | None:
    """The session with the branch that matches for longest, at least for a question and an answer; None without one.

    Of several the one used last; of more than 1,000 branches with equal beginnings the newest are compared. Rows must
    be linked.
    """
    least = _first_exchange(history)
    if least is None:
        return None
    roots: list[Row] = sql.rows(_TREE["roots_saying"], digest=history[0].digest, limit=_MOST_BEGINNINGS)
    reached: dict[int, str] = dict(roots)
    for level, told in enumerate(history[1:], start=1):
        if level >= least and len(set(reached.values())) == 1:
            break
        further = {
            child: session_id
            for message_id, session_id in reached.items()
            for child in _children(sql, session_id, message_id, told.digest)
        }
        if not further:
            if level < least:
                return None
            break
        reached = further
    return _used_last(sql, set(reached.values()))


def _first_exchange(history: Sequence[HistoryItem]) -> int | None:
    """The number of messages up to the history's first answer to a question; None without one."""
    asked = False
    for place, told in enumerate(history):
        if asked and told.role == "assistant":
            return place + 1
        asked = asked or told.role == "user"
    return None


def _children(sql: Sql, session_id: str, message_id: int, digest: bytes) -> list[int]:
    return [row[0] for row in sql.each(_TREE["children_saying"], session=session_id, id=message_id, digest=digest)]


def _used_last(sql: Sql, sessions: set[str]) -> str | None:
    if len(sessions) <= 1:
        return next(iter(sessions), None)
    used_at = {one: text_of(sql.value(_SESSIONS["used_at"], session=one)) for one in sessions}
    return max(sessions, key=lambda one: (used_at[one] or "", one))
