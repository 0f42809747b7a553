"""What a search asks of a store of sessions besides what everybody does: all that is there, in one query each.

A search judges all messages before it ranks any, so little here comes in pages.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from mnemoir.core.conversations import SessionMetadata
from mnemoir.ports.log import Log

_EPOCH = datetime(1970, 1, 1)


class MessageText(NamedTuple):
    """What an index takes of a message, and no more: there are many. `said_at` is None where it cannot be read."""

    id: int
    session_id: str
    role: str
    name: str | None
    text: str
    said_at: datetime | None  # naive UTC

    @property
    def said_at_s(self) -> float | None:
        """Seconds since 1970."""
        return None if self.said_at is None else (self.said_at - _EPOCH).total_seconds()


class SearchedRows(Protocol):
    """All methods block and raise StorageUnavailable."""

    def said_after(self, message_id: int, limit: int) -> list[MessageText]:
        """Messages that say something and are no instructions, with greater ids, by id."""

    def living_ids(self) -> Sequence[int]:
        """The ids of all messages there are, in no special order."""

    def important_ids(self, threshold: float) -> Sequence[int]:
        """Those of messages that are pinned, or scored `threshold` or more, wherever they stand."""

    def session_notes(self, user: str | None = None) -> Iterator[tuple[str, SessionMetadata]]:
        """The id and metadata of every session, or of the sessions of a user alone."""


class SearchedStorage(Log, SearchedRows, Protocol):
    """A store of sessions that can be searched."""
