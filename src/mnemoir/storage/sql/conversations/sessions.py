"""Sessions and their messages: creating, listing, saving, reading, deleting."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from mnemoir.core.conversations import (
    Message,
    MessageRecord,
    SessionMetadata,
    SessionRecord,
    naive_utc,
)
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.sql.conversations.store import (
    Store,
    clamped_number,
    count_removed,
    session_exists_error,
    session_of,
    storable,
    stored_messages,
    stored_metadata,
    time_text,
)
from mnemoir.storage.sql.conversations.thread import MessageWriter, add_session, touch_session
from mnemoir.storage.sql.engine import LogAmounts, Sql, queries

_SESSIONS = queries("sessions/sessions")
_MESSAGES = queries("sessions/messages")
_PRUNED_TOGETHER = 500
_MOST_DAYS = 3_000_000  # further back than any calendar goes


class SessionTables(Store):
    """One of five parts of `SqlLog`; see `ports.log.SessionRows`."""

    def create_session(
        self, session_id: str, system_prompt: str, metadata: SessionMetadata | None = None
    ) -> SessionRecord:
        """Create a session. Raises SessionExistsError when the id is taken, InvalidRequest for an invalid id."""
        if not self.open_session(session_id, system_prompt, metadata):
            raise session_exists_error(session_id)
        created = self.get_session(session_id)
        if created is None:
            raise StorageUnavailable(f"The session {session_id!r:.80} was deleted while it was made. Make it again.")
        return created

    def open_session(self, session_id: str, system_prompt: str = "", metadata: SessionMetadata | None = None) -> bool:
        """Create a session unless it exists; True if created."""
        now = self._now()
        return self._add(lambda sql, added: add_session(sql, added, session_id, system_prompt, metadata, now))

    def get_session(self, session_id: str) -> SessionRecord | None:
        """The session of that id; None without one."""
        row = self._row(_SESSIONS["session"], session=storable(session_id))
        return None if row is None else session_of(row)

    def update_metadata(self, session_id: str, metadata: SessionMetadata) -> bool:
        """Replace the session's metadata; False when it is unknown."""
        return self.update_session(session_id, metadata=metadata)

    def update_session(
        self, session_id: str, *, system_prompt: str | None = None, metadata: SessionMetadata | None = None
    ) -> bool:
        """Change the given values; False when the session is unknown."""
        changed = self._change(
            _SESSIONS["change_session"],
            session=storable(session_id),
            system_prompt=None if system_prompt is None else storable(system_prompt),
            metadata=None if metadata is None else storable(metadata.to_json()),
        )
        return bool(changed)

    def update_session_activity(self, session_id: str) -> None:
        """Mark the session as used now; does nothing for an unknown one."""
        now = self._now()
        self._remove(lambda sql, added: touch_session(sql, added, storable(session_id), now))

    def list_sessions(self, limit: int = 10, offset: int = 0) -> list[SessionRecord]:
        """A page of sessions, newest activity first."""
        rows = self._rows(_SESSIONS["page"], limit=clamped_number(limit), offset=clamped_number(offset))
        return [session_of(row) for row in rows]

    def delete_session(self, session_id: str) -> bool:
        """Delete a session with its messages, its summary and the notes of its vectors; False when it is unknown."""
        session = storable(session_id)
        removed = self._remove_in_pieces(lambda sql, added, most: _delete(sql, added, session, most))
        self._file.empty_log()
        return removed.conversations < 0

    def old_sessions(self, days: int) -> list[str]:
        """The ids of the sessions that `prune_old_sessions` would delete now, oldest activity first."""
        cutoff = self._cutoff(days)
        return self._file.read(lambda sql: list(_old(sql, cutoff)))

    def prune_old_sessions(self, days: int) -> int:
        """Delete the sessions last used more than `days` days ago, except those marked to keep; how many.

        0 days means all sessions last used before this instant. Raises ValueError for a negative number.
        """
        cutoff = self._cutoff(days)
        removed = self._remove_in_pieces(lambda sql, added, most: _prune(sql, added, cutoff, most))
        if removed.conversations:
            self._file.empty_log()
        return -removed.conversations

    def save_message(self, message: MessageRecord) -> int:
        """Save a message; its id. An unknown session is created; a known one is marked as used now."""
        return self.save_messages([message])[0]

    def save_messages(
        self, messages: Sequence[MessageRecord], *, system_prompt: str = "", embedding_model: str | None = None
    ) -> list[int]:
        """Save all messages or none; their ids, in order. `system_prompt` is for a session that this call creates.

        With `embedding_model` the embeddable ones are recorded as waiting for a vector of that model.
        """
        now = self._now()

        def save_all(sql: Sql, added: LogAmounts) -> list[int]:
            writer = MessageWriter(sql, added, now, system_prompt=system_prompt, embedding_model=embedding_model)
            return writer.save(messages)

        return self._add(save_all) if messages else []

    def load_messages(self, session_id: str, limit: int | None = None, offset: int = 0) -> list[Message]:
        """The messages of the thread, oldest first, from `offset` on; all of them without a limit."""
        most = clamped_number(2**63 if limit is None else limit)
        rows = self._rows(_MESSAGES["page"], session=storable(session_id), limit=most, offset=clamped_number(offset))
        return [stored.message for stored in stored_messages(rows)]

    def get_message_count(self, session_id: str) -> int:
        """The number of rows of the thread, including damaged ones."""
        return int(self._row(_MESSAGES["count"], session=storable(session_id))[0])

    def beginnings(self, session_ids: Sequence[str], messages: int) -> dict[str, tuple[int, list[Message]]]:
        """The number of rows of each session's thread, and its first messages, by session id."""
        sessions = orjson.dumps([storable(id) for id in session_ids]).decode()

        def counts_and_beginnings(sql: Sql) -> tuple[list[Any], list[Any]]:
            counts = sql.rows(_MESSAGES["counts"], sessions=sessions)
            return counts, sql.rows(_MESSAGES["beginnings"], sessions=sessions, limit=clamped_number(messages))

        counts, rows = self._file.read(counts_and_beginnings)
        found: dict[str, tuple[int, list[Message]]] = {id: (count, []) for id, count in counts}
        for stored in stored_messages(rows):
            found[stored.session_id][1].append(stored.message)
        return {id: found[storable(id)] for id in session_ids}

    def clear_messages(self, session_id: str) -> int:
        """Delete the messages of all branches and the summary, but not the session; the number of messages."""

        session = storable(session_id)

        def drop_messages(sql: Sql, added: LogAmounts, most: int) -> bool:
            sql.run(_SESSIONS["drop_mark"], session=session)
            return _drop_messages(sql, added, session, most) < most

        removed = self._remove_in_pieces(drop_messages)
        self._file.empty_log()
        return -removed.messages

    def _cutoff(self, days: int) -> str:
        if days < 0:
            raise ValueError(f"days must be 0 or more, not {days}: sessions of the future are never pruned.")
        if days > _MOST_DAYS:
            return time_text(datetime.min.replace(tzinfo=UTC))
        earliest = datetime.min.replace(tzinfo=UTC)
        now = naive_utc(self._clock()).replace(tzinfo=UTC)
        return time_text(now - min(timedelta(days=days), now - earliest))


def _drop_messages(sql: Sql, added: LogAmounts, session_id: str, most: int) -> int:
    """Delete the newest messages, at most so many, and the summary; how many."""
    sql.run(_SESSIONS["drop_summary"], session=session_id)
    ids = [row[0] for row in sql.rows(_SESSIONS["newest_messages"], session=session_id, limit=most)]
    if ids:
        listed = orjson.dumps(ids).decode()
        sql.run(_SESSIONS["note_removals"], ids=listed)
        count_removed(added, sql.rows(_SESSIONS["drop_messages"], ids=listed))
    return len(ids)


def _delete(sql: Sql, added: LogAmounts, session_id: str, most: int) -> bool:
    """Delete some messages of a session, and when these were the last ones itself; False when there may be more."""
    if _drop_messages(sql, added, session_id, most) == most:
        return False
    added.conversations -= sql.run(_SESSIONS["drop_session"], session=session_id)
    left = sql.value(_SESSIONS["left_of_session"], session=session_id)
    if left:
        raise StorageUnavailable(
            f"{left} messages of the session {session_id!r:.80} could not be deleted. Try again."
        )
    return True


def _prune(sql: Sql, added: LogAmounts, cutoff: str, most: int) -> bool:
    """Delete some rows of old sessions; False when there may be more."""
    for session_id in _old(sql, cutoff):
        left = most + added.messages + added.conversations
        is_enough = left <= 0 or -added.conversations >= _PRUNED_TOGETHER
        if is_enough or not _delete(sql, added, session_id, left):
            return False
    return True


def _old(sql: Sql, cutoff: str) -> Iterator[str]:
    """Sessions to prune, oldest activity first; read in pages, as sessions to keep may fill many."""
    behind = {"updated_at": "", "id": ""}
    while True:
        page = sql.rows(_SESSIONS["used_before"], cutoff=cutoff, limit=_PRUNED_TOGETHER, **behind)
        for session_id, _, metadata in page:
            if not stored_metadata(session_id, metadata).is_kept:
                yield session_id
        if len(page) < _PRUNED_TOGETHER:
            return
        behind = {"updated_at": page[-1][1], "id": page[-1][0]}
