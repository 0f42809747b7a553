"""Ways through a tree of messages: pages of one from any place, branches in short, and the thread in stretches.

A way goes through one message: in front of it stands what leads to it, behind it the thread as far as it is on that,
and else the newest branch at each place.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from mnemoir.conversations.log.sessions import ROOT, StoredMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchRun:
    """Messages one behind the other from where a branch begins to the next choice, or to its end."""

    first: int
    last: int
    parent_id: int  # of the first one; ROOT at the beginning
    messages: int
    on_thread: bool  # the first one
    ends_on_thread: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A run in its tree. `of` tells how many begin at the same place, `place` which of them it is, from 1."""

    run: BranchRun
    depth: int
    of: int
    place: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Messages that stand one behind the other on the thread.

    `tokens` is an estimate from lengths. System messages, pinned and important ones are counted in all, and `apart`.
    """

    first: int
    last: int
    messages: int
    tokens: int
    apart_messages: int
    apart_tokens: int


class WayRows(Protocol):
    """What is read of trees, a page at a time. Unknown messages have nothing before, behind or beside them."""

    def children(self, session_id: str, message_ids: Sequence[int]) -> dict[int, list[int]]:
        """The ids of what stands right behind each of these messages, or behind ROOT; on all branches, by id."""

    def newest_end(self, session_id: str, message_id: int) -> int:
        """The newest of the messages that branches with this one end with; itself where nothing stands behind it."""

    def way_to(self, session_id: str, message_id: int, limit: int) -> list[StoredMessage]:
        """A message and what stands before it on its branch, thread or not, newest first; [] for an unknown one."""

    def way_before(self, session_id: str, message_id: int, limit: int) -> list[StoredMessage]:
        """What stands before a message on its branch, newest first.

        Fewer than `limit` at the beginning alone.
        """

    def way_behind(self, session_id: str, message_id: int, limit: int) -> list[StoredMessage]:
        """How the way through a message goes on behind it, oldest first; for ROOT the thread from its beginning.

        It follows the thread up to the head where it can, else the newest branch. Fewer than `limit`
        at the end alone.
        """

    def place_on_thread(self, session_id: str, message_id: int) -> int | None:
        """How many messages of the thread stand in front of that one; None for one that is not on it."""

    def branch_runs(self, session_id: str) -> list[BranchRun]:
        """All of them, by the id of their first message; one for a tree without branches."""


def in_tree_order(runs: Sequence[BranchRun]) -> list[Branch]:
    """Each behind the one that it branches off, the oldest branch first."""
    beginning_at: dict[int, list[BranchRun]] = {}
    for run in runs:
        beginning_at.setdefault(run.parent_id, []).append(run)
    return list(_ordered(beginning_at))


def _ordered(beginning_at: Mapping[int, Sequence[BranchRun]]) -> Iterator[Branch]:
    waiting = _branches(beginning_at.get(ROOT, ()), 0)
    while waiting:
        branch = waiting.pop()
        yield branch
        waiting += _branches(beginning_at.get(branch.run.last, ()), branch.depth + 1)


def _branches(runs: Sequence[BranchRun], depth: int) -> list[Branch]:
    """The oldest last: a stack gives it first."""
    made = [Branch(run=run, depth=depth, of=len(runs), place=at + 1) for at, run in enumerate(runs)]
    return made[::-1]
