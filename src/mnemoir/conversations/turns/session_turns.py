"""An adapter that reads sessions as turns: the thread of a session, split at the user's messages.

A turn is a message of the user and all messages up to the next one. Its answer is the model's last text in it.
Messages before the first message of the user, such as a greeting, belong to no turn, and neither do messages before
the mark of a cleared context.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from mnemoir.conversations.log.files import FileResolver
from mnemoir.conversations.turns.session_files import attachments_of, read_number
from mnemoir.conversations.turns.turns import AppMode, Conversation, Conversations
from mnemoir.core.conversations import ROOT, StoredMessage, calls_of
from mnemoir.core.text import estimate_tokens
from mnemoir.ports.log import Log
from mnemoir.ports.turns import Attachment, Turn, TurnRows

_PAGE = 64
_LARGEST_PAGE = 512
_UNKNOWN_TIME = datetime(1970, 1, 1, tzinfo=UTC)
_SHOWS_FILES = {"file_upload": {"enabled": True}}


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentTurn:
    """The turn that is being answered: its id, and its newest stored message."""

    id: str
    message_id: int


def thread_back(storage: Log, session_id: str, newest: int | None = None) -> Iterator[StoredMessage]:
    """The thread that ends with the message `newest`, newest first, down to the mark of a cleared context.

    Without `newest` the thread ends with the session's head. Empty for an unknown session or message. Pages are read
    as needed. Raises StorageUnavailable.
    """
    session = storage.get_session(session_id)
    if session is None:
        return
    last = session.head if newest is None else newest
    way = _ThreadReader(storage, session_id)
    message = way.behind(None) if last is None else way.at(last)
    while message is not None and not _is_behind(session.context_after, message, way):
        yield message
        message = way.behind(message)


class SessionTurns:
    """The turns of one user's sessions, each session by the thread that ends with its head.

    With `current` the thread ends with that message, whichever branch the head is on, and the newest turn is the one
    being answered, which has no answer yet. A turn's id is the id of its user's message, as a text.
    """

    def __init__(self, storage: Log, *, current: CurrentTurn | None = None) -> None:
        self._storage = storage
        self._current = current

    def newest_first(self, conversation_id: str, *, limit: int, before: Turn | None = None) -> Sequence[Turn]:
        """See TurnRows. `seq` of a turn is the id of its user's message."""
        if before is None:
            newest = self._current.message_id if self._current else None
            messages = thread_back(self._storage, conversation_id, newest)
            turns = _turns(conversation_id, messages, self._current)
        else:
            messages = thread_back(self._storage, conversation_id, before.seq)
            turns = _turns(conversation_id, islice(messages, 1, None), None, is_newest=False)
        return list(islice(turns, max(0, limit)))

    def attachments(self, turn_ids: Sequence[str]) -> Mapping[str, Sequence[Attachment]]:
        """The files of the users' messages by turn id; the turn being answered has none here."""
        wanted = [number for turn_id in turn_ids if (number := read_number(turn_id)) is not None]
        found = self._storage.messages_by_id(wanted)
        return {str(message.id): files for message in found.values() if (files := attachments_of(message))}

    def run_features(self, workflow_run_id: str) -> Mapping[str, Any] | None:
        """Features under which files of the history are shown again, for every run."""
        return _SHOWS_FILES


class SessionConversations:
    """One user's sessions as conversations of any application. Without `files` their history is text."""

    def __init__(
        self, storage: Log, *, files: FileResolver | None = None, current: CurrentTurn | None = None
    ) -> None:
        self._storage = storage
        self._files = files
        self._current = current

    def find(self, conversation_id: str, *, app_id: str, tenant_id: str) -> Conversation | None:
        """The session with that id; `app_id` and `tenant_id` are copied into the result and not checked."""
        if self._storage.get_session(conversation_id) is None:
            return None
        return Conversation(
            id=conversation_id,
            app_id=app_id,
            tenant_id=tenant_id,
            mode=AppMode.CHAT,
            model_config=_SHOWS_FILES,
            rows=SessionTurns(self._storage, current=self._current),
            files=self._files,
        )


class _ThreadReader:
    """A reader that goes from a message to its parent.

    It reads pages of the head's thread ahead and checks each step against the message's parent pointer; on another
    branch it reads messages one by one.
    """

    def __init__(self, storage: Log, session_id: str) -> None:
        self._storage = storage
        self._session_id = session_id
        self._page: list[StoredMessage] = []  # oldest first, so that the next one is the last item
        self._size = _PAGE
        self.is_on_page = False  # True when the last message came from the page

    def at(self, message_id: int) -> StoredMessage | None:
        """The message with that id; None when it is not in the session."""
        self.is_on_page = False
        found = self._storage.messages_by_id([message_id]).get(message_id)
        return found if found is not None and found.session_id == self._session_id else None

    def behind(self, message: StoredMessage | None) -> StoredMessage | None:
        """The parent of a message; for None the newest message of the head's thread.

        The parent of a message without a pointer is the next older message, as in sessions without stored pointers.
        """
        pointer = None if message is None else message.parent_id
        if pointer == ROOT:
            return None
        if not self._page or (pointer is None and not self.is_on_page):
            self._read_ahead(message)
        if pointer is None:
            return self._next()
        if any(read.id == pointer for read in self._page):
            while (found := self._next()) is not None and found.id != pointer:
                pass
            return found
        found = self.at(pointer)
        if found is None and message is not None and message.is_on_thread:
            return self._next()  # the parent is damaged; go on with its own parent
        return found

    def _next(self) -> StoredMessage | None:
        self.is_on_page = True
        return self._page.pop() if self._page else None

    def _read_ahead(self, message: StoredMessage | None) -> None:
        before = None if message is None else message.id
        self._page = self._storage.newest_messages(self._session_id, self._size, before=before)[::-1]
        self._size = min(2 * self._size, _LARGEST_PAGE)


def _is_behind(mark: int | None, message: StoredMessage, way: _ThreadReader) -> bool:
    """True when a message is at or before the mark of a cleared context; pages contain no message before it."""
    return mark is not None and (message.id == mark or (message.id < mark and not way.is_on_page))


def _turns(
    conversation_id: str, messages: Iterable[StoredMessage], current: CurrentTurn | None, *, is_newest: bool = True
) -> Iterator[Turn]:
    """The turns of messages, both newest first. The newest turn of a thread may still wait for its answer."""
    following: list[StoredMessage] | None = None
    for said in _cut(messages):
        if following is not None:
            yield _turn(conversation_id, following, str(said[-1].id), current, is_newest=is_newest)
            current, is_newest = None, False
        following = said
    if following is not None:
        yield _turn(conversation_id, following, None, current, is_newest=is_newest)


def _cut(messages: Iterable[StoredMessage]) -> Iterator[list[StoredMessage]]:
    """The messages of each turn, newest first, so that the user's message is the last."""
    said: list[StoredMessage] = []
    for message in messages:
        said.append(message)
        if message.message.role == "user":
            yield said
            said = []


def _turn(
    conversation_id: str,
    said: Sequence[StoredMessage],
    parent: str | None,
    current: CurrentTurn | None,
    *,
    is_newest: bool,
) -> Turn:
    question = said[-1]
    waits = current is not None or (is_newest and said[0].message.role != "assistant")
    answers = [] if waits else [one for one in said if one.message.role == "assistant"]
    answer = next((one for one in answers if one.message.text), answers[0] if answers else None)
    text = answer.message.text if answer else ""
    return Turn(
        id=current.id if current else str(question.id),
        conversation_id=conversation_id,
        parent_message_id=parent,
        query=question.message.text,
        answer=text,
        answer_tokens=(answer.token_count or estimate_tokens(text)) if answer else 0,
        workflow_run_id=answer.run_id if answer else None,
        created_at=question.created_at or _UNKNOWN_TIME,
        seq=question.id,
        has_tool_calls=any(calls_of(one.message) for one in answers),
    )


_: type[TurnRows] = SessionTurns
_sessions: type[Conversations] = SessionConversations
