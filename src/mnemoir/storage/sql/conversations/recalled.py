"""What was recalled for the questions of sessions: a column of their messages, read and written by itself.

No other query reads it: it is in no window, no page and no export. Copies of messages keep it.
"""

from collections.abc import Mapping, Sequence

import orjson

from mnemoir.core.conversations import StoredMessage
from mnemoir.storage.sql.conversations.store import Store, storable, stored_messages, text_of
from mnemoir.storage.sql.engine import Sql, queries

_RECALLED = queries("sessions/recalled")


class RecalledTables(Store):
    """One of five parts of `SqlLog`; see `ports.log.RecalledRows`."""

    def questions(self, session_id: str, message_ids: Sequence[int]) -> dict[int, tuple[str, str | None]]:
        """(uid, references) of the session's messages with references, and of these messages, by id."""
        ids = orjson.dumps(list(message_ids)).decode()
        found: dict[int, tuple[str, str | None]] = {}
        for message_id, uid, recalled in self._rows(_RECALLED["questions"], session=storable(session_id), ids=ids):
            found.setdefault(message_id, (text_of(uid) or "", text_of(recalled)))
        return found

    def latest_references(self, limit: int) -> list[str]:
        """The references of the newest questions of all sessions that have any, the newest first."""
        rows = self._rows(_RECALLED["latest_references"], limit=limit)
        return [text for recalled, _ in rows if (text := text_of(recalled)) is not None]

    def put_recalled(self, references: Mapping[str, str]) -> None:
        """Replace the references of messages, by uid; unknown uids are ignored."""
        values = [{"uid": uid, "recalled": recalled} for uid, recalled in references.items()]

        def put(sql: Sql) -> None:
            sql.many(_RECALLED["put_recalled"], values)

        if values:
            self._file.write(put)

    def messages_with_uids(self, uids: Sequence[str]) -> dict[str, StoredMessage]:
        """The messages with these uids; unknown uids are left out."""
        rows = self._rows(_RECALLED["named"], uids=orjson.dumps(list(uids)).decode()) if uids else []
        return {one.uid: one for one in stored_messages(rows) if one.uid is not None}
