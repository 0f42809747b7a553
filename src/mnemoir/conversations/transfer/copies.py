"""A session as files hold it: whatever the format, this is what is read from one and written to one.

Messages have numbers instead of the ids of a store: the first of a session is 1, the next 2, in the order of their
ids. So a file says the same whichever store it came from, and every parent has a lower number than its children.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from mnemoir.core.conversation_messages import Message
from mnemoir.core.conversations import SessionMetadata
from mnemoir.core.errors import InvalidRequest
from mnemoir.ports.log import Log

BEGINNING = 0  # the parent of a message that begins a thread


class InvalidImport(InvalidRequest):
    """A file cannot be imported; the message names the place in it."""

    code = "invalid_import"


class ImportTooLarge(InvalidImport):
    """A file, or a part of it, is over a limit."""

    code = "payload_too_large"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageCopy:
    """A message with its place in the session. Times are naive UTC."""

    message: Message
    parent: int  # the number of an earlier message, or BEGINNING
    place: str  # in the file, for errors
    created_at: datetime | None = None
    turn_id: str | None = None
    run_id: str | None = None
    finish_reason: str | None = None
    token_count: int | None = None
    importance: float | None = None
    pinned: bool = False
    uid: str | None = None
    is_head: bool = False  # the thread ends here; without any such message, at the last one
    ends_context: bool = False  # windows begin after it


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCopy:
    """A session; its messages are read from the file as they are asked for, once, and before the next session is."""

    messages: Iterator[MessageCopy]
    place: str
    id: str | None = None  # None: it gets a new one
    system_prompt: str = ""
    metadata: SessionMetadata = field(default_factory=SessionMetadata)
    created_at: datetime | None = None
    updated_at: datetime | None = None


class SessionHolder(Protocol):
    """What of a `MemoryManager` is used here."""

    @property
    def storage(self) -> Log: ...

    @property
    def embedding_model(self) -> str | None: ...

    def delete_session(self, session_id: str) -> bool: ...

    def begin_backfill(self) -> None: ...
