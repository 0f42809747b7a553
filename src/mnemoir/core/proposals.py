"""Proposals: changes of memories that wait for a person's approval."""

from collections.abc import Sequence
from dataclasses import dataclass

from mnemoir.core.ids import MemoryId, ProposalId
from mnemoir.core.memories import ChangeEvent, Memory

BY_HAND = "edit"
"""The reason of a text that a person gave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A change of one memory that waits.

    `memory` is the memory to add, the one to change with its new text, or the one to delete. The change holds from
    `at` on (None: from `proposed_at`). `successor` replaces a deleted memory. `model` and `session` are as in
    `Provenance`; `place` orders the proposals of a user.
    """

    id: ProposalId
    event: ChangeEvent
    memory: Memory
    reason: str
    proposed_at: str
    at: str | None = None
    previous_text: str | None = None
    successor: MemoryId | None = None
    model: str | None = None
    session: str | None = None
    place: int = 0

    @property
    def target(self) -> MemoryId | None:
        """The memory to change or delete; None for one to add."""
        return None if self.event == "ADD" else self.memory.id

    @property
    def expected_text(self) -> str:
        """The text that the target must still have."""
        return self.memory.text if self.previous_text is None else self.previous_text


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStep:
    """What a commit does to the review queue of its user: what it proposes, and which proposals it approves."""

    proposed: Sequence[Proposal] = ()
    approved: Sequence[Proposal] = ()


NO_STEP = QueueStep()
