"""Decides whether chunks missing at the beginning are out of view, as the client shortened the conversation, or gone.

Some clients send only the newest messages. The parts left out still belong to the discussion. But a chunk at the
beginning is not found either when its text was edited. The visible messages of such chunks and their places
distinguish the two cases: in a shortened conversation fewer messages are visible than were stored.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from mnemoir.core.discussions import Block
from mnemoir.memory.discussions.matching import Run, find_in_order


@dataclass(frozen=True, slots=True, kw_only=True)
class OutOfView:
    """The number of chunks, from the first on, that stay live, and of messages that the last of them covers."""

    chunks: int
    covered: int = 0


def out_of_view(unseen: Sequence[Block], zone: list[str], *, is_bounded: bool) -> OutOfView:
    """Judge live chunks that were not found, all before those that were.

    `zone` is the conversation in front of the first chunk that is found. It is not bounded when there is none: then
    it goes on with messages that were never in any chunk.
    """
    stored = [digest for block in unseen for digest in block.digests]
    if rest := _rest_of_last(unseen, zone, stored, is_bounded):
        return OutOfView(chunks=len(unseen), covered=rest)
    pair = _first_pair(stored, zone, is_bounded)
    if pair:
        return _cut_at(unseen, zone, *pair)
    is_rewritten = is_bounded and len(zone) >= len(stored)
    return OutOfView(chunks=0 if is_rewritten else len(unseen))


def _rest_in_view(digests: Sequence[str], own: list[str], *, least: int = 1) -> int:
    """The number of a chunk's last messages, not all, that `own` begins with; 0 for fewer than `least`."""
    for count in range(min(len(digests) - 1, len(own)), max(least, 1) - 1, -1):
        if own[:count] == list(digests[-count:]):
            return count
    return 0


def _rest_of_last(unseen: Sequence[Block], zone: list[str], stored: list[str], is_bounded: bool) -> int:
    """The number of messages of the last chunk with which the conversation begins: it was shortened there."""
    if not unseen or not zone:
        return 0
    if is_bounded:  # then nothing may lie between that rest and the chunk that is found
        return _rest_in_view(unseen[-1].digests, zone, least=len(zone))
    rest = _rest_in_view(unseen[-1].digests, zone)
    return 0 if _begins_alike(stored, zone) and rest <= _common_beginning(stored, zone) else rest


def _first_pair(stored: list[str], zone: list[str], is_bounded: bool) -> tuple[int, int] | None:
    """The places of the first common message in both; None without a significant one."""
    if not stored or not zone:
        return None
    if stored[0] == zone[0] and (is_bounded or _begins_alike(stored, zone)):
        return 0, 0
    times_stored, times_seen = Counter(stored), Counter(zone)
    telling = [
        Run(name=at, digests=(digest,))
        for at, digest in enumerate(stored)
        if times_stored[digest] == 1 and times_seen[digest] == 1
    ]
    pairs = find_in_order(telling, zone, 0, len(zone))
    if pairs and (is_bounded or len(pairs) > 1):  # a single one may be a repeated "ok"
        at, seen = pairs[0].name, pairs[0].start
    elif is_bounded and stored[-1] == zone[-1]:
        at, seen = len(stored) - 1, len(zone) - 1
    else:
        return None
    while at and seen and stored[at - 1] == zone[seen - 1]:
        at, seen = at - 1, seen - 1
    return at, seen


def _cut_at(unseen: Sequence[Block], zone: list[str], at: int, seen: int) -> OutOfView:
    """The result when `at` stored messages and `seen` of the conversation precede the first common one."""
    if seen >= at:
        return OutOfView(chunks=0)
    begin = 0
    for number, block in enumerate(unseen):
        end = begin + len(block.digests)
        if at < end:
            rest = list(block.digests[at - begin :])
            is_cut = begin < at and seen == 0 and zone[: len(rest)] == rest
            return OutOfView(chunks=number + 1, covered=len(rest)) if is_cut else OutOfView(chunks=number)
        begin = end
    raise ValueError("The first message in common is not a stored one.")


def _begins_alike(stored: list[str], zone: list[str]) -> bool:
    """True when both begin with the same unique message; an "ok" may begin any part of a conversation."""
    times = Counter(stored)
    return any(times[digest] == 1 for digest in stored[: _common_beginning(stored, zone)])


def _common_beginning(one: Sequence[str], other: Sequence[str]) -> int:
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
