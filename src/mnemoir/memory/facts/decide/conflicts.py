"""Groups of facts that cannot hold at a time: they were all kept, since no decision named the one that holds."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

from mnemoir.core.memories import Memory
from mnemoir.memory.facts.decide.matters import contradicts, has_one_value, matters_of
from mnemoir.memory.facts.decide.resemblance import Duplicates, overlap, words_of

_MOST_OF_A_KIND = 30  # facts of one attribute, or with one word, that are compared


def conflicts(memories: Sequence[Memory], offered: Sequence[Duplicates]) -> list[Duplicates]:
    """The groups among facts, newest first, without those that are offered together already.

    Each member contradicts the first one, the newest; `likeness` is the share of words that they have in common. A
    pair that differs in a count or a denial often tells of different things, and is not offered.
    """
    together = [{memory.id for memory in group.memories} for group in offered]
    around: dict[int, dict[int, float]] = defaultdict(dict)
    taken: set[int] = set()
    for first, second in sorted(set(_pairs(memories))):
        one, other = memories[first], memories[second]
        if second in taken or (first in taken and first not in around):
            continue
        if _clash(one, other) and not any({one.id, other.id} <= group for group in together):
            around[first][second] = overlap(one.text, other.text)
            taken |= {first, second}
    return [
        Duplicates(memories=[memories[place] for place in (first, *others)], likeness=list(others.values()))
        for first, others in around.items()
        if len(others) > 1 or all(has_one_value(memories[place].text) for place in (first, *others))
    ]


def contradictions(memories: Sequence[Memory]) -> list[tuple[int, int]]:
    """The pairs of facts that cannot hold at a time, by their places, in order."""
    return [(one, other) for one, other in sorted(set(_pairs(memories))) if _clash(memories[one], memories[other])]


def _clash(one: Memory, other: Memory) -> bool:
    return contradicts(one.text, other.text)


def _pairs(memories: Sequence[Memory]) -> Iterator[tuple[int, int]]:
    """Facts of one attribute that has one value, and facts with a word in common of which one denies or ends."""
    about: dict[str, list[int]] = defaultdict(list)
    against: dict[str, list[int]] = defaultdict(list)
    for place, memory in enumerate(memories):
        for matter in matters_of(memory.text):
            is_single = bool(matter.slot) and not matter.many and not matter.ends
            keys = [f"{matter.slot} is"] if is_single else words_of(matter.value).known
            for key in keys:
                (against if matter.denies else about)[key].append(place)
    for key, places in about.items():
        kept = places[:_MOST_OF_A_KIND]
        if key.endswith(" is"):
            yield from combinations(kept, 2)
        for one in kept:
            yield from (
                (min(one, other), max(one, other)) for other in against[key][:_MOST_OF_A_KIND] if one != other
            )
