"""Export of sessions as a stream of bytes, so that a long session takes no more memory than a short one."""

import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Literal

from mnemoir.conversations.attachments.attachments import Attachments
from mnemoir.conversations.transfer.copies import BEGINNING, Gap, MessageCopy, SessionCopy, SessionHolder
from mnemoir.conversations.transfer.own_writing import write_gaps, write_lines, write_object
from mnemoir.conversations.transfer.texts import write_chatml, write_markdown
from mnemoir.core.conversations import ROOT, MediaPart, Message, SessionRecord, StoredMessage
from mnemoir.core.errors import InvalidRequest, NotFound, StorageUnavailable
from mnemoir.ports.log import Log

ExportFormat = Literal["jsonl", "json", "markdown", "chatml"]

_PAGE = 500
_WRITERS: Mapping[str, Callable[[SessionCopy], Iterator[bytes]]] = {
    "jsonl": write_lines,
    "json": write_object,
    "markdown": write_markdown,
    "chatml": write_chatml,
}
_OF_THE_THREAD = ("markdown", "chatml")
_DAMAGED = "it was in a file that turned out to be damaged"
_CUT = "it was deleted or damaged while it was read, and may be incomplete"


def export_session(
    manager: SessionHolder, session_id: str, format: ExportFormat = "jsonl", *, attachments: Attachments | None = None
) -> Iterator[bytes]:
    """The session as the bytes of a file; JSON and JSON lines contain all branches, other formats the thread.

    With `attachments` it contains the bytes of files, else links that only the store can resolve. Raises NotFound for
    an unknown session and InvalidRequest for an unknown format; reading may raise StorageUnavailable.
    """
    if format not in _WRITERS:
        raise InvalidRequest(f"There is no format {format!r:.40}; there are {', '.join(_WRITERS)}.", field="format")
    session = manager.storage.get_session(session_id)
    if session is None:
        raise NotFound(f"There is no session {session_id!r:.80}.", code="conversation_not_found")
    copy = copy_of(manager.storage, session, _Files(attachments), thread_only=format in _OF_THE_THREAD)
    return _WRITERS[format](copy)


def export_all(
    manager: SessionHolder,
    *,
    attachments: Attachments | None = None,
    set_aside: Callable[[], str | None] = lambda: None,
) -> Iterator[bytes]:
    """All sessions as JSON lines, newest activity first; sessions deleted meanwhile are left out.

    What could not be read is named in a last line, and only then is there one (`write_gaps`). `set_aside` gives the
    name under which a damaged file of sessions was set aside; None for none.
    """
    gone, gaps, before = list[Gap](), list[Gap](), set_aside()
    for session_id in _session_ids(manager.storage):
        files = _Files(attachments)
        try:
            session = manager.storage.get_session(session_id)
            if session is None:
                gone.append(Gap(id=session_id, reason=_DAMAGED))
                continue
            yield from write_lines(copy_of(manager.storage, session, files))
            reason = _missing_of(manager.storage, session_id, files)
        except StorageUnavailable as exc:
            reason = f"it could not be read to its end: {exc.code}"
        if reason:
            gaps.append(Gap(id=session_id, reason=reason))
    damaged = set_aside()
    gaps += gone if damaged != before else []  # else they were deleted
    if gaps or damaged:
        yield write_gaps(gaps, damaged)


def _missing_of(storage: Log, session_id: str, files: "_Files") -> str:
    """What a session that was just written lacks; "" for nothing."""
    if storage.get_session(session_id) is None:
        return _CUT
    damaged = storage.damaged_messages(session_id)
    lacks = [f"damaged messages: {damaged}"] if damaged else []
    lacks += [f"missing or damaged files: {files.missing}"] if files.missing else []
    return ", ".join(lacks)


class _Files:
    """Puts the bytes of files into messages; `missing` is the number of those that could not be."""

    def __init__(self, attachments: Attachments | None) -> None:
        self._attachments = attachments
        self.missing = 0

    def brought_back(self, message: Message) -> Message:
        """The message with the bytes of its files, as far as they are there; unchanged without attachments."""
        if self._attachments is None:
            return message
        (whole,) = self._attachments.bring_back([message])
        self.missing += _files_in(message) - _files_in(whole)
        return whole


def _files_in(message: Message) -> int:
    parts = message.content if isinstance(message.content, list) else []
    return sum(isinstance(part, MediaPart) for part in parts)


def copy_of(
    storage: Log, session: SessionRecord, files: _Files | None = None, *, thread_only: bool = False
) -> SessionCopy:
    """The stored session; its messages are read in pages. Without `files` they keep the links to their files."""
    pages = _pages(storage, session.id)
    messages = (each for page in pages for each in page if each.is_on_thread or not thread_only)
    return SessionCopy(
        messages=_copies(messages, session, files or _Files(None)),
        place=session.id,
        id=session.id,
        system_prompt=session.system_prompt,
        metadata=session.metadata,
        created_at=session.created_at,
        updated_at=session.updated_at,
    )


def _session_ids(storage: Log) -> list[str]:
    """The ids of all sessions, read completely first: a session that is used meanwhile moves in the list."""
    found: dict[str, None] = {}
    before = None
    while page := storage.sessions_page(_PAGE, before=before):
        found.update((session.id, None) for session in page)
        before = page[-1].updated_at, page[-1].id
    return list(found)


def _pages(storage: Log, session_id: str) -> Iterator[list[StoredMessage]]:
    after = 0
    while page := storage.message_tree(session_id, _PAGE, after=after):
        yield page
        after = page[-1].id


def _copies(messages: Iterator[StoredMessage], session: SessionRecord, files: _Files) -> Iterator[MessageCopy]:
    numbers: dict[int, int] = {ROOT: BEGINNING}
    turns: list[str] = [""]  # by number
    for stored, parent_id in _parents_first(messages):
        parent = numbers[parent_id]
        numbers[stored.id] = len(turns)
        turns.append(stored.turn_id or _turn(session.id, stored, len(turns), turns[parent]))
        yield MessageCopy(
            message=files.brought_back(stored.message),
            parent=parent,
            place=f"message {stored.id}",
            created_at=stored.created_at,
            turn_id=turns[-1],
            run_id=stored.run_id,
            finish_reason=stored.finish_reason,
            token_count=stored.token_count,
            importance=stored.importance,
            pinned=stored.pinned,
            uid=stored.uid,
            is_head=stored.id == session.head,
            ends_context=stored.id == session.context_after,
        )


def _turn(session_id: str, stored: StoredMessage, number: int, turn_above: str) -> str:
    """A turn id for a row from before turns were stored: a user's message begins a turn. Equal in each export."""
    if turn_above and stored.message.role != "user":
        return turn_above
    return uuid.uuid5(uuid.NAMESPACE_OID, f"{session_id}/{number}").hex


def _parents_first(messages: Iterator[StoredMessage]) -> Iterator[tuple[StoredMessage, int]]:
    """The messages, given by id, reordered so that each follows its parent, with the parent's id.

    A message whose parent has a higher id, because it was stored later, waits for its parent. A message without a
    pointer or with an unreadable parent follows the message before it.
    """
    out, held = {ROOT}, set[int]()
    newest = ROOT
    waiting: dict[int, list[StoredMessage]] = defaultdict(list)
    for stored in messages:
        if stored.parent_id is not None and (stored.parent_id > stored.id or stored.parent_id in held):
            waiting[stored.parent_id].append(stored)
            held.add(stored.id)
            continue
        ready = [(stored, stored.parent_id if stored.parent_id in out else newest)]
        while ready:
            each, parent_id = ready.pop()
            yield each, parent_id
            out.add(each.id)
            held.discard(each.id)
            newest = each.id
            ready += [(child, each.id) for child in reversed(waiting.pop(each.id, []))]
    for stored in sorted(chain.from_iterable(waiting.values()), key=lambda each: each.id):
        yield stored, newest
        newest = stored.id
