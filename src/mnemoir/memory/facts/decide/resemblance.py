"""Compares statements by their words, without a model, and finds groups of facts that may be duplicates.

Words are compared by stem, without stop words. Negation and numbers are compared separately, because one such word
changes the meaning of a statement.

Two facts are near when their vectors are, or when they have identical stems. They are duplicates when their numbers
agree, both or neither negate, and their words are close enough for the distance of the vectors. Groups are stars:
each member resembles the first one, so a chain of similar facts cannot drift to another statement.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from mnemoir.core.memories import Memory
from mnemoir.core.text import normalise
from mnemoir.memory.facts.reading.own_name import as_of_user
from mnemoir.search.scores import Pair

_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*")
_SMALL = frozenset(
    re.findall(
        r"\S+",
        """
        a an the of to in on at for with and or as by from is are am be been was were has have had do does did it its
        this that these those their them they he she his her user user's users who which very really also too my i me
        der die das ein eine und in im am ist hat le la les un une et est el los una y es
        """,
    )
)
_DENYING = frozenset(
    re.findall(
        r"\S+",
        """
        not no never none nothing without cannot can't won't don't doesn't didn't isn't aren't wasn't weren't hasn't
        haven't hadn't stopped quit former formerly ex dislikes hates avoids nicht kein keine nie pas jamais nunca
        """,
    )
)
_NUMBERS = {  # as digits
    word: str(number)
    for number, word in enumerate(
        re.findall(
            r"\S+",
            "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen",
        ),
        start=2,
    )
}
_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ed", "es", "s", "ly", "e")
NEAR = 0.6  # cosine from which a fact that has all words of the other may be its duplicate
_NEAR = 0.76
_SAME_MEANING = 0.85  # cosine that suffices for any words; unrelated facts lie below 0.7
_SHARED_WORDS = 0.33  # of all stems of the two, from _NEAR on
CERTAIN = 0.99


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A statement as words: its content stems in order, its numbers, and whether it is negated."""

    stems: tuple[str, ...]
    known: frozenset[str]  # the same stems, for lookups
    numbers: frozenset[str]
    denies: bool


def words_of(text: str) -> Words:
    """The words of a statement; texts in scripts without spaces come as single characters."""
    return _words_of(as_of_user(text))


@lru_cache(maxsize=4096)
def _words_of(text: str) -> Words:
    found = [word.replace("’", "'") for word in _WORD.findall(normalise(text))]
    found = [_NUMBERS.get(piece, piece) for word in found for piece in _split(word)]
    carrying = [word for word in found if word not in _SMALL] or found
    stems = tuple(stem(word) for word in carrying if word not in _DENYING)
    return Words(
        stems=stems,
        known=frozenset(stems),
        numbers=frozenset(word for word in found if word[0].isdigit()),
        denies=any(word in _DENYING or word.endswith("n't") for word in found),
    )


def stem(word: str) -> str:
    """`word` without a common ending; never shorter than three letters."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word


def overlap(a: str, b: str) -> float:
    """Shared stems over the stems of the shorter statement, in [0, 1]; 0 when one has none."""
    first, second = words_of(a).known, words_of(b).known
    smaller = min(len(first), len(second))
    return len(first & second) / smaller if smaller else 0.0


def is_part_of(fact: str, text: str) -> bool:
    """True when `text` has all words and numbers of `fact` and the same negation."""
    inner, outer = words_of(fact), words_of(text)
    if not inner.known:
        return normalise(fact) == normalise(text)
    return inner.known <= outer.known and _agree(inner, outer)


def tells(text: str, fact: str, *, floor: float = 0.5) -> bool:
    """True when `text` may stand for `fact`: enough shared words, all its numbers, the same negation."""
    inner, outer = words_of(fact), words_of(text)
    return is_part_of(fact, text) or (overlap(fact, text) >= floor and _agree(inner, outer))


def differ_in_negation(a: str, b: str) -> bool:
    """True when one statement is negated and the other is not."""
    return words_of(a).denies != words_of(b).denies


def same_statement(fact: str, stored: str, cosine: float | None) -> bool:
    """True when `fact` certainly adds nothing to `stored`.

    Its words must occur in `stored` in the same order, with the same numbers and negation; the cosine must be near
    1, or, where there is none, the words must be identical.
    """
    inner, outer = words_of(fact), words_of(stored)
    if inner.numbers != outer.numbers or inner.denies != outer.denies or not inner.stems:
        return False
    if cosine is None:
        return inner.stems == outer.stems
    return cosine >= _SAME_COSINE and _in_order(inner.stems, outer.stems)


_SAME_COSINE = 0.95


def _agree(inner: Words, outer: Words) -> bool:
    return inner.denies == outer.denies and inner.numbers <= outer.numbers


def _in_order(inner: Collection[str], outer: Collection[str]) -> bool:
    rest = iter(outer)
    return all(word in rest for word in inner)


def _split(word: str) -> Collection[str]:
    """The word itself; its characters for scripts that write without spaces."""
    return [*word] if any("\u2e80" <= char <= "\u9fff" or "\u3040" <= char <= "\u30ff" for char in word) else [word]


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
    said = [words_of(memory.text) for memory in memories]
    for pair in (*pairs, *_same_stems(said)):
        likeness = _likeness(said[pair.first], said[pair.second], pair.cosine)
        if likeness:
            for one, other in ((pair.first, pair.second), (pair.second, pair.first)):
                near[one][other] = max(likeness, near[one].get(other, 0.0))
    return near


def _same_stems(said: Sequence[Words]) -> list[Pair]:
    """Facts with the same stems, each with the first of them: these need no vector."""
    first: dict[frozenset[str], int] = {}
    pairs = []
    for place, words in enumerate(said):
        if words.known and (before := first.setdefault(words.known, place)) != place:
            pairs.append(Pair(before, place, CERTAIN))
    return pairs


def _likeness(first: Words, second: Words, cosine: float) -> float:
    """The likeness of two facts; 0 when they are no duplicates."""
    if first.numbers != second.numbers or first.denies != second.denies:
        return 0.0
    both = first.known & second.known
    is_within = len(both) > 1 and len(both) == min(len(first.known), len(second.known))
    is_near = cosine >= _NEAR and len(both) >= _SHARED_WORDS * len(first.known | second.known)
    if cosine >= _SAME_MEANING or is_near or (cosine >= NEAR and is_within):
        return min(1.0, cosine)
    return 0.0


def _group(memories: Sequence[Memory], centre: int, around: dict[int, float]) -> Duplicates:
    others = sorted(around, key=lambda place: (-around[place], place))
    return Duplicates(
        memories=[memories[place] for place in (centre, *others)], likeness=[around[place] for place in others]
    )
