"""The thread of a session in its rows: its head, its move from one branch to another, and the writer of messages.

The cost of a move depends only on the messages that the two branches do not share.

A user's message begins a turn, and what follows it belongs to it. A message is never older than its parent, so a
clock that is set back reorders nothing.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from mnemoir.conversations.history_digest import message_digest
from mnemoir.core.conversations import ROOT, MessageNotFoundError, MessageRecord, SessionMetadata, checked_session_id
from mnemoir.storage.sql.conversations.store import Row, message_values, storable, text_of, time_text
from mnemoir.storage.sql.engine import LogAmounts, Sql, Value, queries

_TREE = queries("sessions/tree")
_SESSIONS = queries("sessions/sessions")
_MESSAGES = queries("sessions/messages")
_VECTORS = queries("sessions/vectors")
_MOST_IDS = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The message that another one may follow; without a message, the beginning."""

    id: int = ROOT
    created_at: str = ""  # as stored
    turn_id: str | None = None
    was_there: bool = False  # of a message that was to be stored again


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
    """Set parents and digests of rows of other programs. Costs next to nothing without any."""
    rows = sql.rows(_TREE["unlinked"], session=session_id)
    if rows:
        digests = [{"id": row[0], "digest": sql.stored_digest(message_digest(_record(row)))} for row in rows]
        sql.many(_TREE["put_digest"], digests)
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
    message_id, role, content, calls, files, _ = row
    return MessageRecord(
        session_id="",
        id=message_id,
        role=text_of(role) or "",
        content=text_of(content),
        tool_calls=text_of(calls),
        files=text_of(files),
    )


class MessageWriter:
    """The writer of one transaction, whose time is `now`; `added` gets what it adds to the counters.

    The other arguments are those of `save_messages`.
    """

    def __init__(
        self, sql: Sql, added: LogAmounts, now: str, *, system_prompt: str = "", embedding_model: str | None = None
    ) -> None:
        self._sql = sql
        self._added = added
        self._now = now
        self._system_prompt = system_prompt
        self._embedding_model = embedding_model
        self._heads: dict[str, Place] = {}  # of the sessions in use here

    def head(self, session_id: str) -> Place:
        """The head of the session, which is created if missing, and marked as used now."""
        if session_id not in self._heads:
            values = _session_values(session_id, self._system_prompt, None, self._now)
            is_new = self._sql.value(_SESSIONS["use_session"], **values)
            if is_new is not None:
                self._added.conversations += bool(is_new)
                self._added.last_used = self._now
            self._heads[session_id] = head_of(self._sql, session_id)
        return self._heads[session_id]

    def go_to(self, session_id: str, message_id: int) -> None:
        """Make the message the end of the thread. Raises MessageNotFoundError."""
        if self.head(session_id).id == message_id:
            return
        link(self._sql, session_id)
        place = place_of(self._sql, session_id, message_id)
        if place is None:
            raise no_message(session_id, message_id)
        move_head(self._sql, session_id, message_id)
        self._heads[session_id] = place

    def stored_ids(self, session_id: str, messages: Sequence[MessageRecord]) -> list[int] | None:
        """The ids of messages of the session that are stored already, by their uids; None when one is not."""
        uids = [{"uid": message.uid} for message in messages if message.uid is not None]
        if len(uids) < len(messages):
            return None
        rows = self._sql.many(_TREE["place_of_uid"], [{"session": session_id, **uid} for uid in uids])
        return [row[0] for row in rows] if len(rows) == len(messages) else None

    def append(self, session_id: str, messages: Sequence[MessageRecord]) -> list[int]:
        """Append the messages after the head, in order; their ids."""
        return self._note_waiting_messages(messages, [self._put_at_head(session_id, message) for message in messages])

    def put(self, session_id: str, message: MessageRecord, behind: Place) -> Place:
        """Insert a message on the thread behind another one, which need not be the head."""
        place = self._put(session_id, message, behind)
        self._note_waiting_messages([message], [place.id])
        return place

    def save(self, messages: Sequence[MessageRecord]) -> list[int]:
        """Insert each after its parent, or by its time in the thread, or at the end; their ids."""
        if len({message.session_id for message in messages}) == 1:
            stored = self.stored_ids(messages[0].session_id, messages)
            if stored is not None:
                return stored
        return self._note_waiting_messages(messages, [self._save(message) for message in messages])

    def _note_waiting_messages(self, messages: Sequence[MessageRecord], ids: list[int]) -> list[int]:
        """The ids; messages that get a vector are recorded as waiting."""
        if self._embedding_model is not None:
            note = {"model": self._embedding_model, "now": self._now}
            waiting = [id for id, message in zip(ids, messages, strict=True) if message.is_embeddable]
            self._sql.many(_VECTORS["await"], [{"id": id, **note} for id in waiting])
        return ids

    def _save(self, message: MessageRecord) -> int:
        session_id = message.session_id
        head = self.head(session_id)
        if message.parent_id is not None:
            self.go_to(session_id, message.parent_id)
        elif message.created_at is not None and (created_at := time_text(message.created_at)) < head.created_at:
            place = self._put(session_id, message, place_at(self._sql, session_id, created_at))
            let_in(self._sql, session_id, place.id)
            return place.id
        return self._put_at_head(session_id, message)

    def _put_at_head(self, session_id: str, message: MessageRecord) -> int:
        head = self.head(session_id)
        place = self._put(session_id, message, head)
        if not place.was_there:
            self._heads[session_id] = place
        return place.id

    def _put(self, session_id: str, message: MessageRecord, behind: Place) -> Place:
        created_at = self._now if message.created_at is None else time_text(message.created_at)
        turn_id = message.turn_id or _turn(message.role, behind)
        values = {
            **message_values(message),
            "digest": self._sql.stored_digest(message_digest(message)),
            "session": session_id,
            "created_at": created_at,
            "parent_id": behind.id,
            "turn_id": storable(turn_id),
        }
        row = self._sql.row(_MESSAGES["add_message"], **values)
        if row is None:
            return self._stored_place(session_id, str(values["uid"]))
        message_id, size = row
        self._added.messages += 1
        self._added.bytes += size
        return Place(id=message_id, created_at=max(created_at, behind.created_at), turn_id=turn_id)

    def _stored_place(self, session_id: str, uid: str) -> Place:
        """The place of a message that is stored already."""
        message_id, created_at, turn_id = self._sql.row(_TREE["place_of_uid"], session=session_id, uid=uid)
        return Place(id=message_id, created_at=text_of(created_at) or "", turn_id=text_of(turn_id), was_there=True)


def no_message(session_id: str, message_id: int) -> MessageNotFoundError:
    """The error for a message that is not in the session."""
    return MessageNotFoundError(
        f"The session {session_id!r:.80} has no message {message_id!r:.40}. List its messages for their ids."
    )


def add_session(
    sql: Sql, added: LogAmounts, session_id: str, system_prompt: str, metadata: SessionMetadata | None, now: str
) -> bool:
    """Create a session unless it exists; True if created. Raises InvalidRequest for an invalid id."""
    is_new = bool(sql.rows(_SESSIONS["add_session"], **_session_values(session_id, system_prompt, metadata, now)))
    added.conversations += is_new
    added.last_used = now if is_new else added.last_used
    return is_new


def touch_session(sql: Sql, added: LogAmounts, session_id: str, now: str) -> None:
    """Mark a session as used now; an unknown one stays so, and one that was used later as it is."""
    if sql.run(_SESSIONS["touch_session"], session=session_id, now=now):
        added.last_used = now


def _session_values(
    session_id: str, system_prompt: str, metadata: SessionMetadata | None, now: str
) -> dict[str, Value]:
    return {
        "session": checked_session_id(session_id),
        "system_prompt": storable(system_prompt),
        "metadata": storable((metadata or SessionMetadata()).to_json()),
        "now": now,
    }


def _turn(role: str, behind: Place) -> str:
    if role == "user" or behind.turn_id is None:
        return uuid.uuid4().hex
    return behind.turn_id
