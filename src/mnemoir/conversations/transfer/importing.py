"""Sessions out of a file: the whole file is read and checked, then read again and stored.

So nothing is stored of a file with a mistake in it, and of a large file little is in memory at a time. When storing
fails, what was written is taken back.
"""

import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Literal, get_args

import structlog

from mnemoir.conversations.attachments.attachments import Attachments
from mnemoir.conversations.log.message_rows import record_of
from mnemoir.conversations.transfer.copies import InvalidImport, SessionCopy, SessionHolder
from mnemoir.conversations.transfer.files import readable
from mnemoir.conversations.transfer.merging import count_new, merge
from mnemoir.conversations.transfer.recognition import ImportFormat, reader_of
from mnemoir.conversations.transfer.restoring import UNFINISHED, Restoring
from mnemoir.core.conversations import SessionRecord, checked_session_id
from mnemoir.core.errors import InvalidRequest, MnemoirError
from mnemoir.ports.log import Log

OnConflict = Literal["skip", "rename", "replace", "merge"]

_IS_THERE = "there is a session of that id; rename, replace or merge it"
_IS_UNFINISHED = "there is a session of that id whose import was cut off; replace it"
_LONGEST_STEM, _MOST_NAMESAKES = 500, 1000
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedSession:
    """A session of the file that was not imported."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import stored, or, where it was only tried, would store: messages that were there do not count."""

    ids: list[str]  # of the sessions, as they are called in the store
    messages: int
    skipped: list[SkippedSession]

    @property
    def sessions(self) -> int:
        """How many were stored."""
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
) -> ImportReport:
    """Store the sessions of a file: an export, or the file of another program. `data` may name it by its path.

    `on_conflict` tells what becomes of a session whose id is taken: it is left out, stored under another id, put in
    the place of the one that is there, or merged with it. `user` is whose all of them are, whatever the file says.
    With `attachments` files are put away in their store. Messages that were imported wait for their vectors. Raises
    InvalidImport, naming the place in the file, before anything is stored, and StorageUnavailable.
    """
    if on_conflict not in get_args(OnConflict):
        raise InvalidRequest(f"on_conflict is one of {', '.join(get_args(OnConflict))}.", field="on_conflict")
    with readable(data) as file:
        read = reader_of(file, format)
        file.seek(0)
        for copy in read(file):
            _check(copy)
        file.seek(0)
        if dry_run:
            return _Trial(manager.storage, on_conflict).report(read(file))
        with closing(Restoring(manager, attachments)) as restoring:
            report = _Import(restoring, on_conflict, user).report(read(file))
        manager.begin_backfill()
        return report


def _check(copy: SessionCopy) -> None:
    """Read it whole. Raises InvalidImport for what could not be stored."""
    place = copy.place
    try:
        if copy.id is not None:
            checked_session_id(copy.id)
        copy.metadata.to_json()
        for message in copy.messages:
            place = message.place
            record_of("", message.message)
    except InvalidImport:
        raise
    except InvalidRequest as exc:
        raise InvalidImport(f"{place}: {exc.message}") from None


class _Import:
    """Stores the sessions of one file."""

    def __init__(self, restoring: Restoring, on_conflict: OnConflict, user: str | None) -> None:
        self._restoring = restoring
        self._on_conflict = on_conflict
        self._user = user
        self._aside: list[tuple[str, str]] = []  # what is stored under another id, with the id it is to have
        self._report = ImportReport(ids=[], messages=0, skipped=[])

    def report(self, copies: Iterator[SessionCopy]) -> ImportReport:
        """Store them; what was stored."""
        try:
            messages = sum(self._take(copy) for copy in copies)
            for aside, session_id in self._aside:
                self._restoring.put_in_place(aside, session_id)
        except BaseException:
            self._take_back()
            raise
        return replace(self._report, messages=messages)

    def _take(self, copy: SessionCopy) -> int:
        """The number of messages stored."""
        session_id = copy.id or str(uuid.uuid4())
        there = self._restoring.storage.get_session(session_id)
        if there is not None and self._on_conflict == "skip":
            self._report.skipped.append(_skipped(there))
            return 0
        metadata = copy.metadata if self._user is None else replace(copy.metadata, user=self._user)
        if there is not None and self._on_conflict == "rename":
            session_id, there = _free_id(session_id, self._is_taken), None
        self._report.ids.append(session_id)
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
        """What cannot be deleted now tells in its metadata that it is not whole."""
        try:
            self._restoring.take_back()
        except MnemoirError as exc:
            _log.error("import not taken back", sessions=len(self._restoring.written), cause=exc.message)


class _Trial:
    """Tells what an import would do."""

    def __init__(self, storage: Log, on_conflict: OnConflict) -> None:
        self._storage = storage
        self._on_conflict = on_conflict
        self._report = ImportReport(ids=[], messages=0, skipped=[])

    def report(self, copies: Iterator[SessionCopy]) -> ImportReport:
        """What would be stored."""
        messages = sum(self._take(copy) for copy in copies)
        return replace(self._report, messages=messages)

    def _take(self, copy: SessionCopy) -> int:
        session_id = copy.id or str(uuid.uuid4())
        if not self._is_taken(session_id):
            self._report.ids.append(session_id)
            return _count(copy)
        there = self._storage.get_session(session_id)
        if self._on_conflict == "skip":
            self._report.skipped.append(_skipped(there) if there else SkippedSession(id=session_id, reason=_IS_THERE))
            return 0
        self._report.ids.append(_free_id(session_id, self._is_taken) if self._on_conflict == "rename" else session_id)
        is_merged = self._on_conflict == "merge" and there is not None
        return count_new(self._storage, copy, session_id) if is_merged else _count(copy)

    def _is_taken(self, session_id: str) -> bool:
        return session_id in self._report.ids or self._storage.get_session(session_id) is not None


def _count(copy: SessionCopy) -> int:
    return sum(1 for _ in copy.messages)


def _free_id(session_id: str, is_taken: Callable[[str], bool]) -> str:
    """The id with the first number behind it that nobody has."""
    for number in range(2, _MOST_NAMESAKES):
        name = f"{session_id[:_LONGEST_STEM]}-{number}"
        if not is_taken(name):
            return name
    return str(uuid.uuid4())


def _skipped(there: SessionRecord) -> SkippedSession:
    reason = _IS_UNFINISHED if UNFINISHED in there.metadata.custom else _IS_THERE
    return SkippedSession(id=there.id, reason=reason)
