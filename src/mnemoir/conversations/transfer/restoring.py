"""Writing of imported sessions to the store, with their original times.

They are written through a connection of its own whose clock returns the file's times and whose commits are synced to
disk. The metadata of an incomplete session say so, so that an interrupted import can be recognised.

Two messages are equal when they have equal content and the same parent. Of equal siblings, such as answers that were
regenerated, each matches only one.
"""

import uuid
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain

from mnemoir.conversations.attachments.attachments import Attachments
from mnemoir.conversations.history_digest import PASSED_OVER, message_digest
from mnemoir.conversations.log.message_rows import record_of
from mnemoir.conversations.transfer.copies import BEGINNING, MessageCopy, SessionCopy, SessionHolder, StoredSession
from mnemoir.conversations.transfer.exporting import copy_of
from mnemoir.core.clock import utc_now
from mnemoir.core.conversations import (
    ROOT,
    MediaPart,
    Message,
    MessageRecord,
    SessionExistsError,
    SessionMetadata,
    SessionRecord,
)
from mnemoir.core.errors import InvalidRequest, TooLarge
from mnemoir.ports.log import Log

UNFINISHED = "import_unfinished"  # key in `metadata.custom` of an incomplete session; the value is its final id
_TOGETHER = 500
_PAGE = 500


class SessionRestorer:
    """The writer of one import. All methods block and raise StorageUnavailable; `take_back` deletes `written`."""

    def __init__(self, manager: SessionHolder, attachments: Attachments | None) -> None:
        self.written: list[str] = []
        self.left_out = Counter[str]()  # files that could not be saved
        self.spans: dict[str, tuple[int, int]] = {}  # the ids of the first and last message stored, by session
        self.storage: Log = manager.storage.with_clock(self._time)
        self._now: datetime | None = None
        self._manager = manager
        self._attachments = attachments
        self._model = manager.embedding_model

    def add(self, copy: SessionCopy, session_id: str, metadata: SessionMetadata) -> int:
        """Store a new session; the number of its messages. Raises SessionExistsError."""
        return self._add_session(copy, session_id, metadata, None)

    def _add_session(self, copy: SessionCopy, session_id: str, metadata: SessionMetadata, spared: str | None) -> int:
        appender = Appender(self.storage, session_id, self._model, spared, self.spans)
        count = self._fill(copy, appender, self._begin_session(copy, session_id, metadata, session_id))
        self.storage.update_session(session_id, metadata=metadata)
        return count

    def add_aside(self, copy: SessionCopy, session_id: str, metadata: SessionMetadata) -> tuple[str, int]:
        """Store a session under a temporary id, to replace another later; that id, and the number of messages."""
        aside = str(uuid.uuid4())
        appender = Appender(self.storage, aside, None, session_id)
        return aside, self._fill(copy, appender, self._begin_session(copy, aside, metadata, session_id))

    def put_in_place(self, aside: str, session_id: str) -> None:
        """Replace the session by the one stored aside. At every moment one of the two is complete."""
        session = self.storage.get_session(aside)
        if session is None:
            return
        self.written.remove(aside)
        self._delete(session_id)
        others = {name: value for name, value in session.metadata.custom.items() if name != UNFINISHED}
        self._add_session(copy_of(self.storage, session), session_id, replace(session.metadata, custom=others), aside)
        self._delete(aside)

    def take_back(self) -> None:
        """Delete the written sessions, except those that replaced another one."""
        for session_id in self.written:
            self._delete(session_id)

    def sessions_with_messages(self, session_ids: Sequence[str]) -> list[StoredSession]:
        """Those of these sessions in which messages were stored."""
        return [
            StoredSession(id=id, is_new=id in self.written, first_message=span[0], last_message=span[1])
            for id in dict.fromkeys(session_ids)
            if (span := self.spans.get(id))
        ]

    def appender(self, session_id: str, used_at: datetime | None) -> "Appender":
        """An appender to an existing session; its messages get the time `used_at`."""
        self._now = used_at
        return Appender(self.storage, session_id, self._model, spans=self.spans)

    def record(self, copy: MessageCopy, session_id: str) -> MessageRecord:
        """The storage record of a message; its files are saved as attachments."""
        message = copy.message
        if self._attachments is not None:
            message = self._with_links(message, session_id, is_foreign=copy.is_foreign)
        return replace(
            record_of(session_id, message, run_id=copy.run_id, finish_reason=copy.finish_reason),
            created_at=copy.created_at,
            turn_id=copy.turn_id,
            token_count=copy.token_count,
            importance=copy.importance,
            pinned=copy.pinned,
            uid=copy.uid,
        )

    def _with_links(self, message: Message, session_id: str, *, is_foreign: bool) -> Message:
        """The message with its files saved. One of another program that cannot be saved is named in its text."""
        assert self._attachments is not None
        try:
            return self._attachments.put_away(message, session_id)
        except (TooLarge, InvalidRequest) as exc:
            if not is_foreign or not isinstance(message.content, list):
                raise
            files = [part for part in message.content if isinstance(part, MediaPart)]
            self.left_out["pictures"] += len(files)
            names = [f"[{part.type}: {part.filename or 'without a name'}, {exc.code}]" for part in files]
            return replace(message, content="\n".join(filter(None, [*names, message.text])))

    def close(self) -> None:
        """Close the database connection."""
        self.storage.close()

    def _begin_session(
        self, copy: SessionCopy, session_id: str, metadata: SessionMetadata, to_be: str
    ) -> Iterator[MessageCopy]:
        """Create the session with its original start time; returns its messages."""
        first = next(copy.messages, None)
        self._now = copy.created_at or (first.created_at if first is not None else None)
        unfinished = replace(metadata, custom={**metadata.custom, UNFINISHED: to_be})
        if not self.storage.open_session(session_id, copy.system_prompt, unfinished):
            raise SessionExistsError(f"A session {session_id!r:.80} was made while it was imported. Import it again.")
        self.written.append(session_id)
        return copy.messages if first is None else chain([first], copy.messages)

    def _fill(self, copy: SessionCopy, appender: "Appender", messages: Iterator[MessageCopy]) -> int:
        session_id = appender.session_id
        number = head = mark = BEGINNING
        newest = self._now
        for number, message in enumerate(messages, start=1):
            appender.put(self.record(message, session_id), number, message.parent)
            head, mark = _places(message, number, head, mark)
            newest = max(newest or datetime.min, message.created_at or datetime.min)
        appender.flush()
        if mark:
            self.storage.set_head(session_id, appender.ids[mark])
            self.storage.mark_context(session_id)
        if number:
            self.storage.set_head(session_id, appender.ids[head or number])
        self._now = copy.updated_at or newest
        self.storage.update_session_activity(session_id)
        return number

    def _delete(self, session_id: str) -> None:
        self._manager.delete_session(session_id)
        if self._attachments is not None:
            self._attachments.delete(session_id)

    def _time(self) -> datetime:
        return self._now or utc_now()


class Appender:
    """Appends messages to their parents by number, consecutive ones in one write.

    A message whose uid exists already, in any session but `spared`, gets a new uid.
    """

    def __init__(
        self,
        storage: Log,
        session_id: str,
        model: str | None,
        spared: str | None = None,
        spans: dict[str, tuple[int, int]] | None = None,
    ) -> None:
        """`spans` gets the ids of the first and the last message that it stores."""
        self.ids: dict[int, int] = {BEGINNING: ROOT}  # storage ids by number
        self._storage = storage
        self.session_id = session_id
        self._spared = spared
        self._spans = {} if spans is None else spans
        self._model = model
        self._behind = ROOT
        self._numbers: list[int] = []
        self._records: list[MessageRecord] = []

    def put(self, record: MessageRecord, number: int, parent: int) -> None:
        """Append a message to the one with the number `parent`; its id is known after `flush` at the latest."""
        if self._numbers and (self._numbers[-1] != parent or len(self._numbers) >= _TOGETHER):
            self.flush()
        if not self._numbers:
            self._behind = self.ids[parent]
        self._numbers.append(number)
        self._records.append(record)

    def flush(self) -> None:
        """Store the waiting messages."""
        if not self._records:
            return
        records = self._with_own_uids()
        ids = self._storage.append_messages(
            self.session_id, records, parent_id=self._behind, embedding_model=self._model
        )
        self.ids.update(zip(self._numbers, ids, strict=True))
        first, last = self._spans.get(self.session_id, (min(ids), max(ids)))
        self._spans[self.session_id] = min(first, *ids), max(last, *ids)
        self._numbers, self._records = [], []

    def _with_own_uids(self) -> list[MessageRecord]:
        """The waiting records, with their uids unless another message has the same."""
        places = self._storage.places_of([one.uid for one in self._records if one.uid])
        taken = {uid for uid, (session_id, _) in places.items() if session_id != self._spared}
        records: list[MessageRecord] = []
        for record in self._records:
            records.append(replace(record, uid=None) if record.uid in taken else record)
            if record.uid:
                taken.add(record.uid)
        return records


def _places(message: MessageCopy, number: int, head: int, mark: int) -> tuple[int, int]:
    return number if message.is_head else head, number if message.ends_context else mark


def merge(restoring: SessionRestorer, copy: SessionCopy, session: SessionRecord) -> int:
    """Add the missing messages; their number.

    When the session's thread ended inside the file's thread, the head moves to the end of the file's; else it stays.
    """
    appender = restoring.appender(session.id, copy.updated_at)
    comparison = Comparison(restoring.storage, session.id, appender.ids)
    added = 0
    for number, message in comparison.new(copy):
        appender.put(restoring.record(message, session.id), number, message.parent)
        added += 1
    appender.flush()
    way = [appender.ids[number] for number in comparison.way()]
    goes_on = session.head is None or session.head in way
    head = way[0] if goes_on else session.head
    if head and (added or head != session.head):
        restoring.storage.set_head(session.id, head)
    return added


def count_new(storage: Log, copy: SessionCopy, session_id: str) -> int:
    """The number of messages that `merge` would add."""
    return sum(1 for _ in Comparison(storage, session_id, {BEGINNING: ROOT}).new(copy))


class Comparison:
    """A comparison of a file with a session. It adds the storage ids of existing messages to `ids`, by number."""

    def __init__(self, storage: Log, session_id: str, ids: dict[int, int]) -> None:
        self._ids = ids
        self._parents = [BEGINNING]  # by number
        self._head = BEGINNING
        self._stored: dict[tuple[int, bytes], deque[int]] = defaultdict(deque)
        after = 0
        while page := storage.message_tree(session_id, _PAGE, after=after):
            for stored in page:
                self._stored[stored.parent_id or ROOT, content_digest(stored.message)].append(stored.id)
            after = page[-1].id

    def new(self, copy: SessionCopy) -> Iterator[tuple[int, MessageCopy]]:
        """The messages missing in the session, with their numbers. The caller adds their storage ids to `ids`."""
        for number, message in enumerate(copy.messages, start=1):
            self._parents.append(message.parent)
            self._head = number if message.is_head else self._head
            found = self._id_of_equal_message(message)
            if found is None:
                yield number, message
            else:
                self._ids[number] = found

    def way(self) -> Iterator[int]:
        """The numbers from the file's head to its beginning, BEGINNING last. Call it after `new` has ended."""
        number = self._head or len(self._parents) - 1
        while number != BEGINNING:
            yield number
            number = self._parents[number]
        yield BEGINNING

    def _id_of_equal_message(self, message: MessageCopy) -> int | None:
        """The storage id of an equal message; None when there is none. A new parent has no stored children."""
        parent_id = self._ids.get(message.parent)
        if parent_id is None:
            return None
        same = self._stored.get((parent_id, content_digest(message.message)))
        return same.popleft() if same else None


def content_digest(message: Message) -> bytes:
    """A digest of what a message says, by whom."""
    digest = message_digest(record_of("", message))
    return digest if digest != PASSED_OVER else message.text.encode("utf-8", "replace")
