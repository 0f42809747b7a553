"""The review queue: proposals of all users. They are put there and approved by commits (`MemoryStore.commit`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from mnemoir.core.ids import ProposalId
from mnemoir.core.proposals import Proposal
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import Project

MOST_PROPOSALS = 1000  # of one user; beyond it the oldest are dropped
KEPT_DAYS = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalPage:
    """A page of proposals, newest first. `next` is the place of the last one, None on the last page."""

    proposals: Sequence[Proposal]
    next: int | None = None


class ProposalStore(Protocol):
    """A store of proposals. No method gives one older than 90 days. All raise StorageUnavailable."""

    async def page(self, scope: Scope, *, limit: int, before: int | None = None) -> ProposalPage:
        """A page of the user's proposals before a place, newest first."""

    async def count(self, scope: Scope) -> int:
        """The number of the user's proposals."""

    async def all(self, scope: Scope) -> list[Proposal]:
        """The user's proposals within the scope, oldest first."""

    async def find(self, project: Project, proposal_id: ProposalId) -> tuple[Scope, Proposal] | None:
        """A proposal and its user; None when no user of the project has it."""

    async def rewrite(self, scope: Scope, proposal: Proposal, text: str) -> bool:
        """Give a proposal another text, by hand; False when it is not there as it was."""

    async def from_messages(self, scope: Scope, message_uids: Sequence[str]) -> list[ProposalId]:
        """The ids of the user's proposals that were learned from turns ending with these messages."""

    async def drop(self, scope: Scope, ids: Sequence[ProposalId]) -> int:
        """Delete proposals of the user; return how many were there."""

    async def add(self, scope: Scope, proposals: Sequence[Proposal]) -> int:
        """Add those whose id the user does not have; return their number."""

    async def forget(self, scope: Scope, ids: Sequence[ProposalId] | None = None) -> int:
        """Delete proposals of the user, without `ids` all; none of their bytes is on the disk afterwards."""

    async def expire(self, *, dry_run: bool = False) -> int:
        """Delete what is older than 90 days, of all users; return how many."""

    async def users(self, project: Project) -> list[Scope]:
        """The scopes of all users with proposals, ordered by name."""

    async def total(self) -> int:
        """The number of proposals of all users."""
