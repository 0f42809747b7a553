"""Where memories are kept. Every method takes the scope, and none reaches beyond it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Applied, Change, HistoryEntry, IndexEntry, Kind, Memory, Provenance
from mnemoir.core.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """All users of one project of one tenant."""

    tenant: str
    project: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Visible:
    """Which memories a read shows, as of `now`.

    Hidden: `updated_at` (else `created_at`) before `horizon`; `expires_on` before the day of `now`. No horizon
    means no decay. With `at`, what was current at that instant is shown instead of what is now.
    """

    now: datetime
    horizon: datetime | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which current memories of a scope a list shows, and in which order.

    `since` (included) and `until` (not) bound the time that `by` names: `created_at`, or when it was last renewed.
    `session` keeps what was learned in it, as `Provenance` and metadata (`session_id`) name it; `words` what holds
    that text, in whatever case. Ties go by id in the same direction; times that cannot be read come last.
    """

    visible: Visible
    hidden: Literal["without", "with", "only"] = "without"  # what has decayed or expired
    kind: Kind | None = None
    since: datetime | None = None
    until: datetime | None = None
    session: str | None = None
    words: str | None = None
    ids: Sequence[MemoryId] | None = None
    by: Literal["created", "updated"] = "created"
    ascending: bool = False

    @property
    def is_all(self) -> bool:
        """Whether it asks for no more than to be visible."""
        return self == Wanted(visible=self.visible, by=self.by, ascending=self.ascending)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a page of a list ended: the seconds since 1970 that it is ordered by (None: not readable), and an id."""

    at: float | None
    memory_id: MemoryId


@dataclass(frozen=True, slots=True, kw_only=True)
class Owned:
    """A user of a project: how many current memories, and when one of them was last added or renewed (seconds)."""

    project: str
    user: str
    memories: int
    changed_at: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The caller's idempotency key and a hash of what it asked."""

    key: str
    request_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Redeemed:
    """What an earlier request with the same key asked, the changes it made, and the reason of its provenance."""

    request_hash: str
    reason: str
    applied: Sequence[Applied]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreCounts:
    """How much there is over all tenants. `users` have memories; one with the same name in two projects is two."""

    projects: int
    users: int
    memories: int  # current ones, decayed or not


@dataclass(frozen=True, slots=True, kw_only=True)
class Unembedded:
    """A stored text that lacks a vector of the model now in use. `context` is what was said just before."""

    scope: Scope
    memory_id: MemoryId
    text: str
    context: str


class StaleChange(Exception):
    """A target of a commit changed or vanished since it was read; nothing was written."""


class MemoryStore(Protocol):
    """Raises StorageUnavailable, and nothing of the backend's own."""

    async def commit(
        self,
        scope: Scope,
        changes: Sequence[Change],
        provenance: Provenance,
        *,
        receipt: Receipt | None = None,
        degrade: bool = False,
    ) -> list[Applied]:
        """Apply all changes with their history in one step, or none. Durable on return.

        Raises StaleChange when a target no longer reads as expected; with `degrade`, an Update of such a target
        becomes an Add and a Remove of it does nothing. An Add whose id the scope holds already is left out. An
        Update to a text that another current fact of the scope has closes the target and renews that fact instead:
        a DELETE and an UPDATE come back. A Restore is stale when the memory is current, when what was removed reads
        otherwise or is forgotten, and when another current fact says the same.

        A receipt is kept with the changes for 24 hours. When its key was used in that time, nothing is changed: the
        changes made then come back, or Conflict (`idempotency_mismatch`) is raised when it asked something else.
        Raises InvalidRequest for a memory of another user, agent, app or conversation than the scope's.
        """

    async def redeem(self, scope: Scope, key: str) -> Redeemed | None:
        """What was answered under this idempotency key in the last 24 hours."""

    async def locate(self, project: Project, memory_id: MemoryId) -> Scope | None:
        """The scope of the memory's owner; None when the project holds no such memory."""

    async def get(self, scope: Scope, memory_id: MemoryId) -> Memory | None:
        """The memory, decayed or not, or a closed state that is still kept; None outside the scope."""

    async def page(self, scope: Scope, visible: Visible, *, limit: int, offset: int = 0) -> list[Memory]:
        """Newest `created_at` first, unreadable ones last, ties by id descending."""

    async def count(self, scope: Scope, visible: Visible) -> int:
        """How many `page` would give without a limit."""

    async def select(self, scope: Scope, wanted: Wanted, *, limit: int, after: Place | None = None) -> list[Memory]:
        """What is wanted, in its order, behind the place where the page before ended."""

    async def select_count(self, scope: Scope, wanted: Wanted) -> int:
        """How many `select` would give without a limit."""

    async def owners(self, tenant: str) -> list[Owned]:
        """Every user of the tenant that has current memories, by project, then by name."""

    async def same_text(self, scope: Scope, hashes: Sequence[bytes]) -> dict[bytes, Memory]:
        """Current facts of the scope by content hash, decayed ones included; of several the last renewed."""

    async def last_messages(self, scope: Scope, count: int) -> list[Memory]:
        """The messages stored last in the scope's conversation (None: outside any), oldest first."""

    async def delete(self, scope: Scope, memory_id: MemoryId) -> Memory | None:
        """Remove one, with closed states that it replaced; its history stays. None when there was none."""

    async def delete_all(self, scope: Scope) -> int:
        """Remove all of the scope in one step; how many there were, decayed ones counted, closed states not.

        History, sources and receipts go too, those of memories deleted before as well: the words are nowhere in the
        store's files afterwards.
        """

    async def forget_session(self, scope: Scope, session: str) -> int:
        """Remove what the user's memories hold of a session, as `Provenance` and metadata (`session_id`) name it.

        A memory whose present text was said there alone goes, with its history; one that was said or changed
        elsewhere too stays and loses its past. How many current memories went. The words are nowhere in the store's
        files afterwards.
        """

    async def history(self, scope: Scope, memory_id: MemoryId) -> list[HistoryEntry]:
        """Oldest first; also of a deleted memory; [] outside the scope."""

    async def removed(self, scope: Scope, memory_id: MemoryId) -> Memory | None:
        """The memory as it was when it was removed; None when it is current, was never there, or is forgotten."""

    async def users(self, project: Project, *, agent: str | None = None, app: str | None = None) -> list[Scope]:
        """One scope a user that has memories, in name order; with `agent` and `app`, memories of both."""

    async def without_vector(self, model: str, *, limit: int) -> list[Unembedded]:
        """Texts still to be embedded with `model`, of all scopes, oldest first."""

    async def put_vectors(self, model: str, filled: Sequence[tuple[Unembedded, IndexEntry]]) -> int:
        """Keep vectors of texts that still read the same; how many were kept. Entries of other models are not."""

    async def backlog(self, model: str) -> tuple[int, int]:
        """(texts without a vector of `model`, all texts)."""

    async def counts(self) -> StoreCounts:
        """How much there is of everybody, for whoever runs the server; of files, as they were last indexed."""

    async def check(self) -> None:
        """Do one small read; raises StorageUnavailable when that fails."""

    async def aclose(self) -> None:
        """Finish what is under way and let go of the files."""
