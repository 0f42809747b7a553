"""Finds groups of facts that may be duplicates: the same statement in different words, learned separately.

Two facts are near when their vectors are, or when they have identical stems. They are duplicates when their numbers
agree, both or neither negate, and their words are close enough for the distance of the vectors. Groups are stars:
each member resembles the first one, so a chain of similar facts cannot drift to another statement.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from mnemoir.core.memories import Memory
from mnemoir.memory.facts.resemblance import words_of
from mnemoir.search.alike import Pair

NEAR = 0.76
_SAME_MEANING = 0.85  # cosine that suffices for any words; unrelated facts lie below 0.7
_SHARED_WORDS = 0.33  # of all stems of the two, from NEAR on
_CERTAIN = 0.99


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicates:
    """Nearly equal facts, the one to keep first; `likeness` (0 to 1) of the others to it, in order."""

    memories: Sequence[Memory]
    likeness: Sequence[float]


def duplicate_groups(memories: Sequence[Memory], pairs: Sequence[Pair]) -> list[Duplicates]:
    """The groups among facts, most alike first; `pairs` are near ones by their place in `memories`."""
    near = _near(memories, pairs)
    taken: set[int] = set()
    groups = []
    for centre in sorted(near, key=lambda place: (-len(near[place]), place)):
        around = {} if centre in taken else {each: how for each, how in near[centre].items() if each not in taken}
        if around:
            taken |= {centre, *around}
            groups.append(_group(memories, centre, around))
    return sorted(groups, key=lambda group: -max(group.likeness))


def _near(memories: Sequence[Memory], pairs: Sequence[Pair]) -> dict[int, dict[int, float]]:
    near: dict[int, dict[int, float]] = defaultdict(dict)
    for pair in (*pairs, *_same_stems(memories)):
        likeness = _likeness(memories[pair.first].text, memories[pair.second].text, pair.cosine)
        if likeness:
            for one, other in ((pair.first, pair.second), (pair.second, pair.first)):
                near[one][other] = max(likeness, near[one].get(other, 0.0))
    return near


def _same_stems(memories: Sequence[Memory]) -> list[Pair]:
    """Facts with the same stems, each with the first of them: these need no vector."""
    first: dict[frozenset[str], int] = {}
    pairs = []
    for place, memory in enumerate(memories):
        stems = words_of(memory.text).known
        if stems and (before := first.setdefault(stems, place)) != place:
            pairs.append(Pair(before, place, _CERTAIN))
    return pairs


def _likeness(one: str, other: str, cosine: float) -> float:
    """The likeness of two facts; 0 when they are no duplicates."""
    first, second = words_of(one), words_of(other)
    if first.numbers != second.numbers or first.denies != second.denies:
        return 0.0
    shared = len(first.known & second.known) / (len(first.known | second.known) or 1)
    if cosine >= _SAME_MEANING or (cosine >= NEAR and shared >= _SHARED_WORDS):
        return min(1.0, cosine)
    return 0.0


def _group(memories: Sequence[Memory], centre: int, around: dict[int, float]) -> Duplicates:
    others = sorted(around, key=lambda place: (-around[place], place))
    return Duplicates(
        memories=[memories[place] for place in (centre, *others)], likeness=[around[place] for place in others]
    )
