"""What search reads of a store: rows of one user, cheap to bring up to date."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from mnemoir.core.memories import IndexEntry, Memory
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import Wanted

T = TypeVar("T")
MOST_CHANGES = 2**62  # more than there ever are


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRow:
    """One memory as search keeps it resident; `entry` comes without token codes.

    `seq` orders rows as they were stored and never changes. Times are seconds since 1970: `effective_at` is
    `updated_at` (else `created_at`), +inf when unreadable; `said_at` is `created_at`, NaN when unreadable;
    `expires_at` is the end of the expiry day, +inf without one. Messages of one `conversation` are neighbours; a
    fact has no neighbours, its `conversation` is where it was learned. `role` is kept of messages of conversations
    alone.
    """

    seq: int
    is_message: bool
    speaker: str | None
    agent: str | None
    app: str | None
    conversation: str | None
    role: str | None = None
    effective_at: float
    said_at: float
    expires_at: float
    entry: IndexEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """How far a user's rows have come: `changes` grows with every row written, `removals` with every row gone.

    `epoch` differs when nothing cached of the scope may be used again.
    """

    changes: int
    removals: int
    epoch: str = ""


class SearchSnapshot(Protocol):
    """One consistent, blocking view of the store; valid only inside the thread it was handed to.

    `scope` is always a whole user's (`Scope.owner`). Only current rows are given, never superseded ones.
    """

    def revision(self, scope: Scope) -> Revision:
        """Where the scope stands; zeros for an unknown one."""

    def rows_since(self, scope: Scope, changes: int, until: int = MOST_CHANGES) -> Sequence[SearchRow]:
        """Rows written after `changes` and not after `until`, in order of `seq`; all of them for -1.

        A row rewritten comes again.
        """

    def rows_after(self, scope: Scope, seq: int, limit: int, *, changes: int = -1) -> Sequence[SearchRow]:
        """The first `limit` rows with a greater `seq`, in its order, of those written after `changes`.

        All of them come at once where a store has them at hand.
        """

    def live(self, scope: Scope) -> Sequence[int]:
        """The `seq` of every current row, ascending."""

    def selected(self, scope: Scope, wanted: Wanted) -> Sequence[int]:
        """The `seq` of every row that `MemoryStore.select` would list, in no order.

        Raises NotSupported where there are no such lists.
        """

    def token_codes(self, scope: Scope, seqs: Sequence[int]) -> dict[int, bytes]:
        """Token codes by `seq`; rows without any are left out."""

    def memories(self, scope: Scope, seqs: Sequence[int]) -> dict[int, Memory]:
        """The memories themselves by `seq`; rows that are gone are left out."""


class SearchRows(Protocol):
    """A store that search can read."""

    async def reading(self, work: Callable[[SearchSnapshot], T]) -> T:
        """Run `work` in a reader thread over one snapshot. Raises StorageUnavailable, or what `work` raises."""
