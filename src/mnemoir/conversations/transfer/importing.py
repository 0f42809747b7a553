"""Import of sessions: the whole file is read and checked, then read again and stored.

So nothing of an invalid file is stored, and a large file needs little memory. When storing fails, the written
sessions are deleted again.
"""

import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Literal, get_args

import structlog

from mnemoir.conversations.attachments.attachments import Attachments
from mnemoir.conversations.log.message_rows import record_of
from mnemoir.conversations.transfer.copies import (
    InvalidImport,
    MessageCopy,
    SessionCopy,
    SessionHolder,
    SkippedSession,
    StoredSession,
)
from mnemoir.conversations.transfer.files import in_utf8, readable
from mnemoir.conversations.transfer.programs.forms import Item
from mnemoir.conversations.transfer.recognition import format_of, reader_of
from mnemoir.conversations.transfer.restoring import UNFINISHED, SessionRestorer, count_new, merge
from mnemoir.conversations.transfer.same_ids import SameIds
from mnemoir.core.clock import utc_now
from mnemoir.core.conversations import ImportFormat, Message, SessionRecord, checked_session_id
from mnemoir.core.errors import InvalidRequest, MnemoirError
from mnemoir.ports.log import Log

OnConflict = Literal["skip", "rename", "replace", "merge"]

EXISTS_WHY, UNFINISHED_WHY = "exists", "unfinished"  # of sessions that are there
_LONGEST_STEM, _MOST_NAMESAKES = 500, 1000
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """The result of an import, or of a dry run as if it had stored; existing messages are not counted.

    `left_out` counts what the imported sessions held and conversations have no place for, by kind. `stored` are the
    sessions with messages of the import; none after a dry run. Messages without a time of their own are stored with
    one that is not before `begun_at`.
    """

    ids: list[str]  # of the imported sessions, in the store
    messages: int
    skipped: list[SkippedSession]
    left_out: Mapping[str, int] = field(default_factory=Counter)
    format: str = ""
    stored: Sequence[StoredSession] = field(default=(), compare=False)
    begun_at: datetime = field(default_factory=utc_now, compare=False)

    @property
    def sessions(self) -> int:
        """The number of imported sessions."""
        return len(self.ids)


def import_sessions(
    manager: SessionHolder,
    data: bytes | BinaryIO | str | Path,
    *,
    format: ImportFormat = "auto",
    on_conflict: OnConflict = "skip",
    dry_run: bool = False,
    user: str | None = None,
    attachments: Attachments | None = None,
    change: Callable[[str, Message], Message] | None = None,
) -> ImportReport:
    """Store the sessions of a file: an export, or the file of another program. `data` may be its path.

    `on_conflict` decides about a session whose id exists: skip it, store it under another id, replace the existing
    session, or merge the two. `user` overrides the owner in the file. With `attachments` files are saved in that
    store. The vectors of imported messages are computed later. `change` gives a message of
    a session as it is to be stored. Raises InvalidImport, which names the position in the
    file, before anything is stored, and StorageUnavailable.
    """
    if on_conflict not in get_args(OnConflict):
        raise InvalidRequest(f"on_conflict is one of {', '.join(get_args(OnConflict))}.", field="on_conflict")
    begun_at = utc_now()
    with readable(data) as told, in_utf8(told) as file:
        found = format_of(file, format)
        read = reader_of(file, found)
        file.seek(0)
        same_ids = _check_all(read(file))
        file.seek(0)
        copies = read(file) if on_conflict in ("rename", "merge") else same_ids.name_apart(read(file))
        if dry_run:
            trial = _Trial(manager.storage, on_conflict).report(_copies_to_store(copies, change))
            return replace(trial, format=found)
        with closing(SessionRestorer(manager, attachments)) as restoring:
            report = _Import(restoring, on_conflict, user).report(_copies_to_store(copies, change))
        manager.begin_backfill()
        return replace(report, format=found, begun_at=begun_at)


def _copies_to_store(copies: Iterator[Item], change: Callable[[str, Message], Message] | None) -> Iterator[Item]:
    """The sessions with their messages changed for storing; a session without an id gets one."""
    if change is None:
        return copies

    def copy_to_store(copy: Item) -> Item:
        if isinstance(copy, SkippedSession):
            return copy
        id = copy.id or str(uuid.uuid4())
        messages = (replace(one, message=change(id, one.message)) for one in copy.messages)
        return replace(copy, id=id, messages=messages)

    return map(copy_to_store, copies)


def _check_all(copies: Iterator[Item]) -> SameIds:
    """Read all sessions, and note what they say by their ids.

    Raises InvalidImport for one that cannot be stored, and where none can be read.
    """
    first: SkippedSession | None = None
    has_any = False
    same_ids = SameIds()
    for copy in copies:
        if isinstance(copy, SessionCopy):
            has_any = True
            _check(copy, same_ids)
        else:
            first = first or copy
    if first is not None and not has_any:
        raise InvalidImport(f"No conversation in the file can be read. {first.title}: {first.why}")
    return same_ids


def _check(copy: SessionCopy, same_ids: SameIds) -> None:
    """Read a whole session. Raises InvalidImport when it cannot be stored."""
    place = copy.place

    def messages() -> Iterator[MessageCopy]:
        nonlocal place
        for message in copy.messages:
            place = message.place
            record_of("", message.message)
            yield message

    try:
        if copy.id is not None:
            checked_session_id(copy.id)
        copy.metadata.to_json()
        same_ids.note(copy.id or "", messages())
    except InvalidImport:
        raise
    except InvalidRequest as exc:
        raise InvalidImport(f"{place}: {exc.message}") from None


class _Import:
    """An import of one file."""

    def __init__(self, restoring: SessionRestorer, on_conflict: OnConflict, user: str | None) -> None:
        self._restoring = restoring
        self._on_conflict = on_conflict
        self._user = user
        self._aside: list[tuple[str, str]] = []  # (temporary id, final id) of sessions that replace existing ones
        self._report = ImportReport(ids=[], messages=0, skipped=[])
        self._left_out = Counter[str]()

    def report(self, copies: Iterator[Item]) -> ImportReport:
        """Store the sessions and return the report. On an error, delete what was written."""
        try:
            messages = sum(self._take(copy) for copy in copies)
            for aside, session_id in self._aside:
                self._restoring.put_in_place(aside, session_id)
        except BaseException:
            self._take_back()
            raise
        return replace(
            self._report,
            messages=messages,
            left_out=self._left_out + self._restoring.left_out,
            stored=self._restoring.sessions_with_messages(self._report.ids),
        )

    def _take(self, copy: Item) -> int:
        """Store one session; the number of stored messages."""
        if isinstance(copy, SkippedSession):
            self._report.skipped.append(copy)
            return 0
        session_id = copy.id or str(uuid.uuid4())
        there = self._restoring.storage.get_session(session_id)
        if there is not None and self._on_conflict == "skip":
            self._report.skipped.append(_skipped_session(copy, session_id, there))
            return 0
        metadata = copy.metadata if self._user is None else replace(copy.metadata, user=self._user)
        if there is not None and self._on_conflict == "rename":
            session_id, there = _free_id(session_id, self._is_taken), None
        self._report.ids.append(session_id)
        self._left_out.update(copy.left_out)
        if there is None:
            return self._restoring.add(copy, session_id, metadata)
        if self._on_conflict == "merge":
            return merge(self._restoring, copy, there)
        aside, messages = self._restoring.add_aside(copy, session_id, metadata)
        self._aside.append((aside, session_id))
        return messages

    def _is_taken(self, session_id: str) -> bool:
        return self._restoring.storage.get_session(session_id) is not None

    def _take_back(self) -> None:
        """Delete the written sessions. One that cannot be deleted stays marked as unfinished in its metadata."""
        try:
            self._restoring.take_back()
        except MnemoirError as exc:
            _log.error("import not undone", sessions=len(self._restoring.written), cause=exc.message)


class _Trial:
    """A dry run of an import."""

    def __init__(self, storage: Log, on_conflict: OnConflict) -> None:
        self._storage = storage
        self._on_conflict = on_conflict
        self._report = ImportReport(ids=[], messages=0, skipped=[])
        self._left_out = Counter[str]()

    def report(self, copies: Iterator[Item]) -> ImportReport:
        """The report of an import that stored these sessions."""
        messages = sum(self._take(copy) for copy in copies)
        return replace(self._report, messages=messages, left_out=self._left_out)

    def _take(self, copy: Item) -> int:
        if isinstance(copy, SkippedSession):
            self._report.skipped.append(copy)
            return 0
        session_id = copy.id or str(uuid.uuid4())
        if not self._is_taken(session_id):
            self._left_out.update(copy.left_out)
            self._report.ids.append(session_id)
            return _count(copy)
        there = self._storage.get_session(session_id)
        if self._on_conflict == "skip":
            self._report.skipped.append(_skipped_session(copy, session_id, there))
            return 0
        self._left_out.update(copy.left_out)
        self._report.ids.append(_free_id(session_id, self._is_taken) if self._on_conflict == "rename" else session_id)
        is_merged = self._on_conflict == "merge" and there is not None
        return count_new(self._storage, copy, session_id) if is_merged else _count(copy)

    def _is_taken(self, session_id: str) -> bool:
        return session_id in self._report.ids or self._storage.get_session(session_id) is not None


def _count(copy: SessionCopy) -> int:
    return sum(1 for _ in copy.messages)


def _free_id(session_id: str, is_taken: Callable[[str], bool]) -> str:
    """The id with the first free number as its suffix."""
    for number in range(2, _MOST_NAMESAKES):
        name = f"{session_id[:_LONGEST_STEM]}-{number}"
        if not is_taken(name):
            return name
    return str(uuid.uuid4())


def _skipped_session(copy: SessionCopy, session_id: str, there: SessionRecord | None) -> SkippedSession:
    is_cut = there is not None and UNFINISHED in there.metadata.custom
    return SkippedSession(
        id=session_id, title=copy.metadata.title or "", why=UNFINISHED_WHY if is_cut else EXISTS_WHY
    )
