"""Answers that come when the thread has gone on: between their question and what was put behind it meanwhile.

The thread is ordered by time and then by id, and a late answer has a newer id than what it is put in front of. So it
gets the time right before that, and where there is none between the two, as by a clock that stands or was set back,
what follows becomes later by as little as it takes.
"""

from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta

from mnemoir.core.conversations import MessageRecord
from mnemoir.storage.sql.conversations.store import Row, text_of, time_of, time_text
from mnemoir.storage.sql.conversations.thread import MessageWriter, Place, link, no_message, place_of
from mnemoir.storage.sql.engine import Sql, queries

_TREE = queries("sessions/tree")
_LEAST = timedelta(microseconds=1)  # between two stored times


def put_late_answer(
    sql: Sql,
    writer: MessageWriter,
    session_id: str,
    answer: MessageRecord,
    question_id: int,
    followers: Collection[int],
) -> list[int]:
    """Put an answer behind its question and in front of the followers; see `TreeRows.put_answer`."""
    is_head = writer.head(session_id).id == question_id
    link(sql, session_id)
    question = place_of(sql, session_id, question_id)
    if question is None:
        raise no_message(session_id, question_id)
    moved = [row for row in _rows_behind(sql, session_id, question_id) if row[0] in followers]
    before = _right_before(question, moved)
    place = writer.put(
        session_id, answer if before is None else replace(answer, created_at=time_of(before)), question
    )
    for message_id, _, _ in moved:
        sql.run(_TREE["put_behind"], id=message_id, parent_id=place.id)
    _put_later(sql, session_id, place)
    if any(off_thread is None for _, _, off_thread in moved):
        sql.run(_TREE["drop_summary_over"], session=session_id, id=place.id)
        sql.run(_TREE["drop_claim"], session=session_id)
    elif not is_head:
        sql.run(_TREE["put_off_thread"], id=place.id)
    next_ones = [row for follower in moved for row in _rows_behind(sql, session_id, follower[0])]
    return [place.id, *(row[0] for row in (*moved, *next_ones))]


def _rows_behind(sql: Sql, session_id: str, message_id: int) -> list[Row]:
    """The children of a message: id, stored time, and 1 for one off the thread."""
    return sql.rows(_TREE["places_behind"], session=session_id, id=message_id)


def _right_before(question: Place, moved: Collection[Row]) -> str | None:
    """The time right before the first of the messages, if the question is no younger; None without any."""
    times = [_time_beside(text_of(created_at) or "", -_LEAST) for _, created_at, _ in moved]
    return max(question.created_at, min(times)) if times else None


def _put_later(sql: Sql, session_id: str, place: Place) -> None:
    """Let all that stands behind a message come after it in the order of the thread."""
    places = [place]
    while places:
        parent = places.pop()
        for message_id, raw, _ in _rows_behind(sql, session_id, parent.id):
            if (text_of(raw) or "", message_id) > (parent.created_at, parent.id):
                continue
            is_newer = message_id > parent.id
            created_at = parent.created_at if is_newer else _time_beside(parent.created_at, _LEAST)
            sql.run(_TREE["put_later"], id=message_id, created_at=created_at)
            places.append(Place(id=message_id, created_at=created_at))


def _time_beside(created_at: str, by: timedelta) -> str:
    """A stored time, earlier or later; one that cannot be read, or has no such neighbour, stays as it is."""
    at = time_of(created_at)
    try:
        return created_at if at is None else time_text(at + by)
    except OverflowError:
        return created_at
