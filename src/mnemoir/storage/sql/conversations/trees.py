"""Branches of sessions in the file: messages behind any other, histories that come again, and the head."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any

from mnemoir.conversations.attachments.links import links_of
from mnemoir.conversations.history_digest import message_digest
from mnemoir.core.conversations import (
    HEAD,
    MessageRecord,
    Placed,
    SessionMetadata,
    SessionRecord,
    StoredMessage,
    checked_session_id,
    naive_utc,
)
from mnemoir.storage.sql.conversations.history_match import Found, HistoryItem, StoredTree
from mnemoir.storage.sql.conversations.history_session import session_that_begins
from mnemoir.storage.sql.conversations.message_writer import MessageWriter, no_message
from mnemoir.storage.sql.conversations.rows import (
    UNKNOWN_TIME,
    Row,
    session_of,
    storable,
    text_of,
    time_of,
    time_text,
)
from mnemoir.storage.sql.conversations.store import clamped, taken
from mnemoir.storage.sql.conversations.thread import head_of, link, move_head, place_of
from mnemoir.storage.sql.conversations.ways import WayTables
from mnemoir.storage.sql.conversations.windows import in_front_of, whole_page
from mnemoir.storage.sql.engine import Sql, Value
from mnemoir.storage.sql.queries import queries

_SESSIONS = queries("sessions/sessions")
_MESSAGES = queries("sessions/messages")
_TREE = queries("sessions/tree")
_END = b"\xff"  # behind every text
_BEHIND_ALL = 2**62  # ids


class TreeTables(WayTables):
    """One of four parts of `MemoryStorage`; see `ports.log.TreeRows`."""

    def append_messages(
        self,
        session_id: str,
        messages: Sequence[MessageRecord],
        *,
        parent_id: int | None = None,
        system_prompt: str = "",
        embedding_model: str | None = None,
    ) -> list[int]:
        """Put them behind a message (ROOT: at the beginning; None: behind the head), one behind the other.

        The last of them is the head afterwards; without any nothing changes. Raises MessageNotFoundError.
        """
        now = self._now()

        def work(sql: Sql) -> list[int]:
            writer = MessageWriter(sql, now, system_prompt=system_prompt, embedding_model=embedding_model)
            if parent_id is not None:
                writer.go_to(session_id, parent_id)
            return writer.append(session_id, messages)

        return self._file.write(work) if messages else []

    def append(
        self,
        session_id: str,
        history: Sequence[MessageRecord],
        *,
        after: int | None = None,
        system_prompt: str = "",
        embedding_model: str | None = None,
    ) -> Placed:
        """Lay a history over the stored tree: add what is new; its end becomes the head.

        System messages in it are passed over, and of the others `history_match` tells where they stand; with `after`
        that is right behind this message, or with HEAD behind the thread. One that has no others changes nothing.
        Raises MessageNotFoundError.
        """
        said = [record for record in history if record.role != "system"]
        told, now = _told(said), self._now()

        def work(sql: Sql) -> Placed:
            writer = MessageWriter(sql, now, system_prompt=system_prompt, embedding_model=embedding_model)
            writer.head(session_id)
            link(sql, session_id)
            found = _found(StoredTree(sql, session_id), told, after)
            writer.go_to(session_id, found.behind)
            added = writer.append(session_id, said[len(found.ids) :])
            return Placed(ids=[*found.ids, *added], added=added, parent_id=found.behind)

        if not said:
            head = self._file.read(lambda sql: head_of(sql, storable(session_id)))
            return Placed(ids=[], added=[], parent_id=head.id)
        return self._file.write(work)

    def uids_of(self, message_ids: Sequence[int]) -> dict[int, str]:
        """The uids of these messages, as far as they are there."""
        rows = self._file.read(lambda sql: sql.many(_MESSAGES["uid"], [{"id": one} for one in message_ids]))
        return {message_id: text_of(uid) or "" for message_id, uid in rows}

    def places_of(self, uids: Sequence[str]) -> dict[str, tuple[str, int]]:
        """Session and id of the messages that have these uids."""
        with_uids = [{"uid": uid} for uid in uids]
        rows = self._file.read(lambda sql: sql.many(_MESSAGES["with_uid"], with_uids)) if uids else []
        return {text_of(uid) or "": (text_of(session) or "", message_id) for uid, session, message_id in rows}

    def session_of_history(self, history: Sequence[MessageRecord]) -> str | None:
        """The session that begins with a question and an answer as this history does, for longest; None for none."""
        told = _told([record for record in history if record.role != "system"])
        while self._link_some():
            pass
        return self._file.read(lambda sql: session_that_begins(sql, told))

    def set_head(self, session_id: str, message_id: int) -> bool:
        """Let the thread end with this message, whichever branch it is on; False when the session has none such."""
        session, now = storable(session_id), self._now()

        def work(sql: Sql) -> bool:
            if not message_id or place_of(sql, session, message_id) is None:
                return False
            link(sql, session)
            move_head(sql, session, message_id)
            sql.run(_SESSIONS["touch_session"], session=session, now=now)
            return True

        return self._file.write(work)

    def branch_session(self, session_id: str, message_id: int, new_id: str, metadata: SessionMetadata) -> list[int]:
        """A new session with a copy of the way to a message, and the same system prompt; the ids of the copies.

        Copies keep all but their ids; none has a vector yet, and files that they link to are still to be copied.
        Windows of the new session begin at its first message.
        Raises SessionExistsError for an id that is taken, and MessageNotFoundError.
        """
        session = storable(session_id)
        values: dict[str, Value] = {
            "session": session,
            "id": message_id,
            "new": checked_session_id(new_id),
            "metadata": storable(metadata.to_json()),
            "now": self._now(),
            "links": links_of(session_id),
            "new_links": links_of(new_id),
        }

        def work(sql: Sql) -> list[int]:
            link(sql, session)
            if not message_id or place_of(sql, session, message_id) is None:
                raise no_message(session_id, message_id)
            if not sql.rows(_TREE["copy_session"], **values):
                raise taken(new_id)
            last: int = sql.value(_TREE["last_id"])
            copied = sql.run(_TREE["copy_way"], **values, last=last)
            return list(range(last + 1, last + 1 + copied))

        return self._file.write(work)

    def thread_messages(self, session_id: str, limit: int, *, before: int | None = None) -> list[StoredMessage]:
        """Newest first, in front of the message `before` (none when that is gone), without regard to any mark."""
        newest = partial(self._rows_of, session_id, _MESSAGES["newest"], mark=0)
        return whole_page(limit, before, lambda at, most: newest(limit=most, **in_front_of(at)))

    def message_tree(self, session_id: str, limit: int, *, after: int = 0) -> list[StoredMessage]:
        """The messages of all branches with an id above `after`, by id."""
        tree = partial(self._rows_of, session_id, _TREE["tree"])
        return whole_page(limit, after, lambda at, most: tree(limit=most, after=clamped(at or 0)))

    def messages_with_files(
        self, limit: int, *, before: int | None = None, session_id: str | None = None
    ) -> list[StoredMessage]:
        """Those of all branches that carry files, newest first, with an id below `before`; of one session or all."""
        session = None if session_id is None else storable(session_id)

        def read(at: int | None, most: int) -> list[Row]:
            return self._rows(_TREE["with_files"], session=session, limit=most, before=clamped(at or _BEHIND_ALL))

        return whole_page(limit, before, read)

    def sessions_page(self, limit: int, *, before: tuple[datetime, str] | None = None) -> list[SessionRecord]:
        """Newest activity first, behind the one of that activity and id."""

        def work(sql: Sql) -> list[Row]:
            behind = {"updated_at": _END, "id": "", "same": None} if before is None else _behind(sql, *before)
            return sql.rows(_SESSIONS["behind"], **behind, limit=clamped(limit))

        return [session_of(row) for row in self._file.read(work)]


def _behind(sql: Sql, used_at: datetime, session_id: str) -> dict[str, Any]:
    """A session that was not used since stands where its activity is written, also where that is no proper time."""
    name = storable(session_id)
    written = sql.value(_SESSIONS["used_at"], session=name)
    is_same = (time_of(written) or UNKNOWN_TIME) == naive_utc(used_at)
    return {"updated_at": time_text(used_at), "id": name, "same": name if is_same else None}


def _found(tree: StoredTree, told: Sequence[HistoryItem], after: int | None) -> Found:
    if after is None:
        return tree.find(told)
    return tree.find_at_the_end(told) if after == HEAD else tree.find_behind(after, told)


def _told(history: Sequence[MessageRecord]) -> list[HistoryItem]:
    return [HistoryItem(role=record.role, digest=message_digest(record)) for record in history]
