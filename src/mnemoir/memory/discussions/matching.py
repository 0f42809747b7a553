"""Locates runs of messages in a conversation that may hold the same message many times.

Each run may match in several places; the best choice keeps the runs in order without overlaps and matches most
messages.

Chunks that are missing at the beginning may be out of view. Some clients send only the newest messages. The parts
left out still belong to the discussion. But a chunk at the beginning is not found either when its text was edited.
The visible messages of such chunks and their places distinguish the two cases: in a shortened conversation fewer
messages are visible than were stored.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from mnemoir.core.discussions import DIGEST_CHARACTERS, Block

_RARE = 8  # occurrences of a message or run above which only some places are tried
_SEPARATOR = "."  # no digest has it


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Digests of adjacent messages to search for. `name` is the caller's and is returned with the match.

    `worth` is the weight of one matched message, compared with those of other runs.
    """

    name: int
    digests: Sequence[str]
    worth: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A match: the run's messages are those from `start` up to but not including `stop`."""

    name: int
    start: int
    stop: int


def side_by_side(runs: Sequence[Run], own: list[str], start: int, stop: int) -> list[Found]:
    """The first runs that match adjacently from `start` on: no other choice leaves later runs more room."""
    found: list[Found] = []
    for run in runs:
        end = start + len(run.digests)
        if end > stop or own[start:end] != list(run.digests):
            break
        found.append(Found(name=run.name, start=start, stop=end))
        start = end
    return found


def side_by_side_up_to(runs: Sequence[Run], own: list[str], start: int, stop: int) -> list[Found]:
    """The last runs that match adjacently up to `stop`; newest first."""
    found: list[Found] = []
    for run in reversed(runs):
        begin = stop - len(run.digests)
        if begin < start or own[begin:stop] != list(run.digests):
            break
        found.append(Found(name=run.name, start=begin, stop=stop))
        stop = begin
    return found


def find_in_order(runs: Sequence[Run], own: list[str], start: int, stop: int) -> list[Found]:
    """The runs that match between `start` and `stop`, in order; of equal choices the earliest places."""
    if not runs or start >= stop:
        return []
    messages = _Messages(own, start, stop)
    chains = _Chains()
    expected = start
    for run in runs:
        places = messages.places(list(run.digests), expected)
        if places:
            chains.extend(run, places)
            expected = min(places, key=lambda place: abs(place - expected)) + len(run.digests)
    return chains.best()


class _Messages:
    """The part of a conversation in which runs are searched."""

    def __init__(self, own: list[str], start: int, stop: int) -> None:
        self._own = own
        self._bounds = start, stop
        self._positions: dict[str, list[int]] = {}
        for at in range(start, stop):
            self._positions.setdefault(own[at], []).append(at)

    def places(self, digests: list[str], expected: int) -> Sequence[int]:
        """The places of the whole run, found by its rarest message; only some of very many."""
        offset = min(range(len(digests)), key=lambda at: len(self._positions.get(digests[at], ())))
        positions = self._positions.get(digests[offset], [])
        if len(positions) > _RARE and len(digests) > 1:
            return self._places_of_common(digests, expected)
        nearest = bisect_left(positions, expected + offset)
        begins = (at - offset for at in positions[max(0, nearest - _RARE) : nearest + _RARE])
        start, stop = self._bounds
        return [
            at for at in begins if start <= at <= stop - len(digests) and self._own[at : at + len(digests)] == digests
        ]

    def _places_of_common(self, digests: list[str], expected: int) -> Sequence[int]:
        """The first few places, and the first few from the expected one on: the whole run is rarer than its parts."""
        sought = _SEPARATOR + _SEPARATOR.join(digests)
        start = self._bounds[0]
        places = {*self._first(sought, start), *self._first(sought, max(start, expected))}
        return sorted(places)

    def _first(self, sought: str, begin: int) -> Iterator[int]:
        width = DIGEST_CHARACTERS + len(_SEPARATOR)
        at = (begin - self._bounds[0]) * width
        for _ in range(_RARE):
            at = self._text.find(sought, at)
            if at < 0:
                return
            yield self._bounds[0] + at // width
            at += width

    @cached_property
    def _text(self) -> str:
        return "".join(_SEPARATOR + digest for digest in self._own[slice(*self._bounds)])


@dataclass(frozen=True, slots=True)
class _Link:
    found: Found
    before: "_Link | None"


class _Chains:
    """The best chain for each possible end: a later end is only kept if it is worth more.

    Of two runs that fit the same place equally well the later one is taken, since clients leave out the beginning of
    a conversation.
    """

    def __init__(self) -> None:
        self._ends: list[int] = []
        self._worths: list[int] = []
        self._links: list[_Link] = []

    def extend(self, run: Run, places: Sequence[int]) -> None:
        """Add the next run in one of its places, or in none."""
        longer = []
        for place in places:
            found = Found(name=run.name, start=place, stop=place + len(run.digests))
            at = bisect_right(self._ends, place) - 1
            before = self._links[at] if at >= 0 else None
            worth = (self._worths[at] if at >= 0 else 0) + run.worth * len(run.digests)
            longer.append((worth, _Link(found, before)))
        for worth, link in longer:
            self._put(link.found.stop, worth, link)

    def best(self) -> list[Found]:
        link = self._links[-1] if self._links else None
        found = []
        while link:
            found.append(link.found)
            link = link.before
        return found[::-1]

    def _put(self, end: int, worth: int, link: _Link) -> None:
        at = bisect_left(self._ends, end)
        if at and self._worths[at - 1] >= worth:
            return
        stop = at
        while stop < len(self._ends) and self._worths[stop] <= worth:
            stop += 1
        self._ends[at:stop], self._worths[at:stop], self._links[at:stop] = [end], [worth], [link]


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
