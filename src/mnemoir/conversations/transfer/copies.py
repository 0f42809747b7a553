"""A session independent of file formats: all readers return it and all writers take it.

Messages have numbers instead of storage ids: the first of a session is 1, the next 2, in the order of their ids. So
equal sessions give equal files in every store, and every parent has a lower number than its children.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from mnemoir.core.conversations import Message, SessionMetadata
from mnemoir.core.errors import InvalidRequest
from mnemoir.ports.log import Log

BEGINNING = 0  # the parent of a message that begins a thread


class InvalidImport(InvalidRequest):
    """A file cannot be imported; the message names the position in it."""

    code = "invalid_import"


class WrongKind(InvalidImport):
    """A file holds something else than conversations; the message names the way that takes it."""

    code = "wrong_kind"


class ImportTooLarge(InvalidImport):
    """A file or a part of it exceeds a limit."""

    code = "payload_too_large"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A session that an export lacks, or of which it lacks something."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageCopy:
    """A message with its parent and its other stored members. Times are naive UTC."""

    message: Message
    parent: int  # the number of an earlier message, or BEGINNING
    place: str  # position in the file, for errors
    created_at: datetime | None = None
    turn_id: str | None = None
    run_id: str | None = None
    finish_reason: str | None = None
    token_count: int | None = None
    importance: float | None = None
    pinned: bool = False
    uid: str | None = None
    is_head: bool = False  # the thread ends here; without such a message, at the last one
    is_foreign: bool = False  # of another program, whose odd files keep no chat out
    ends_context: bool = False  # windows begin after it


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCopy:
    """A session. Its messages are read lazily from the file, once, and before the next session."""

    messages: Iterator[MessageCopy]
    place: str
    id: str | None = None  # None: the import creates an id
    system_prompt: str = ""
    metadata: SessionMetadata = field(default_factory=SessionMetadata)
    created_at: datetime | None = None
    updated_at: datetime | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)  # what of it has no place here, by kind


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedSession:
    """A session of the file that was not imported; `why` is `exists`, `unfinished` or a sentence.

    `exists` means that there is one of that id, `unfinished` that this one is from an import that was cut.
    """

    id: str
    title: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSession:
    """A session that an import made or, where it is not `is_new`, added to: the ids of its first and last message."""

    id: str
    is_new: bool
    first_message: int
    last_message: int


class SessionHolder(Protocol):
    """The members of a `MemoryManager` that transfers use."""

    @property
    def storage(self) -> Log: ...

    @property
    def embedding_model(self) -> str | None: ...

    def delete_session(self, session_id: str) -> bool: ...

    def begin_backfill(self) -> None: ...
