"""A kind of memory as one value: its tables, and how it is forgotten, counted, pruned, exported and imported.

Whoever does one of these to all that is kept goes through the list of kinds and names none of them, so a new kind is
one more entry of that list.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import Project

Amounts = Mapping[str, int]  # how many of what


class Exchange(Protocol):
    """One kind out of a store and into another, as records: those that a line of the export holds."""

    async def users(self, project: Project) -> Sequence[Scope]:
        """The owner of each user's records, in name order."""

    def pages(self, owner: Scope) -> AsyncIterator[Sequence[Any]]:
        """All records of one user."""

    async def add(self, owner: Scope, records: Sequence[Any]) -> int:
        """Add what the user does not have yet; how many records that were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryKind:
    """One entry of the list. What a kind does not offer is None, and is passed over.

    `forget` removes what was made of the scope's conversation and, when the scope names none, what is remembered of
    its owner, whose conversations stay. It leaves no byte of it on the disk, and gives the amounts removed. It may be
    asked for again after a failure.
    """

    name: str
    forget: Callable[[Scope], Awaitable[Amounts]]
    tables: Mapping[str, Sequence[str]] = field(default_factory=dict)  # columns with words of users, by table
    space: str | None = None  # the index in which its rows are found
    counts: Callable[[], Awaitable[Amounts]] | None = None  # what there is of everybody
    counts_last_s: float = 5.0
    prune: Callable[[int], Awaitable[int]] | None = None  # removes what was not used for so many days; how many
    exchange: Exchange | None = None
