"""Compares two statements by their words: the part of the comparison that needs no model.

Words are compared by stem, without stop words. Negation and numbers are compared separately, because one such word
changes the meaning of a statement.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from mnemoir.core.text import normalise

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
_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ed", "es", "s", "ly", "e")


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A statement as words: its content stems in order, its numbers, and whether it is negated."""

    stems: tuple[str, ...]
    known: frozenset[str]  # the same stems, for lookups
    numbers: frozenset[str]
    denies: bool


@lru_cache(maxsize=4096)
def words_of(text: str) -> Words:
    """The words of a statement; texts in scripts without spaces come as single characters."""
    found = [word.replace("’", "'") for word in _WORD.findall(normalise(text))]
    found = [piece for word in found for piece in _split(word)]
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


def contained(fact: str, text: str) -> bool:
    """True when `text` has all words and numbers of `fact` and the same negation."""
    inner, outer = words_of(fact), words_of(text)
    if not inner.known:
        return normalise(fact) == normalise(text)
    return inner.known <= outer.known and _agree(inner, outer)


def tells(text: str, fact: str, *, floor: float = 0.5) -> bool:
    """True when `text` may stand for `fact`: enough shared words, all its numbers, the same negation."""
    inner, outer = words_of(fact), words_of(text)
    return contained(fact, text) or (overlap(fact, text) >= floor and _agree(inner, outer))


def opposed(a: str, b: str) -> bool:
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
