"""Kinds of memory, each as one value: its tables, and its forgetting, counting, pruning, export and import.

Code that does one of these for all memories iterates over the list of kinds and names none of them, so a new kind is
one more entry of that list.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Protocol

from mnemoir.core.ids import PlanId
from mnemoir.core.memories import Applied
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import Project

Amounts = Mapping[str, int]  # numbers of objects by name
ByDay = Mapping[str, int]  # numbers of objects by UTC day, such as 2026-03-04; a day without any may be missing

DAILY_DAYS = 30  # how far `daily` looks back, today included


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsed:
    """What changes would do, and the id of the plan that makes them; None without any.

    `others` records would be added that are no memories; no plan adds them.
    """

    plan_id: PlanId | None
    applied: Sequence[Applied]
    others: int = 0


class Exchange(Protocol):
    """Export and import of one kind, as the records that are lines of an export."""

    async def users(self, project: Project) -> Sequence[Scope]:
        """The scopes of all users with records, ordered by name."""

    def pages(self, owner: Scope) -> AsyncIterator[Sequence[Any]]:
        """All records of one user, in pages."""

    async def add(self, owner: Scope, records: Sequence[Any]) -> int:
        """Add the records that the user does not have yet, and return their number."""

    async def rehearse(self, owner: Scope, records: Sequence[Any]) -> Rehearsed:
        """What `add` would do; writes nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ageing:
    """How many objects were not used for so many days, the kept ones among them, and when any was used last."""

    due: int
    newest_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryKind:
    """One kind of memory. Operations that a kind does not offer are None, and skipped.

    `forget` deletes the memories made of the scope's conversation, or without a conversation all memories of the
    owner, whose conversations stay. It leaves none of their bytes on the disk, and gives the amounts deleted. It may
    be called again after a failure.
    """

    name: str
    forget: Callable[[Scope], Awaitable[Amounts]]
    tables: Mapping[str, Sequence[str]] = field(default_factory=dict)  # columns with words of users, by table
    counts: Callable[[], Awaitable[Amounts]] | None = None  # totals over all users
    counts_last_s: float = 5.0
    daily: Callable[[date], Awaitable[Mapping[str, ByDay]]] | None = None  # what was added since a day, by name
    # deletes objects not used for so many days, or with True only counts them; their number
    prune: Callable[[int, bool], Awaitable[int]] | None = None
    ageing: Callable[[int], Awaitable[Ageing]] | None = None  # what `prune` would look at
    exchange: Exchange | None = None
    # deletes what is older than the kind or the settings allow, or with True only counts it
    expire: Callable[[bool], Awaitable[Amounts]] | None = None
