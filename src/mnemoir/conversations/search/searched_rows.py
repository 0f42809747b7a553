"""The additional queries that search makes to a store of sessions: each reads all rows at once.

A search filters all messages before it ranks any, so few queries are paged.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from mnemoir.core.conversations import SessionMetadata
from mnemoir.ports.log import Log

_EPOCH = datetime(1970, 1, 1)


class MessageText(NamedTuple):
    """The fields of a message that an index needs. `said_at` is None when it cannot be read."""

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


class MessageChanges(NamedTuple):
    """The state of a store: ids are given up to `newest`, and `removals` messages are gone.

    A different `epoch` invalidates all messages read before.
    """

    newest: int
    removals: int
    epoch: str


class SearchedRows(Protocol):
    """Bulk queries of a search. All methods block and raise StorageUnavailable."""

    def said_after(self, message_id: int, limit: int) -> list[MessageText]:
        """Messages with text that are no instructions, with ids above `message_id`, by id."""

    def standing(self, removals: int | None = None) -> MessageChanges:
        """The current state, with `removals` if given, as counting them takes some milliseconds for many messages."""

    def living_ids(self) -> Sequence[int]:
        """The ids of all messages, in no special order."""

    def important_ids(self, threshold: float) -> Sequence[int]:
        """The ids of messages that are pinned or scored `threshold` or more, on any branch."""

    def session_notes(self, user: str | None = None) -> Iterator[tuple[str, SessionMetadata]]:
        """The id and metadata of every session, or only of one user's sessions."""


class SearchedStorage(Log, SearchedRows, Protocol):
    """A store of sessions that can be searched."""
