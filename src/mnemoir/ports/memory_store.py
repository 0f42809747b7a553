"""Stores of memories. Methods take the scope and read or change nothing outside it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Literal, NamedTuple, Protocol

from mnemoir.core.ids import ChangeId, MemoryId
from mnemoir.core.memories import (
    Applied,
    Change,
    HistoryEntry,
    IndexEntry,
    Kind,
    LoggedChange,
    Memory,
    Origin,
    Provenance,
)
from mnemoir.core.proposals import NO_STEP, Proposal, QueueStep
from mnemoir.core.scope import Scope
from mnemoir.core.usage import Stored


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """All users of one project of one tenant."""

    tenant: str
    project: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Visible:
    """The visibility rule of a read, as of `now`.

    Hidden are memories with `updated_at` (else `created_at`) before `horizon`, or `expires_on` before the day of
    `now`. No horizon means no decay. With `at`, memories that were current at that instant are shown, instead of
    those current now.
    """

    now: datetime
    horizon: datetime | None = None
    at: datetime | None = None


ALL_CURRENT = Visible(now=datetime(1, 1, 1, tzinfo=UTC))  # before any expiry, without decay


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFilter:
    """The filter and the order of a list of memories.

    `since` (inclusive) and `until` (exclusive) bound the time named by `by`: `created_at`, or the last renewal.
    `session` selects current memories learned in that session, as `Provenance` and metadata (`session_id`) name it;
    `words` selects memories that contain this text, ignoring case; `metadata` those with each of its members, by
    value or one of a list of values. Ties are ordered by id in the same direction; unreadable times come last.
    """

    visible: Visible
    hidden: Literal["without", "with", "only"] = "without"  # memories that decayed or expired
    kind: Kind | None = None
    origin: Origin | None = None
    since: datetime | None = None
    until: datetime | None = None
    session: str | None = None
    words: str | None = None
    metadata: Mapping[str, Any] | None = None
    ids: Sequence[MemoryId] | None = None
    by: Literal["created", "updated"] = "created"
    ascending: bool = False

    @property
    def is_all(self) -> bool:
        """True when the filter selects all visible memories."""
        return self == ListFilter(visible=self.visible, by=self.by, ascending=self.ascending)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListCursor:
    """The end of a page of a list: the last memory's id, and its time in seconds since 1970 (None if unreadable)."""

    at: float | None
    memory_id: MemoryId


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePage:
    """A page of the log of changes. `next` is the place of the last one, None on the last page."""

    changes: Sequence[LoggedChange]
    next: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerSummary:
    """A user of a project: the number of current memories, and the last time one was added or renewed (seconds)."""

    project: str
    user: str
    memories: int
    changed_at: float | None


class WeekCount(NamedTuple):
    """The number of memories of one origin that were learned in one week and changed last in another.

    Weeks begin on Monday (UTC) and are numbered from the one of 1970-01-05; None for no time, and no later change.
    """

    learned: int | None
    changed: int | None
    origin: Origin
    memories: int


class Worded(NamedTuple):
    """A memory, and a name of its present words that is made of times alone: it tells nothing of them.

    The name is another one when the words are, and the old one when the old words come back by undo.
    """

    memory: Memory
    wording: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The caller's idempotency key and a hash of its request."""

    key: str
    request_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RedeemedReceipt:
    """An earlier request with the same idempotency key: its hash, its changes, what it proposed, and the reason of
    its provenance."""

    request_hash: str
    reason: str
    applied: Sequence[Applied]
    proposed: Sequence[Proposal] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreCounts:
    """Totals over all tenants. `users` counts users with memories, one of two projects twice."""

    projects: int
    users: int
    memories: int  # current ones, decayed or not


@dataclass(frozen=True, slots=True, kw_only=True)
class Unembedded:
    """A stored text without a vector of the current embedding model. `context` is what was said before a message."""

    scope: Scope
    memory_id: MemoryId
    text: str
    context: str
    is_fact: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Old:
    """What is too old to be kept; None for nothing.

    Of a memory's history the event that gave it its present text stays in any case, and with it the turns it came
    from. `removed_before` is for memories that were removed, with their history, and for states that were replaced.
    """

    told_before: datetime | None = None
    removed_before: datetime | None = None


class StaleChange(Exception):
    """A target of a commit was changed or deleted after it was read; nothing was written."""


class VectorBacklog(Protocol):
    """The texts of a store whose vectors of one kind are still to be made."""

    async def without_vector(self, model: str, *, limit: int) -> list[Unembedded]:
        """At most `limit` texts without a vector of `model`, of all scopes, oldest first."""

    async def put_vectors(self, model: str, filled: Sequence[tuple[Unembedded, IndexEntry]]) -> int:
        """Store vectors of texts that are unchanged, and return their number. Entries of other models are ignored."""

    async def backlog(self, model: str) -> tuple[int, int]:
        """(number of texts without a vector of `model`, number of all texts that need one)."""


class MainVectors(VectorBacklog, Protocol):
    """The vectors of the embedding model, whose length its server may change."""

    async def forget_other_lengths(self, model: str, length: int) -> int:
        """Forget the vectors of `model`, if the oldest has another length than `length`; how many there were.

        Then they are still to be made. All of them go, since a model makes vectors of one length at a time.
        """


class SpaceVectors(VectorBacklog, Protocol):
    """The vectors of one further space: of all facts of users who are marked, and of other texts that ask."""

    async def want(self, scope: Scope) -> bool:
        """Mark the user of the scope, so that each fact needs a vector in the space; False for one that is marked."""


class Room(Protocol):
    """Asked for room before memories are added."""

    def __call__(self, scope: Scope, growth: Mapping[Stored, int]) -> AbstractAsyncContextManager[None]:
        """Hold room for so much more of the scope's user while the body stores it.

        Raises QuotaExceeded.
        """


@asynccontextmanager
async def any_room(scope: Scope, growth: Mapping[Stored, int]) -> AsyncIterator[None]:
    """Room without a limit."""
    yield


class Committer(Protocol):
    """Takes the changes of a call as one commit."""

    async def commit(
        self,
        scope: Scope,
        changes: Sequence[Change],
        provenance: Provenance,
        *,
        receipt: Receipt | None = None,
        degrade: bool = False,
        expected: Sequence[Applied] | None = None,
        queue: QueueStep = NO_STEP,
    ) -> list[Applied]:
        """Apply all changes with their history, atomically. Durable on return.

        Raises StaleChange when the text of a target is no longer the expected one; with `degrade`, an Update of such
        a target becomes an Add, and a Remove of it does nothing. An Add with an id that the scope already has is left
        out. An Update to the text of another current fact of the scope closes the target and renews that fact
        instead: it returns a DELETE and an UPDATE. A Restore is stale when the memory is current, when the removed
        memory has another text or is forgotten, and when another current fact has the same text; a Revert, too, then.

        With `expected`, the result of `preview`, it is stale unless it does just that.

        `queue` is done in the same step: a proposal that is gone or was edited is stale, too; what is proposed comes
        from the same turns as the changes. Events of approved proposals have their turns and model.

        With `provenance.undo_of` the earlier state is valid as if the change undone had not been made.

        A receipt is stored with the changes for 24 hours. While it is stored, a request with its key changes
        nothing: it returns the earlier changes, or raises Conflict (`idempotency_mismatch`) if its hash differs.
        Raises InvalidRequest for a memory of another user, agent, app or conversation than the scope's.
        """


class MemoryStore(MainVectors, Committer, Protocol):
    """A store of memories. All methods raise StorageUnavailable, and no exception of the back-end's own."""

    async def preview(self, scope: Scope, changes: Sequence[Change], *, degrade: bool = False) -> list[Applied]:
        """What `commit` would do now, with its errors; writes nothing."""

    async def redeem(self, scope: Scope, key: str) -> RedeemedReceipt | None:
        """The request made with this idempotency key in the last 24 hours; None without one."""

    async def locate(self, project: Project, memory_id: MemoryId) -> Scope | None:
        """The scope of the memory's owner; None when the project has no such memory."""

    async def get(self, scope: Scope, memory_id: MemoryId) -> Memory | None:
        """The memory, also a decayed one or a closed state still stored; None for an id not in the scope."""

    async def current(self, scope: Scope, visible: Visible, memory_ids: Sequence[MemoryId]) -> list[Worded]:
        """Those of these memories that are visible now, in no order; `visible` names no other time."""

    async def page(self, scope: Scope, visible: Visible, *, limit: int, offset: int = 0) -> list[Memory]:
        """A page of visible memories: newest `created_at` first, unreadable times last, ties by id descending."""

    async def count(self, scope: Scope, visible: Visible) -> int:
        """The number of memories that `page` gives without a limit."""

    async def select(
        self, scope: Scope, wanted: ListFilter, *, limit: int, after: ListCursor | None = None
    ) -> list[Memory]:
        """At most `limit` memories that match the filter, in its order, after the cursor of the previous page."""

    async def select_count(self, scope: Scope, wanted: ListFilter) -> int:
        """The number of memories that `select` gives without a limit."""

    async def weeks(self, scope: Scope, wanted: ListFilter) -> list[WeekCount]:
        """The number of memories that `select` gives without a limit, by week and origin, in no order."""

    async def bytes_by_user(self, tenant: str) -> Mapping[str, int]:
        """The bytes of the texts of current memories of each user of the tenant, as they are stored."""

    async def owners(self, tenant: str) -> list[OwnerSummary]:
        """All users of the tenant with current memories, ordered by project, then by name."""

    async def same_text(self, scope: Scope, hashes: Sequence[bytes]) -> dict[bytes, Memory]:
        """Current facts of the scope with these content hashes, decayed ones included.

        Of several facts with one hash the last renewed is given; hashes without a fact are left out.
        """

    async def last_messages(self, scope: Scope, count: int) -> list[Memory]:
        """The last `count` messages of the scope's conversation (None: of no conversation), oldest first."""

    async def delete(self, scope: Scope, memory_id: MemoryId) -> Memory | None:
        """Delete a memory and the closed states it replaced; its history stays. None for an unknown id."""

    async def delete_all(self, scope: Scope) -> int:
        """Delete all memories of the scope atomically; their number, with decayed ones but without closed states.

        Deletes history, sources and receipts too, also those of memories deleted before: the texts are nowhere in
        the store's files afterwards.
        """

    async def forget_session(self, scope: Scope, session: str) -> int:
        """Delete what the user's memories contain of a session, as `Provenance` and metadata (`session_id`) name it.

        A memory with a present text learned only in that session is deleted with its history. One learned or changed
        in other sessions too stays, without its past. Returns the number of current memories deleted. The texts are
        nowhere in the store's files afterwards.
        """

    async def expunge(self, scope: Scope, memory_ids: Sequence[MemoryId]) -> int:
        """Delete memories of the user with their history and past; how many there were.

        The texts are nowhere in the store's files afterwards.
        """

    async def age(self, scope: Scope, old: Old, *, limit: int) -> Mapping[str, int]:
        """Delete at most `limit` rows of each kind that are too old; their numbers, by kind.

        The kinds are `history`, `removed` and `replaced`.
        """

    async def aged(self, scope: Scope, old: Old) -> Mapping[str, int]:
        """How many rows `age` would delete of each kind, without a limit."""

    async def history(self, scope: Scope, memory_id: MemoryId) -> list[HistoryEntry]:
        """The history of a memory, also of a deleted one, oldest first; [] for an id not in the scope."""

    async def changes(self, scope: Scope, *, limit: int, before: int | None = None) -> ChangePage:
        """Changes of the user before a place, newest first; none with erased words. A page may end early."""

    async def change(
        self, project: Project, change_id: ChangeId, user: str | None = None
    ) -> tuple[Scope, LoggedChange] | None:
        """A change and its user; None when no user of the project, or not the given one, has it in the log."""

    async def last_change(self, scope: Scope, memory_id: MemoryId) -> ChangeId | None:
        """The change that changed the user's memory last."""

    async def change_from(self, scope: Scope, message_uid: str) -> LoggedChange | None:
        """The change that was learned from a turn ending with this message; None when nothing was.

        Its id is "" when words of it were erased: such a change cannot be undone.
        """

    async def changes_from(self, scope: Scope, message_uids: Sequence[str]) -> list[LoggedChange]:
        """All changes that were learned from turns ending with these messages, newest first.

        Changes with erased words are left out.
        """

    async def memory_at_removal(self, scope: Scope, memory_id: MemoryId) -> Memory | None:
        """The memory as it was when it was removed; None for a current, unknown or forgotten one."""

    async def users(self, project: Project, *, agent: str | None = None, app: str | None = None) -> list[Scope]:
        """The scopes of all users with memories, ordered by name; with `agent` and `app`, with memories of both."""

    async def counts(self) -> StoreCounts:
        """Totals over all tenants, for the operator of the server; for files, as of their last indexing."""

    async def additions_by_day(self, since: date) -> Mapping[str, int]:
        """How many of the current memories were added on each UTC day since `since`, over all tenants.

        For files, as of their last indexing. Days without any are left out.
        """

    async def check(self) -> None:
        """Make one small read. Raises StorageUnavailable when it fails."""

    async def aclose(self) -> None:
        """Finish running operations and close the files."""
