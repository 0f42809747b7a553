"""Requests to fact memory and their results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mnemoir.core.errors import NotFound
from mnemoir.core.events import Usage
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Applied
from mnemoir.ports.memory_store import Receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message of an add. `said_at` and `metadata` are the message's own, over the request's."""

    role: str
    text: str
    speaker: str | None = None
    said_at: datetime | None = None
    metadata: Mapping[str, Any] | None = None

    @property
    def message_uid(self) -> str | None:
        """The uid of its stored message, if its metadata name one."""
        return _text_or_none((self.metadata or {}).get("message_uid"))


@dataclass(frozen=True, slots=True, kw_only=True)
class AddRequest:
    """The turns to remember, and how to store them.

    Without `infer` every turn is kept word for word and no model is asked. `said_at` resolves relative dates and,
    when it lies in the past, becomes the time of what is added.
    """

    turns: Sequence[Turn]
    metadata: Mapping[str, Any] | None = None
    infer: bool = True
    said_at: datetime | None = None
    expires_on: str | None = None
    receipt: Receipt | None = None

    @property
    def session(self) -> str | None:
        """The session of its turns, if its metadata name one."""
        return _text_or_none((self.metadata or {}).get("session_id"))


@dataclass(frozen=True, slots=True, kw_only=True)
class AddResult:
    """The changes of an add, in the order applied. `facts_found` is False when there was nothing to remember.

    `redeemed` is True when the answer is that of an earlier request with the same key.
    """

    applied: Sequence[Applied]
    facts_found: bool
    usage: Usage
    redeemed: bool = False


def _text_or_none(value: object) -> str | None:
    """The value if it is text, else None."""
    return value if isinstance(value, str) else None


def unknown_memory(memory_id: MemoryId) -> NotFound:
    """The error for a memory that does not exist or is not the caller's."""
    return NotFound(
        f"There is no memory {memory_id[:128]!r} here. List the user's memories to see their ids.",
        code="memory_not_found",
    )
