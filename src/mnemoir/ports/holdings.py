"""Holdings: what is stored of users, each as one value with what can be done with it.

What is done with all that is stored (forgetting, erasure, export, adoption, counting, pruning) goes through the list
of holdings and names none of them, so a new holding edits no other one. `storage/holdings.py` has the half that needs
no open store: the tables and files of each.

Nothing is atomic over several holdings. So each operation may be called again after a failure, and ends whole then.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Protocol

from mnemoir.core.ids import PlanId
from mnemoir.core.memories import Applied
from mnemoir.core.scope import Scope
from mnemoir.core.usage import Stored
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
    """Export and import of one holding, as the records that are lines of an export."""

    async def users(self, project: Project) -> Sequence[Scope]:
        """The scopes of all users with records, ordered by name."""

    def pages(self, owner: Scope) -> AsyncIterator[Sequence[Any]]:
        """All records of one user, in pages."""

    async def add(self, owner: Scope, records: Sequence[Any]) -> int:
        """Add the records that the user does not have yet, and return their number."""

    async def rehearse(self, owner: Scope, records: Sequence[Any]) -> Rehearsed:
        """What `add` would do; writes nothing."""


class Archive(Protocol):
    """The archive of a person, or a folder in it. Names are paths in it; files that would be empty are left out."""

    @property
    def path(self) -> str:
        """The path of the folder in the whole archive; "" for the whole one."""

    def folder(self, name: str) -> "Archive":
        """A folder in it."""

    async def add_lines(self, name: str, values: Sequence[Any]) -> None:
        """Add a file with a JSON line for each value."""

    async def add_pages(self, name: str, pages: AsyncIterator[Sequence[Any]]) -> None:
        """The same for values that come in pages, of which one at a time is in memory."""

    def put_lines(self, name: str, values: Sequence[Any]) -> None:
        """Add a file with a JSON line for each value. Blocks."""

    def put(self, name: str, pieces: Iterable[bytes]) -> None:
        """Add a file. Blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenHolding:
    """What can be done with one holding whose store is open. What it does not offer is None, and skipped.

    Its rows with a `scope_id` in `mnemoir.db` are counted, exported, given and erased without it.
    """

    name: str
    in_files: bool = False  # and not in the database of memories: an older copy of that brings nothing of it back
    # Deletes what was made of the scope's conversation or, without one, all memories of the owner, whose
    # conversations stay. It leaves none of their bytes on the disk, and gives the amounts deleted.
    forget: Callable[[Scope], Awaitable[Amounts]] | None = None
    # Deletes what was made of all conversations of the owner, also of those that are not kept; gives the amounts.
    forget_rest: Callable[[Scope], Awaitable[Amounts]] | None = None
    # Deletes the memories of a part of the owner: of the agent, app or conversation that the scope names, and of
    # those only what has such metadata. Conversations and traces stay. It gives the amounts deleted.
    forget_part: Callable[[Scope, Mapping[str, Any] | None], Awaitable[Amounts]] | None = None
    # Deletes everything of the owner in the project, and gives the amounts; without it `forget` does.
    erase: Callable[[Scope], Awaitable[Amounts]] | None = None
    # Deletes what names a person (tenant, user) outside of projects, and gives the amounts.
    erase_person: Callable[[str, str], Awaitable[Amounts]] | None = None
    # Erases what does not tell its owner; the function says whether a name as stored is one (tenant, name) to be
    # erased.
    erase_nameless: Callable[[Callable[[str, str], bool]], Awaitable[None]] | None = None
    export: Callable[[Scope, Archive], Awaitable[None]] | None = None  # of a user in a project
    export_person: Callable[[str, str, Archive], Awaitable[None]] | None = None  # what `erase_person` would erase
    # A context in which what the owner has besides rows becomes that of another user, who has none; whether there was
    # any, also if it was given before. It is the owner's again when the context raises. Rows are given at its end.
    giving: Callable[[Scope, str], AbstractAsyncContextManager[bool]] | None = None
    hide: Callable[[Collection[Scope]], None] | None = (
        None  # of these owners nothing may be seen; of all others it may
    )
    owners: Callable[[Collection[str]], Awaitable[Iterable[Scope]]] | None = None  # in these tenants, and in others
    # the projects in which a person (tenant, user) has, or had, anything; the last are some that are known
    projects_of: Callable[[str, str, Collection[str]], Awaitable[Iterable[str]]] | None = None
    people: Callable[[], Awaitable[Iterable[tuple[str, str]]]] | None = None  # whom `erase_person` would find
    count: Callable[[Scope], Awaitable[Amounts]] | None = None  # of an owner in a project
    counts: Callable[[], Awaitable[Amounts]] | None = None  # totals over all users
    counts_last_s: float = 5.0
    # what counts for a quota: how much each user of a tenant has, or the one that is named
    stored: Mapping[Stored, Callable[[str, str | None], Awaitable[Amounts]]] = field(default_factory=dict)
    daily: Callable[[date], Awaitable[Mapping[str, ByDay]]] | None = None  # what was added since a day, by name
    # deletes objects not used for so many days, or with True only counts them; their number
    prune: Callable[[int, bool], Awaitable[int]] | None = None
    exchange: Exchange | None = None
    # deletes what is older than the holding or the settings allow, or with True only counts it
    expire: Callable[[bool], Awaitable[Amounts]] | None = None
    # deletes what has ended some time ago and is of no more use, such as results of jobs; no report tells of it
    sweep: Callable[[], Awaitable[object]] | None = None
