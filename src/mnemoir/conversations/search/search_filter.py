"""Filters of a search for messages, as callers give them and as conditions for a vector store.

Fixed properties of a message (session, role, time) are in the metadata of its vector. Properties of its session
(user, tags, agent, visibility) may change, so they are read from the store of sessions and converted to a list of
session ids: stale metadata then never gives access to messages of another user.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from mnemoir.conversations.search.searched_rows import SearchedRows
from mnemoir.conversations.search.where import Scalar, Where
from mnemoir.core.conversations import Role, SessionMetadata, StoredMessage

_SHARED = "shared"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFilter:
    """A search filter: all given conditions must hold; None is no condition, an empty list allows nothing.

    `since` is inclusive, `until` exclusive. Times without a zone are UTC. `tags_any` and `tags_all` are of the
    session, as is `agent` (who wrote it) and `visibility`: `shared` unless the session says `private` in its
    metadata. Messages of all branches are found; with `on_thread` only those on the current thread, or those off it.
    With `related`, a message without a word of the question must be more similar to it than unrelated texts.
    """

    since: datetime | None = None
    until: datetime | None = None
    user: str | None = None
    tags_any: Sequence[str] | None = None
    tags_all: Sequence[str] | None = None
    roles: Sequence[Role] | None = None
    min_importance: float | None = None
    session_ids: Sequence[str] | None = None
    agent: str | None = None
    visibility: Literal["private", "shared"] | None = None
    on_thread: bool | None = None
    related: bool = False

    @property
    def is_of_sessions(self) -> bool:
        """True when the filter depends on properties of sessions."""
        asked = (self.user, self.tags_any, self.tags_all or None, self.agent, self.visibility)
        return any(member is not None for member in asked)

    def allows_session(self, metadata: SessionMetadata) -> bool:
        """True when messages of a session with this metadata may be found."""
        tags = set(metadata.tags)
        return (
            self.user in (None, metadata.user)
            and (self.tags_any is None or not tags.isdisjoint(self.tags_any))
            and tags.issuperset(self.tags_all or ())
            and self.agent in (None, metadata.custom.get("agent"))
            and self.visibility in (None, metadata.custom.get("visibility") or _SHARED)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A filter with its session ids resolved; None for any session."""

    filter: SearchFilter
    session_ids: frozenset[str] | None = None
    message_ids: frozenset[int] | None = None  # messages of the required importance

    @property
    def is_nothing(self) -> bool:
        """True when no message can match."""
        return frozenset() in (self.session_ids, self.message_ids) or self.filter.roles in ((), [])

    def where(self) -> Where | None:
        """The condition for a vector store."""
        conditions = [*self._of_session(), *self._of_message()]
        if len(conditions) < 2:
            return conditions[0] if conditions else None
        return {"$and": conditions}

    def allows(self, stored: StoredMessage | None) -> bool:
        """True when a message is on the wanted side of the thread; None is a foreign message, which is on no thread.

        Index and vector store check all other conditions during the search.
        """
        return self.filter.on_thread in (None, stored and stored.is_on_thread)

    def _of_session(self) -> Iterator[Where]:
        ids = self.session_ids
        if ids is not None:
            yield {"session_id": next(iter(ids))} if len(ids) == 1 else {"session_id": {"$in": sorted(ids)}}

    def _of_message(self) -> Iterator[Where]:
        wanted = self.filter
        if wanted.roles is not None:
            yield {"role": {"$in": list(wanted.roles)}}
        if wanted.since is not None:
            yield {"timestamp": {"$gte": _instant(wanted.since)}}
        if wanted.until is not None:
            yield {"timestamp": {"$lt": _instant(wanted.until)}}
        if self.message_ids is not None:
            yield {"message_id": {"$in": sorted(self.message_ids)}}


def wanted_of(given: SearchFilter, rows: SearchedRows) -> Wanted:
    """The filter with sessions and importance resolved. Blocks; raises StorageUnavailable."""
    ids = None if given.session_ids is None else frozenset(given.session_ids)
    if given.is_of_sessions:
        notes = rows.session_notes(given.user)
        allowed = frozenset(name for name, metadata in notes if given.allows_session(metadata))
        ids = allowed if ids is None else ids & allowed
    important = None
    if given.min_importance is not None and given.min_importance > 0:  # messages without a score count as 0
        important = frozenset(rows.important_ids(given.min_importance))
    return Wanted(filter=given, session_ids=ids, message_ids=important)


def vector_metadata(stored: StoredMessage) -> dict[str, Scalar | None]:
    """The metadata of a message's vector. `timestamp` is in seconds since 1970."""
    metadata: dict[str, Scalar | None] = {
        "session_id": stored.session_id,
        "message_id": stored.id,
        "role": stored.message.role,
        "timestamp": seconds(stored.created_at),
    }
    return metadata


def seconds(created_at: datetime | None) -> float | None:
    """Seconds since 1970; None for an unreadable time."""
    return None if created_at is None else _instant(created_at)


def _instant(given: datetime) -> float:
    return (given if given.tzinfo else given.replace(tzinfo=UTC)).timestamp()
