"""Search rows: the data of a user's memories that search holds in memory, readable incrementally."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from mnemoir.core.memories import IndexEntry, Memory
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import ListFilter

T = TypeVar("T")
MOST_CHANGES = 2**62  # more than there ever are


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRow:
    """One memory as search holds it in memory; `entry` has no token codes.

    `seq` is the order in which rows were stored and never changes. Times are seconds since 1970: `effective_at` is
    `updated_at` (else `created_at`), +inf when unreadable; `said_at` is `created_at`, NaN when unreadable;
    `expires_at` is the end of the expiry day, +inf without one. The row is valid from `valid_from` until just before
    `valid_until`; only rows of all times say so. Messages of one `conversation` are neighbours; a
    fact has no neighbours, and its `conversation` is the one it was learned in. Only messages of conversations have a
    `role`.
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
    valid_from: float = -math.inf
    valid_until: float = math.inf
    entry: IndexEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """The revision of a user's rows.

    `changes` grows with every row written, by one or more, `removals` with every row removed.
    A different `epoch` invalidates all cached rows of the scope.
    """

    changes: int
    removals: int
    epoch: str = ""


class IndexRows(Protocol):
    """The rows that an index is made of, with blocking methods.

    `scope` is always that of a whole user (`Scope.owner`). Only current rows are given, never superseded ones.
    Rows of all times, which some stores give besides, include the closed ones.
    """

    def revision(self, scope: Scope) -> Revision:
        """The revision of the scope; zeros for an unknown scope."""

    def rows_since(self, scope: Scope, changes: int, until: int = MOST_CHANGES) -> Sequence[SearchRow]:
        """Rows written after revision `changes` and up to `until`, in order of `seq`; all rows for -1.

        Rewritten rows are included.
        """

    def rows_after(self, scope: Scope, seq: int, limit: int, *, changes: int = -1) -> Sequence[SearchRow]:
        """The first `limit` rows after `seq`, in its order, that were written after revision `changes`.

        A store with all rows in memory may give all of them at once.
        """

    def live(self, scope: Scope) -> Sequence[int]:
        """The `seq` of every current row, ascending."""


class SearchSnapshot(IndexRows, Protocol):
    """A consistent view of the store, valid only inside the thread that received it."""

    def matching_seqs(self, scope: Scope, wanted: ListFilter) -> Sequence[int]:
        """The `seq` of every row that `MemoryStore.select` lists, in no order.

        Raises NotSupported in stores without such lists.
        """

    def token_codes(self, scope: Scope, seqs: Sequence[int]) -> dict[int, bytes]:
        """Token codes by `seq`; rows without token codes are left out."""

    def memories(self, scope: Scope, seqs: Sequence[int]) -> dict[int, Memory]:
        """The memories by `seq`; removed rows are left out."""


class SearchRows(Protocol):
    """A store that search can read."""

    async def reading(self, work: Callable[[SearchSnapshot], T]) -> T:
        """Run `work` in a reader thread over one snapshot. Raises StorageUnavailable, or what `work` raises."""
