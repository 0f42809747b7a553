"""Sessions and their messages in the file: made, listed, saved, read, deleted."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import orjson

from mnemoir.conversations.messages import Message
from mnemoir.conversations.sessions import (
    MessageRecord,
    SessionExistsError,
    SessionMetadata,
    SessionRecord,
    naive_utc,
)
from mnemoir.core.clock import Clock
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.conversations.message_writer import MessageWriter, add_session
from mnemoir.storage.conversations.session_file import SessionFile
from mnemoir.storage.conversations.session_rows import (
    session_of,
    storable,
    stored_messages,
    stored_metadata,
    time_text,
)
from mnemoir.storage.sql.queries import queries

_SESSIONS = queries("sessions/sessions")
_MESSAGES = queries("sessions/messages")
_PRUNED_TOGETHER = 500
_MOST = 2**62  # SQLite takes any 64-bit number; a caller's may be larger
_MOST_DAYS = 3_000_000  # further back than any calendar goes


class SessionTables:
    """One of four parts of `MemoryStorage`; see `conversations.session_storage.SessionRows`."""

    _file: SessionFile
    _clock: Clock

    @property
    def db_path(self) -> Path:
        """The file, with `~` resolved."""
        return self._file.path

    def create_session(
        self, session_id: str, system_prompt: str, metadata: SessionMetadata | None = None
    ) -> SessionRecord:
        """A new session. Raises SessionExistsError when the id is taken, InvalidRequest for one that is none."""
        if not self.open_session(session_id, system_prompt, metadata):
            raise taken(session_id)
        created = self.get_session(session_id)
        if created is None:
            raise StorageUnavailable(f"The session {session_id!r:.80} was deleted while it was made. Make it again.")
        return created

    def open_session(self, session_id: str, system_prompt: str = "", metadata: SessionMetadata | None = None) -> bool:
        """Create it unless it is there; whether it was created."""
        now = self._now()
        return self._file.write(lambda connection: add_session(connection, session_id, system_prompt, metadata, now))

    def get_session(self, session_id: str) -> SessionRecord | None:
        """The session of that id."""
        values = {"session": storable(session_id)}
        row = self._file.read(lambda connection: connection.execute(_SESSIONS["session"], values).fetchone())
        return None if row is None else session_of(row)

    def update_metadata(self, session_id: str, metadata: SessionMetadata) -> bool:
        """Put other metadata in the place of the session's; False when it is unknown."""
        return self.update_session(session_id, metadata=metadata)

    def update_session(
        self, session_id: str, *, system_prompt: str | None = None, metadata: SessionMetadata | None = None
    ) -> bool:
        """Change what is given; False when the session is unknown."""
        values = {
            "session": storable(session_id),
            "system_prompt": None if system_prompt is None else storable(system_prompt),
            "metadata": None if metadata is None else storable(metadata.to_json()),
        }
        return bool(
            self._file.write(lambda connection: connection.execute(_SESSIONS["change_session"], values).fetchall())
        )

    def update_session_activity(self, session_id: str) -> None:
        """Say that it is in use now; nothing for an unknown one."""
        values = {"session": storable(session_id), "now": self._now()}
        self._file.write(lambda connection: connection.execute(_SESSIONS["touch_session"], values).fetchall())

    def list_sessions(self, limit: int = 10, offset: int = 0) -> list[SessionRecord]:
        """Newest activity first."""
        values = {"limit": clamped(limit), "offset": clamped(offset)}
        rows = self._file.read(lambda connection: connection.execute(_SESSIONS["page"], values).fetchall())
        return [session_of(row) for row in rows]

    def delete_session(self, session_id: str) -> bool:
        """With its messages, its summary and the notes of its vectors; False when it is unknown."""
        was_there = self._file.write(lambda connection: _delete(connection, storable(session_id)))
        self._file.empty_log()
        return was_there

    def old_sessions(self, days: int) -> list[str]:
        """The ids that `prune_old_sessions` would delete now, oldest activity first."""
        cutoff = self._cutoff(days)
        return self._file.read(lambda connection: list(_old(connection, cutoff)))

    def prune_old_sessions(self, days: int) -> int:
        """Delete what was last used more than `days` days ago and is not kept; how many sessions.

        0 days is everything last used before this instant. Raises ValueError for a negative number.
        """
        cutoff, pruned = self._cutoff(days), 0
        while batch := self._file.write(lambda connection: _prune_some(connection, cutoff)):
            pruned += batch
        if pruned:
            self._file.empty_log()
        return pruned

    def save_message(self, message: MessageRecord) -> int:
        """Its id. An unknown session is created; a known one is in use now."""
        return self.save_messages([message])[0]

    def save_messages(
        self, messages: Sequence[MessageRecord], *, system_prompt: str = "", embedding_model: str | None = None
    ) -> list[int]:
        """The ids, in order; all or none are saved. `system_prompt` is for a session that is created by it.

        With `embedding_model` the embeddable ones are noted as waiting for a vector of that model.
        """
        now = self._now()

        def work(connection: apsw.Connection) -> list[int]:
            writer = MessageWriter(connection, now, system_prompt=system_prompt, embedding_model=embedding_model)
            return [writer.save(message) for message in messages]

        return self._file.write(work) if messages else []

    def load_messages(self, session_id: str, limit: int | None = None, offset: int = 0) -> list[Message]:
        """The thread, oldest first, from `offset` on; all of it without a limit."""
        most = _MOST if limit is None else clamped(limit)
        values = {"session": storable(session_id), "limit": most, "offset": clamped(offset)}
        rows = self._file.read(lambda connection: connection.execute(_MESSAGES["page"], values).fetchall())
        return [stored.message for stored in stored_messages(rows)]

    def get_message_count(self, session_id: str) -> int:
        """How many rows the thread has; damaged ones count."""
        values = {"session": storable(session_id)}
        return int(self._file.read(lambda connection: connection.execute(_MESSAGES["count"], values).get))

    def beginnings(self, session_ids: Sequence[str], messages: int) -> dict[str, tuple[int, list[Message]]]:
        """How many rows the thread of each session has, and its first messages, by the id of the session."""
        values = {"sessions": orjson.dumps([storable(id) for id in session_ids]).decode(), "limit": clamped(messages)}

        def work(connection: apsw.Connection) -> tuple[list[Any], list[Any]]:
            counts = connection.execute(_MESSAGES["counts"], values).fetchall()
            return counts, connection.execute(_MESSAGES["beginnings"], values).fetchall()

        counts, rows = self._file.read(work)
        found: dict[str, tuple[int, list[Message]]] = {id: (count, []) for id, count in counts}
        for stored in stored_messages(rows):
            found[stored.session_id][1].append(stored.message)
        return {id: found[storable(id)] for id in session_ids}

    def clear_messages(self, session_id: str) -> int:
        """Delete the messages of all branches and the summary and keep the session; how many messages."""

        def work(connection: apsw.Connection) -> int:
            values = {"session": storable(session_id)}
            connection.execute(_SESSIONS["drop_messages"], values)
            deleted = connection.changes()
            connection.execute(_SESSIONS["drop_summary"], values)
            connection.execute(_SESSIONS["drop_mark"], values)
            return deleted

        deleted = self._file.write(work)
        self._file.empty_log()
        return deleted

    def _now(self) -> str:
        return time_text(self._clock())

    def _cutoff(self, days: int) -> str:
        if days < 0:
            raise ValueError(f"days must be 0 or more, not {days}: sessions of the future are never pruned.")
        if days > _MOST_DAYS:
            return time_text(datetime.min.replace(tzinfo=UTC))
        earliest = datetime.min.replace(tzinfo=UTC)
        now = naive_utc(self._clock()).replace(tzinfo=UTC)
        return time_text(now - min(timedelta(days=days), now - earliest))


def taken(session_id: str) -> SessionExistsError:
    """The error for an id that another session has."""
    return SessionExistsError(
        f"There is a session {session_id!r:.80} already. Choose another id, or go on with that one."
    )


def clamped(number: int) -> int:
    """A limit, an offset or an id that SQLite takes as it is meant: no message has one that is cut."""
    return max(0, min(number, _MOST))


def _delete(connection: apsw.Connection, session_id: str) -> bool:
    values = {"session": session_id}
    connection.execute(_SESSIONS["drop_messages"], values)
    connection.execute(_SESSIONS["drop_session"], values)
    was_there = connection.changes() > 0
    left = connection.execute(_SESSIONS["left_of_session"], values).get
    if left:
        raise StorageUnavailable(
            f"{left} messages of the session {session_id!r:.80} could not be deleted. Try again."
        )
    return was_there


def _prune_some(connection: apsw.Connection, cutoff: str) -> int:
    pruned = 0
    for session_id in _old(connection, cutoff):
        _delete(connection, session_id)
        pruned += 1
        if pruned == _PRUNED_TOGETHER:
            break
    return pruned


def _old(connection: apsw.Connection, cutoff: str) -> Iterator[str]:
    """Sessions to prune, oldest activity first; read in pages, as what is kept may fill many."""
    behind = {"updated_at": "", "id": ""}
    while True:
        values = {"cutoff": cutoff, "limit": _PRUNED_TOGETHER, **behind}
        page: list[Any] = connection.execute(_SESSIONS["used_before"], values).fetchall()
        for session_id, _, metadata in page:
            if not stored_metadata(session_id, metadata).is_kept:
                yield session_id
        if len(page) < _PRUNED_TOGETHER:
            return
        behind = {"updated_at": page[-1][1], "id": page[-1][0]}
