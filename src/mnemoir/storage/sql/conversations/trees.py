"""Branches of sessions in the file: messages after any other, repeated histories, the head, and paths in pages."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, TypeVar, get_args

import orjson

from mnemoir.conversations.attachments.links import links_of
from mnemoir.conversations.history_digest import message_digest
from mnemoir.core.branches import BranchRun
from mnemoir.core.conversations import (
    HEAD,
    ROOT,
    MessageRecord,
    Placed,
    Role,
    SessionMetadata,
    SessionRecord,
    StoredMessage,
    checked_session_id,
    naive_utc,
)
from mnemoir.core.ids import new_message_uid
from mnemoir.storage.sql.conversations.history_match import Found, HistoryItem, StoredTree, session_that_begins
from mnemoir.storage.sql.conversations.late_answers import put_late_answer
from mnemoir.storage.sql.conversations.store import (
    UNKNOWN_TIME,
    Row,
    Store,
    clamped_number,
    count_removed,
    json_of,
    session_exists_error,
    session_of,
    storable,
    stored_messages,
    text_of,
    time_of,
    time_text,
)
from mnemoir.storage.sql.conversations.thread import (
    MessageWriter,
    add_session,
    head_of,
    is_unlinked,
    link,
    move_head,
    no_message,
    place_of,
    touch_session,
)
from mnemoir.storage.sql.conversations.windows import in_front_of, whole_page
from mnemoir.storage.sql.engine import LogAmounts, Sql, Value, queries

T = TypeVar("T")

_TREE = queries("sessions/tree")
_WAYS = queries("sessions/ways")
_SESSIONS = queries("sessions/sessions")
_MESSAGES = queries("sessions/messages")
_LINKED_TOGETHER = 20  # sessions
_COPIED = (
    *("id", "session", "role", "content", "tool_calls", "tool_call_id", "name", "created_at", "parent_id", "turn_id"),
    *("token_count", "importance", "pinned", "files", "run_id", "finish_reason", "off_thread", "uid", "digest"),
    *("estimate", "recalled"),
)
_BEHIND_ALL = 2**62  # ids


class TreeTables(Store):
    """One of five parts of `SqlLog`; see `ports.log.TreeRows`."""

    def children(self, session_id: str, message_ids: Sequence[int]) -> dict[int, list[int]]:
        """The ids of the children of each of these messages, or of ROOT; on all branches, by id."""
        session = storable(session_id)

        def children_by_parent(sql: Sql) -> dict[int, list[int]]:
            return {
                one: [row[0] for row in sql.each(_TREE["children"], session=session, id=one)] for one in message_ids
            }

        return self._read_linked_session(session_id, children_by_parent)

    def newest_end(self, session_id: str, message_id: int) -> int:
        """The newest last message of the branches with this one; the message itself when none follows."""
        return int(self._rows_of(session_id, _TREE["newest_end"], id=clamped_number(message_id))[0][0])

    def way_to(self, session_id: str, message_id: int, limit: int) -> list[StoredMessage]:
        """A message and those before it on its branch, thread or not, newest first; [] for an unknown one."""
        return list(stored_messages(self._way_to(session_id, message_id, limit)))

    def way_before(self, session_id: str, message_id: int, limit: int) -> list[StoredMessage]:
        """The messages before a message on its branch, newest first; [] only at the beginning."""
        return whole_page(limit, message_id, lambda at, most: self._way_to(session_id, at or 0, most + 1)[1:])

    def way_behind(self, session_id: str, message_id: int, limit: int) -> list[StoredMessage]:
        """The messages after a message on its path, oldest first; for ROOT the thread from its beginning."""
        head = self._file.read(lambda sql: head_of(sql, storable(session_id))).id
        behind = partial(self._rows_of, session_id, _WAYS["way_behind"], head=head)
        return whole_page(limit, message_id, lambda at, most: behind(id=clamped_number(at or 0), limit=most))

    def place_on_thread(self, session_id: str, message_id: int) -> int | None:
        """The number of messages before that one on the thread; None for a message off the thread."""
        row = self._row(_WAYS["place_on_thread"], session=storable(session_id), id=clamped_number(message_id))
        return None if row is None else int(row[0])

    def branch_runs(self, session_id: str) -> list[BranchRun]:
        """All runs of messages between branch points, by the id of their first message; one without branches."""
        return [_run_of(row) for row in self._rows_of(session_id, _WAYS["branch_runs"])]

    def append_messages(
        self,
        session_id: str,
        messages: Sequence[MessageRecord],
        *,
        parent_id: int | None = None,
        system_prompt: str = "",
        embedding_model: str | None = None,
    ) -> list[int]:
        """Append the messages in order after a message (ROOT: at the beginning; None: after the head).

        The last of them becomes the head; without any, or when they are stored already, nothing changes. Raises
        MessageNotFoundError.
        """
        now = self._now()

        def append_below_parent(sql: Sql, added: LogAmounts) -> list[int]:
            writer = MessageWriter(sql, added, now, system_prompt=system_prompt, embedding_model=embedding_model)
            if parent_id is not None:
                if (ids := writer.stored_ids(session_id, messages)) is not None:
                    return ids
                writer.go_to(session_id, parent_id)
            return writer.append(session_id, messages)

        return self._add(append_below_parent) if messages else []

    def put_answer(
        self,
        session_id: str,
        answer: MessageRecord,
        question_id: int,
        *,
        followers: Collection[int] = (),
        embedding_model: str | None = None,
    ) -> list[int]:
        """Add the answer to a message of any branch; its id, and those behind it with a new context.

        It becomes the head only where the question is the head. The followers, messages that were put behind the
        question while its answer was under way, get the answer as their parent. Raises MessageNotFoundError.
        """
        now = self._now()

        def put(sql: Sql, added: LogAmounts) -> list[int]:
            writer = MessageWriter(sql, added, now, embedding_model=embedding_model)
            if not followers and writer.head(session_id).id == question_id:
                return writer.append(session_id, [answer])
            if (ids := writer.stored_ids(session_id, [answer])) is not None:
                return ids
            return put_late_answer(sql, writer, session_id, answer, question_id, followers)

        return self._add(put)

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

        System messages in it are skipped, and `history_match` finds the place of the others; with `after` that is
        right after this message, or with HEAD after the thread. A history without others changes nothing.
        Raises MessageNotFoundError.
        """
        said = [record for record in history if record.role != "system"]
        told, now = _history_items(said), self._now()

        def append_new_messages(sql: Sql, added: LogAmounts) -> Placed:
            writer = MessageWriter(sql, added, now, system_prompt=system_prompt, embedding_model=embedding_model)
            head = writer.head(session_id)
            link(sql, session_id)
            found = _find_history(StoredTree(sql, session_id, head.id), _with_stored_digests(sql, told), after)
            writer.go_to(session_id, found.behind)
            new = writer.append(session_id, said[len(found.ids) :])
            return Placed(ids=[*found.ids, *new], added=new, parent_id=found.behind)

        if not said:
            head = self._file.read(lambda sql: head_of(sql, storable(session_id)))
            return Placed(ids=[], added=[], parent_id=head.id)
        return self._add(append_new_messages)

    def uids_of(self, message_ids: Sequence[int]) -> dict[int, str]:
        """The uids of these messages by id; unknown ids are left out."""
        rows = self._file.read(lambda sql: sql.many(_MESSAGES["uid"], [{"id": one} for one in message_ids]))
        return {message_id: text_of(uid) or "" for message_id, uid in rows}

    def places_of(self, uids: Sequence[str]) -> dict[str, tuple[str, int]]:
        """(session, id) of the messages with these uids, by uid."""
        with_uids = [{"uid": uid} for uid in uids]
        rows = self._file.read(lambda sql: sql.many(_MESSAGES["with_uid"], with_uids)) if uids else []
        return {text_of(uid) or "": (text_of(session) or "", message_id) for uid, session, message_id in rows}

    def session_of_history(self, history: Sequence[MessageRecord]) -> str | None:
        """The session that matches this history for longest, at least a question and an answer; None without one."""
        told = _history_items([record for record in history if record.role != "system"])

        def find_session(sql: Sql) -> list[str | None] | None:
            if sql.row(_TREE["unlinked_sessions"], limit=1) is not None:
                return None  # also when digests were to be made anew meanwhile
            return [session_that_begins(sql, _with_stored_digests(sql, told))]

        while (found := self._file.read(find_session)) is None:
            self._link_some()
        return found[0]

    def set_head(self, session_id: str, message_id: int) -> bool:
        """Make this message, on any branch, the end of the thread; False when the session has no such message."""
        session, now = storable(session_id), self._now()

        def put_head(sql: Sql, added: LogAmounts) -> bool:
            if not message_id or place_of(sql, session, message_id) is None:
                return False
            link(sql, session)
            move_head(sql, session, message_id)
            touch_session(sql, added, session, now)
            return True

        return self._remove(put_head)

    def delete_messages(self, session_id: str, message_ids: Sequence[int]) -> int:
        """Delete messages beside the thread that have nothing behind them but others of these; how many."""
        session = storable(session_id)

        def drop_leaves(sql: Sql, added: LogAmounts) -> int:
            link(sql, session)
            for id in sorted(message_ids, reverse=True):  # the last of a branch first
                dropped = sql.rows(_TREE["drop_leaf"], id=id, session=session)
                count_removed(added, dropped)
                if dropped:
                    sql.run(_TREE["note_leaf_removal"], id=id)
            return -added.messages

        deleted = self._remove(drop_leaves)
        self._file.empty_log()
        return deleted

    def branch_session(self, session_id: str, message_id: int, new_id: str, metadata: SessionMetadata) -> list[int]:
        """Create a session with a copy of the path to a message, and the same system prompt; the ids of the copies.

        Copies differ only in their ids; none has a vector yet, and the caller must copy the files they link to.
        Windows of the new session begin at its first message.
        Raises SessionExistsError for an id that is taken, and MessageNotFoundError.
        """
        session, new, now = storable(session_id), checked_session_id(new_id), self._now()

        def copy_branch(sql: Sql, added: LogAmounts) -> list[int]:
            link(sql, session)
            if not message_id or place_of(sql, session, message_id) is None:
                raise no_message(session_id, message_id)
            prompt = session_of(sql.row(_SESSIONS["session"], session=session)).system_prompt
            if not add_session(sql, added, new, prompt, metadata, now):
                raise session_exists_error(new_id)
            rows = sql.rows(_TREE["way_of_copy"], session=session, id=message_id)
            ids = [row[0] for row in sql.rows(_TREE["next_ids"], count=len(rows))]
            copies = _copies(rows, ids, {"new": new}, (links_of(session_id), links_of(new_id)))
            sizes = sql.many(_TREE["add_copy"], copies)
            added.messages += len(sizes)
            added.bytes += sum(size for (size,) in sizes)
            return [copy["new_id"] for copy in copies]

        return self._remove(copy_branch)

    def thread_messages(self, session_id: str, limit: int, *, before: int | None = None) -> list[StoredMessage]:
        """Messages of the thread, newest first, before message `before` (none if deleted); any mark is ignored."""
        newest = partial(self._rows_of, session_id, _MESSAGES["newest"], mark=0)
        return whole_page(limit, before, lambda at, most: newest(limit=most, **in_front_of(at)))

    def message_tree(self, session_id: str, limit: int, *, after: int = 0) -> list[StoredMessage]:
        """The messages of all branches with an id above `after`, by id."""
        tree = partial(self._rows_of, session_id, _TREE["tree"])
        return whole_page(limit, after, lambda at, most: tree(limit=most, after=clamped_number(at or 0)))

    def damaged_messages(self, session_id: str) -> int:
        """The number of messages of all branches that cannot be read, wholly or in part."""
        values = {"session": storable(session_id), "roles": orjson.dumps(get_args(Role)).decode()}
        rows = self._rows(_TREE["structured"], **values)
        return sum(not _is_readable(text_of(role), calls, files) for role, calls, files, _ in rows)

    def messages_with_files(
        self, limit: int, *, before: int | None = None, session_id: str | None = None
    ) -> list[StoredMessage]:
        """Messages of all branches with files, newest first, with an id below `before`; of one session or all."""
        session = None if session_id is None else storable(session_id)

        def read(at: int | None, most: int) -> list[Row]:
            return self._rows(
                _TREE["with_files"], session=session, limit=most, before=clamped_number(at or _BEHIND_ALL)
            )

        return whole_page(limit, before, read)

    def sessions_page(self, limit: int, *, before: tuple[datetime, str] | None = None) -> list[SessionRecord]:
        """Sessions, newest activity first, after the one with that activity and id."""

        def rows_of_page(sql: Sql) -> list[Row]:
            behind = {"updated_at": None, "id": "", "same": None} if before is None else _behind(sql, *before)
            return sql.rows(_SESSIONS["behind"], **behind, limit=clamped_number(limit))

        return [session_of(row) for row in self._file.read(rows_of_page)]

    def _way_to(self, session_id: str, message_id: int, limit: int) -> list[Row]:
        return self._rows_of(session_id, _TREE["way_to"], id=clamped_number(message_id), limit=clamped_number(limit))

    def _rows_of(self, session_id: str, query: str, **values: Value) -> list[Row]:
        """Rows of a session, whose messages are linked to their parents first."""
        session = storable(session_id)
        return self._read_linked_session(session_id, lambda sql: sql.rows(query, session=session, **values))

    def _read_linked_session(self, session_id: str, work: Callable[[Sql], T]) -> T:
        """Read a session, after linking messages without a parent."""
        session = storable(session_id)
        found = self._file.read(lambda sql: None if is_unlinked(sql, session) else [work(sql)])
        return self._file.write(partial(_linked_first, session_id=session, work=work)) if found is None else found[0]

    def _link_some(self) -> None:
        """Link a few more sessions."""
        for row in self._rows(_TREE["unlinked_sessions"], limit=_LINKED_TOGETHER):
            self._file.write(partial(link, session_id=row[0]))


def _linked_first(sql: Sql, session_id: str, work: Callable[[Sql], T]) -> T:
    link(sql, session_id)
    return work(sql)


def _behind(sql: Sql, used_at: datetime, session_id: str) -> dict[str, Any]:
    """The place of a session: if it was not used since, by its activity as stored, even if that is no valid time."""
    name = storable(session_id)
    written = sql.value(_SESSIONS["used_at"], session=name)
    is_same = (time_of(written) or UNKNOWN_TIME) == naive_utc(used_at)
    return {"updated_at": time_text(used_at), "id": name, "same": name if is_same else None}


def _find_history(tree: StoredTree, told: Sequence[HistoryItem], after: int | None) -> Found:
    if after is None:
        return tree.find(told)
    return tree.find_at_the_end(told) if after == HEAD else tree.find_behind(after, told)


def _with_stored_digests(sql: Sql, told: Sequence[HistoryItem]) -> list[HistoryItem]:
    """The history with its digests in the form in which they are stored."""
    return [HistoryItem(role=one.role, digest=sql.stored_digest(one.digest)) for one in told]


def _copies(
    rows: Sequence[Row], ids: Sequence[int], names: Mapping[str, Value], links: tuple[str, str]
) -> list[dict[str, Any]]:
    """The values of `add_copy` for rows of `way_of_copy`, with these ids, each behind the one before.

    Links to attachments become links to those of the new session.
    """
    copies = []
    for parent, number, row in zip([ROOT, *ids], ids, rows, strict=False):
        copy = {**dict(zip(_COPIED, row, strict=True)), **names}
        copy.update(
            {name: text_of(value) for name, value in copy.items() if name != "digest" and isinstance(value, bytes)}
        )
        copy.update(new_id=number, parent_id=parent, uid=new_message_uid())
        if copy["files"] is not None:
            copy["files"] = copy["files"].replace(*links)
        copies.append(copy)
    return copies


def _is_readable(role: str | None, calls: bytes | None, files: bytes | None) -> bool:
    return role in get_args(Role) and all(not raw or json_of(raw) is not None for raw in (calls, files))


def _history_items(history: Sequence[MessageRecord]) -> list[HistoryItem]:
    return [HistoryItem(role=record.role, digest=message_digest(record)) for record in history]


def _run_of(row: Row) -> BranchRun:
    first, last, parent, messages, first_off, last_off = row
    return BranchRun(
        first=first,
        last=last,
        parent_id=parent,
        messages=messages,
        on_thread=first_off is None,
        ends_on_thread=last_off is None,
    )
