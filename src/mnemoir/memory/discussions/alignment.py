"""Aligns stored chunks with a conversation: finds chunks that it still holds, and messages that none covers.

People edit, delete and regenerate messages, and clients send long conversations shortened. So every chunk is searched
by the hashes of all its messages. A chunk that is found stays live. One that is not found is stale, unless it lies
before the part that a shortening client still sends: then nothing is known about it.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mnemoir.core.discussions import DIGEST_CHARACTERS, Block, BlockChanges, BlockKey
from mnemoir.memory.discussions.matching import (
    Found,
    Run,
    find_in_order,
    out_of_view,
    side_by_side,
    side_by_side_up_to,
)
from mnemoir.memory.discussions.parts import Digests

_TELLING = 2  # unique messages needed to locate the start of a conversation: one could be a repetition
_LIVING = 2  # a message in a live block is worth two in a stale one


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Messages that no chunk covers, up to but not including `stop`; their chunks go before the block `before`."""

    start: int
    stop: int
    before: BlockKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """The alignment of stored chunks with a conversation.

    `changes` must be stored before any new chunk. `place` is the index of the first message after the last covered
    one; `gaps` lie before it, oldest first.
    """

    changes: BlockChanges
    gaps: Sequence[Gap]
    place: int


def align(blocks: Sequence[Block], digests: Digests) -> Alignment:
    """Align `blocks`, in the order of the conversation and including stale ones, with its current messages."""
    own = digests.own
    living = [at for at, block in enumerate(blocks) if not block.is_stale]
    found = _without_chance(_spans_of_blocks(blocks, living, digests), blocks, living)
    kept, covered = _out_of_view(blocks, living, found, own)
    cut = [Found(name=kept[-1], start=0, stop=covered)] if covered else []
    spans = _spans(blocks, living, kept, cut + found, own)
    revived = list(_spans_of_stale_blocks(blocks, kept, spans, own))
    placed = [span for span in spans if _is_foreign(blocks[span.name])]
    changes = BlockChanges(
        placed={blocks[span.name].key: own[span.start : span.stop] for span in placed},
        stale=frozenset(blocks[at].key for at in _stale(blocks, living, kept, found)),
        revived=frozenset(blocks[span.name].key for span in revived),
    )
    spans = sorted(spans + revived, key=_name)
    return Alignment(changes=changes, gaps=list(_gaps(blocks, spans)), place=spans[-1].stop if spans else 0)


def _is_foreign(block: Block) -> bool:
    return not block.digests


def _spans_of_blocks(blocks: Sequence[Block], living: Sequence[int], digests: Digests) -> list[Found]:
    """Live blocks in the conversation; those of other programs only by their last message.

    Where they are not all adjacent, blocks with a unique message are found first, then others that adjoin these
    without a gap. The rest and stale blocks share the remaining places, so that an "ok" does not displace a branch.
    """
    own = digests.own
    runs = _runs(blocks, living, digests)
    found = side_by_side(runs, own, 0, len(own))
    rest = runs[len(found) :]
    if not rest:
        return found
    times = Counter(own)
    firm = [run for run in rest if _is_foreign(blocks[run.name]) or any(times[digest] == 1 for digest in run.digests)]
    found += find_in_order(firm, own, found[-1].stop if found else 0, len(own))
    seen = {*(run.name for run in firm), *(span.name for span in found)}
    others = [at for at, block in enumerate(blocks) if at not in seen and not _is_foreign(block)]
    weak = [at for at in others if not blocks[at].is_stale]
    for room in list(_rooms(blocks, found, own)):
        found += side_by_side(_between(room, blocks, weak), own, room.start, room.stop)
    found.sort(key=_name)
    for room in list(_rooms(blocks, found, own)):
        if room.behind < len(blocks):
            found += side_by_side_up_to(_between(room, blocks, weak), own, room.start, room.stop)
    found.sort(key=_name)
    filling = (span for room in _rooms(blocks, found, own) for span in _fill(room, blocks, others, own))
    return sorted(found + [span for span in filling if not blocks[span.name].is_stale], key=_name)


def _runs(blocks: Sequence[Block], living: Sequence[int], digests: Digests) -> list[Run]:
    if all(blocks[at].digests for at in living):
        return [Run(name=at, digests=blocks[at].digests) for at in living]
    present = frozenset(digests.own)

    def digests_to_find(block: Block) -> Sequence[str]:
        last = block.hash[:DIGEST_CHARACTERS]
        return block.digests or (last if last in present else digests.others.get(last, last),)

    return [Run(name=at, digests=digests_to_find(blocks[at])) for at in living]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Room:
    """Messages between two spans, for blocks that stand between the spans' blocks in the store."""

    before: int
    behind: int
    start: int
    stop: int


def _rooms(blocks: Sequence[Block], spans: Sequence[Found], own: list[str], before: int = -1) -> Iterator[_Room]:
    start = 0
    for span in (*spans, Found(name=len(blocks), start=len(own), stop=len(own))):
        if start < span.start:
            yield _Room(before=before, behind=span.name, start=start, stop=span.start)
        before, start = span.name, span.stop


def _fill(room: _Room, blocks: Sequence[Block], candidates: Sequence[int], own: list[str]) -> list[Found]:
    return find_in_order(_between(room, blocks, candidates), own, room.start, room.stop)


def _between(room: _Room, blocks: Sequence[Block], candidates: Sequence[int]) -> list[Run]:
    between = candidates[bisect_right(candidates, room.before) : bisect_left(candidates, room.behind)]
    return [Run(name=at, digests=blocks[at].digests, worth=1 if blocks[at].is_stale else _LIVING) for at in between]


def _name(span: Found) -> int:
    return span.name


def _without_chance(found: list[Found], blocks: Sequence[Block], living: Sequence[int]) -> list[Found]:
    """Drop blocks at the beginning that were probably found only because short messages are repeated.

    A conversation that is shortened to its newest messages may hold an "ok" that was a chunk of its own, long out of
    view. All chunks between that one and the next that is found would count as deleted.
    """
    if not found or (found[0].name == living[0] and found[0].start == 0):
        return found
    times = Counter(digest for at in living for digest in blocks[at].digests)
    following = dict(pairwise(living))
    begin = told = 0
    for at, span in enumerate(found):
        digests = blocks[span.name].digests
        told += sum(times[digest] == 1 for digest in digests) if digests else _TELLING
        if told >= _TELLING:
            break
        behind = found[at + 1].name if at + 1 < len(found) else None
        if following.get(span.name) != behind:
            begin, told = at + 1, 0
    return found[begin:]


def _out_of_view(
    blocks: Sequence[Block], living: Sequence[int], found: Sequence[Found], own: list[str]
) -> tuple[list[int], int]:
    """Blocks before all found ones that stay live, and the number of messages that the last of them covers."""
    unseen = [at for at in living if not _is_foreign(blocks[at]) and (not found or at < found[0].name)]
    zone = own[: found[0].start] if found else own
    is_bounded = bool(found) and not _is_foreign(blocks[found[0].name])
    hidden = out_of_view([blocks[at] for at in unseen], zone, is_bounded=is_bounded)
    return unseen[: hidden.chunks], hidden.covered


def _spans(
    blocks: Sequence[Block], living: Sequence[int], kept: Sequence[int], found: Sequence[Found], own: list[str]
) -> list[Found]:
    """The messages that each block covers: a block of another program covers all since the block before it.

    Text of a stale block between them is not covered: it must be processed again.
    """
    spans: list[Found] = []
    before, stop = kept[-1] if kept else -1, 0
    for span in found:
        if _is_foreign(blocks[span.name]):
            gone = living[bisect_right(living, before) : bisect_left(living, span.name)]
            known = {digest for at in gone for digest in blocks[at].digests}
            start = next((at + 1 for at in range(span.stop - 2, stop - 1, -1) if own[at] in known), stop)
            span = Found(name=span.name, start=start, stop=span.stop)
        spans.append(span)
        before, stop = span.name, span.stop
    return spans


def _stale(
    blocks: Sequence[Block], living: Sequence[int], kept: Sequence[int], found: Sequence[Found]
) -> Iterator[int]:
    """The blocks not found; of another program's only the newest, as the next block covers the text of the others."""
    lives = {*kept, *(span.name for span in found)}
    newest = found[-1].name if found else len(blocks)
    return (at for at in living if at not in lives and (at > newest or not _is_foreign(blocks[at])))


def _spans_of_stale_blocks(
    blocks: Sequence[Block], kept: Sequence[int], spans: Sequence[Found], own: list[str]
) -> Iterator[Found]:
    """Stale blocks whose text is present again and uncovered, between the same neighbours as in the store."""
    stale = [at for at, block in enumerate(blocks) if block.is_stale and block.digests]
    for room in _rooms(blocks, spans, own, kept[-1] if kept else -1):
        back = _fill(room, blocks, stale, own)
        yield from back if room.behind < len(blocks) else _told_apart(back, room.start, own)


def _told_apart(back: Sequence[Found], at: int, own: list[str]) -> Iterator[Found]:
    """After the last block, those that continue where the one before ends, or have a unique message.

    An "ok" from elsewhere would tear apart what is not due yet.
    """
    times = Counter(own) if back else Counter[str]()
    for span in back:
        if span.start == at or any(times[digest] == 1 for digest in own[span.start : span.stop]):
            yield span
            at = span.stop


def _gaps(blocks: Sequence[Block], spans: Sequence[Found]) -> Iterator[Gap]:
    stop = 0
    for span in spans:
        if stop < span.start:
            yield Gap(start=stop, stop=span.start, before=blocks[span.name].key)
        stop = span.stop
