"""The writer of messages, within one transaction: each gets its place in the tree, a time and a turn.

A user's message begins a turn, and what follows it belongs to it. A message is never older than its parent, so a
clock that is set back reorders nothing.
"""

import uuid
from collections.abc import Sequence

from mnemoir.core.conversations import (
    MessageNotFoundError,
    MessageRecord,
    SessionMetadata,
    checked_session_id,
)
from mnemoir.storage.sql.conversations.rows import message_values, storable, time_text
from mnemoir.storage.sql.conversations.thread import (
    Place,
    head_of,
    let_in,
    link,
    move_head,
    place_at,
    place_of,
)
from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sql.queries import queries

_SESSIONS = queries("sessions/sessions")
_MESSAGES = queries("sessions/messages")
_VECTORS = queries("sessions/vectors")


class MessageWriter:
    """The writer of one transaction. `now` is its time; the other arguments are those of `save_messages`."""

    def __init__(self, sql: Sql, now: str, *, system_prompt: str = "", embedding_model: str | None = None) -> None:
        self._sql = sql
        self._now = now
        self._system_prompt = system_prompt
        self._embedding_model = embedding_model
        self._heads: dict[str, Place] = {}  # of the sessions in use here

    def head(self, session_id: str) -> Place:
        """The head of the session, which is created if missing, and marked as used now."""
        if session_id not in self._heads:
            add_session(self._sql, session_id, self._system_prompt, None, self._now)
            self._sql.run(_SESSIONS["touch_session"], session=session_id, now=self._now)
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

    def append(self, session_id: str, messages: Sequence[MessageRecord]) -> list[int]:
        """Append the messages after the head, in order; their ids."""
        return self._noted(messages, [self._put_at_head(session_id, message) for message in messages])

    def save(self, messages: Sequence[MessageRecord]) -> list[int]:
        """Insert each after its parent, or by its time in the thread, or at the end; their ids."""
        return self._noted(messages, [self._save(message) for message in messages])

    def _noted(self, messages: Sequence[MessageRecord], ids: list[int]) -> list[int]:
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
        place = self._put(session_id, message, self.head(session_id))
        self._heads[session_id] = place
        return place.id

    def _put(self, session_id: str, message: MessageRecord, behind: Place) -> Place:
        created_at = self._now if message.created_at is None else time_text(message.created_at)
        turn_id = message.turn_id or _turn(message.role, behind)
        values = {
            **message_values(message),
            "session": session_id,
            "created_at": created_at,
            "parent_id": behind.id,
            "turn_id": storable(turn_id),
        }
        message_id: int = self._sql.value(_MESSAGES["add_message"], **values)
        return Place(id=message_id, created_at=max(created_at, behind.created_at), turn_id=turn_id)


def no_message(session_id: str, message_id: int) -> MessageNotFoundError:
    """The error for a message that is not in the session."""
    return MessageNotFoundError(
        f"The session {session_id!r:.80} has no message {message_id!r:.40}. List its messages for their ids."
    )


def add_session(sql: Sql, session_id: str, system_prompt: str, metadata: SessionMetadata | None, now: str) -> bool:
    """Create a session unless it exists; True if created. Raises InvalidRequest for an invalid id."""
    values = {
        "session": checked_session_id(session_id),
        "system_prompt": storable(system_prompt),
        "metadata": storable((metadata or SessionMetadata()).to_json()),
        "now": now,
    }
    return bool(sql.rows(_SESSIONS["add_session"], **values))


def _turn(role: str, behind: Place) -> str:
    if role == "user" or behind.turn_id is None:
        return uuid.uuid4().hex
    return behind.turn_id
