"""Summaries of message trees: their branches, and the stretches of a thread."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mnemoir.core.conversations import ROOT


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchRun:
    """Consecutive messages from the beginning of a branch to the next fork, or to the branch's end."""

    first: int
    last: int
    parent_id: int  # of the first message; ROOT at the beginning
    messages: int
    on_thread: bool  # True if the first message is on the thread
    ends_on_thread: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A run in its tree. `of` is the number of runs with the same parent, `place` its number among them, from 1."""

    run: BranchRun
    depth: int
    of: int
    place: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Consecutive messages on the thread.

    `tokens` is an estimate from lengths. System, pinned and important messages are included in all counts, and
    counted separately in those with `apart`.
    """

    first: int
    last: int
    messages: int
    tokens: int
    apart_messages: int
    apart_tokens: int


def in_tree_order(runs: Sequence[BranchRun]) -> list[Branch]:
    """The runs as branches, each after its parent run, the oldest first."""
    beginning_at: dict[int, list[BranchRun]] = {}
    for run in runs:
        beginning_at.setdefault(run.parent_id, []).append(run)
    return list(_branches_depth_first(beginning_at))


def _branches_depth_first(beginning_at: Mapping[int, Sequence[BranchRun]]) -> Iterator[Branch]:
    waiting = _branches(beginning_at.get(ROOT, ()), 0)
    while waiting:
        branch = waiting.pop()
        yield branch
        waiting += _branches(beginning_at.get(branch.run.last, ()), branch.depth + 1)


def _branches(runs: Sequence[BranchRun], depth: int) -> list[Branch]:
    """The branches of these runs, oldest last, so that a stack gives the oldest first."""
    made = [Branch(run=run, depth=depth, of=len(runs), place=at + 1) for at, run in enumerate(runs)]
    return made[::-1]
