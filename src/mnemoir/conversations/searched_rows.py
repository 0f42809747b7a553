"""What a search asks of a store of sessions besides what everybody does: all that is there, in one query each.

A search judges all messages before it ranks any, so nothing here comes in pages.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

from mnemoir.conversations.session_storage import SessionStorage
from mnemoir.conversations.sessions import SessionMetadata


class SearchedRows(Protocol):
    """All methods block and raise StorageUnavailable."""

    def living_ids(self) -> Sequence[int]:
        """The ids of all messages there are, in no special order."""

    def important_ids(self, threshold: float) -> Sequence[int]:
        """Those of messages that are pinned, or scored `threshold` or more, wherever they stand."""

    def session_notes(self, user: str | None = None) -> Iterator[tuple[str, SessionMetadata]]:
        """The id and metadata of every session, or of the sessions of a user alone."""


class SearchedStorage(SessionStorage, SearchedRows, Protocol):
    """A store of sessions that can be searched."""
