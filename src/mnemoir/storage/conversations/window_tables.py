"""What windows are made of: messages of the thread behind a session's mark, pins and scores, and its summary."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import apsw

from mnemoir.conversations.sessions import StoredMessage, Summary
from mnemoir.core.clock import Clock
from mnemoir.core.errors import InvalidRequest
from mnemoir.storage.conversations.session_file import SessionFile
from mnemoir.storage.conversations.session_rows import storable, stored_messages, summary_of, time_text
from mnemoir.storage.conversations.session_tables import clamped
from mnemoir.storage.sql.queries import queries

_SESSIONS = queries("sessions/sessions")
_MESSAGES = queries("sessions/messages")
_NOWHERE = float("-inf")  # numbers stand in front of every text
_END = b"\xff"  # and bytes behind


class WindowTables:
    """One of four parts of `MemoryStorage`; see `conversations.session_storage.WindowRows`."""

    _file: SessionFile
    _clock: Clock

    def mark_context(self, session_id: str) -> int | None:
        """Let windows begin after the head, and drop the summary; the message's id, None for none."""
        values = {"session": storable(session_id)}

        def work(connection: apsw.Connection) -> int | None:
            connection.execute(_SESSIONS["drop_summary"], values)
            mark: Any = connection.execute(_MESSAGES["mark_newest"], values).get
            return None if mark is None else int(mark)

        return self._file.write(work)

    def newest_messages(self, session_id: str, limit: int, *, before: int | None = None) -> list[StoredMessage]:
        """Newest first, in front of the message `before` (none when that is gone), behind the mark."""
        while rows := self._rows("newest", session_id, limit=clamped(limit), **in_front_of(before)):
            if messages := list(stored_messages(rows)):
                return messages
            before = rows[-1][0]  # all of them are damaged; that is not the end
        return []

    def messages_between(
        self, session_id: str, after: int | None, before: int | None, limit: int
    ) -> list[StoredMessage]:
        """Oldest first, behind the message `after` and in front of `before`, behind the mark; None is no border."""
        while rows := self._rows(
            "oldest", session_id, limit=clamped(limit), after=clamped(after or 0), **in_front_of(before)
        ):
            if messages := list(stored_messages(rows)):
                return messages
            after = rows[-1][0]
        return []

    def important_messages(self, session_id: str, threshold: float) -> list[StoredMessage]:
        """Those pinned, or scored `threshold` or more; oldest first, behind the mark."""
        return list(stored_messages(self._rows("important", session_id, threshold=threshold)))

    def unscored_messages(self, session_id: str, limit: int) -> list[StoredMessage]:
        """Those without a score, behind the mark, by id."""
        return list(stored_messages(self._rows("unscored", session_id, limit=clamped(limit))))

    def set_importance(self, scores: Mapping[int, float | None]) -> None:
        """Store a score, 0 to 1 or None for none, by message id; unknown ids are passed over."""
        wrong = [score for score in scores.values() if score is not None and not 0 <= score <= 1]
        if wrong:
            raise InvalidRequest(f"A message's importance is 0 to 1, not {wrong[0]}.", field="importance")
        values = [{"id": message_id, "importance": score} for message_id, score in scores.items()]
        if values:
            self._file.write(lambda connection: connection.executemany(_MESSAGES["score"], values).fetchall())

    def set_pinned(self, message_id: int, pinned: bool) -> bool:
        """False when there is no such message."""
        values = {"id": clamped(message_id), "pinned": 1 if pinned else None}
        return bool(self._file.write(lambda connection: connection.execute(_MESSAGES["pin"], values).fetchall()))

    def messages_by_id(self, message_ids: Sequence[int]) -> dict[int, StoredMessage]:
        """Those that are there."""

        def work(connection: apsw.Connection) -> list[tuple[Any, ...]]:
            return connection.executemany(_MESSAGES["one"], [{"id": clamped(one)} for one in message_ids]).fetchall()

        return {stored.id: stored for stored in stored_messages(self._file.read(work))}

    def get_summary(self, session_id: str) -> Summary | None:
        """The session's summary."""
        values = {"session": storable(session_id)}
        row = self._file.read(lambda connection: connection.execute(_MESSAGES["summary"], values).fetchone())
        return None if row is None else summary_of(row)

    def claim_summary(self, session_id: str, lease_s: float) -> str | None:
        """The right to summarise, for so many seconds at most; None while another has it."""
        now_s, claim = self._clock().timestamp(), uuid.uuid4().hex
        values = {"session": storable(session_id), "claim": claim, "now_s": now_s, "until": now_s + lease_s}
        claimed = self._file.write(lambda connection: connection.execute(_MESSAGES["claim"], values).fetchall())
        return claim if claimed else None

    def put_summary(self, session_id: str, claim: str, summary: Summary) -> bool:
        """Store it in place of the last one and give up the claim.

        False, and nothing stored, when another has the claim, or when what it covers was deleted, marked off, or left
        the thread.
        """
        values = {
            "session": storable(session_id),
            "upto": summary.upto_message_id,
            "text": storable(summary.text),
            "token_count": summary.token_count,
            "model": storable(summary.model),
            "created_at": time_text(summary.created_at or self._clock()),
        }

        def work(connection: apsw.Connection) -> bool:
            if not _release(connection, session_id, claim):
                return False
            return bool(connection.execute(_MESSAGES["put_summary"], values).fetchall())

        return self._file.write(work)

    def release_summary(self, session_id: str, claim: str) -> None:
        """Give up the claim without a summary; nothing when another has it by now."""
        self._file.write(lambda connection: _release(connection, session_id, claim))

    def _rows(self, query: str, session_id: str, **values: Any) -> list[tuple[Any, ...]]:
        """Rows behind the session's mark."""
        session = {"session": storable(session_id)}

        def work(connection: apsw.Connection) -> list[tuple[Any, ...]]:
            mark = connection.execute(_MESSAGES["mark"], session).get
            return connection.execute(_MESSAGES[query], {**session, "mark": mark, **values}).fetchall()

        return self._file.read(work)


def in_front_of(before: int | None) -> Mapping[str, Any]:
    """In front of which place; a message that is gone has nothing in front of it."""
    return {"before": 0, "end": _END} if before is None else {"before": clamped(before), "end": _NOWHERE}


def _release(connection: apsw.Connection, session_id: str, claim: str) -> bool:
    values = {"session": storable(session_id), "claim": claim}
    return bool(connection.execute(_MESSAGES["release"], values).fetchall())
