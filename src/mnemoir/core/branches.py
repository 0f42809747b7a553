"""Trees of messages in short: their branches, and a thread in stretches."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mnemoir.core.conversations import ROOT


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
