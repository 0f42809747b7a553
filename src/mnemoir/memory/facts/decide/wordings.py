"""Recognises one fact in other words, by rule: "Resides in Graz" says what "Lives in Graz" says.

Phrases that say one thing are read as one word, by the lists of `predicates.toml`. Two facts are the same when all
other words are, with the numbers, the negation and whose fact it is. So facts that differ in a word that tells
something stay apart, however near their vectors are.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache

from mnemoir.core.memories import Hit, Memory
from mnemoir.core.text import content_hash, normalise
from mnemoir.memory.facts.decide.matters import has_same_subject, is_known, is_same, matter_of
from mnemoir.memory.facts.decide.predicates import predicate_table
from mnemoir.memory.facts.decide.resemblance import CERTAIN, words_of
from mnemoir.memory.facts.reading.own_name import as_of_user
from mnemoir.search.scores import Pair

_UNSAID = frozenset(("now", "habit"))  # what a statement in the present says by itself


def says_same(one: str, other: str) -> bool:
    """True when both facts say the same in other words."""
    if content_hash(one) == content_hash(other) or is_same(one, other):
        return True
    first, second = words_of(one), words_of(other)
    if (first.numbers, first.denies) != (second.numbers, second.denies) or not has_same_subject(one, other):
        return False
    return bool(_essence(one)[1]) and _essence(one) == _essence(other)


def wordings_of_one(memories: Sequence[Memory]) -> Iterator[Pair]:
    """Facts that say the same in other words, each with the first of them."""
    first: dict[object, int] = {}
    for place, memory in enumerate(memories):
        words, essence = words_of(memory.text), _essence(memory.text)
        before = first.setdefault((essence, words.numbers, words.denies), place)
        if before != place and says_same(memories[before].text, memory.text):
            yield Pair(before, place, CERTAIN)


def each_once(hits: Sequence[Hit]) -> list[Hit]:
    """The hits in order, without facts that another one says as well; the fullest of them has the best place."""
    kept: list[Hit] = []
    for hit in hits:
        text = hit.memory.text
        rivals = [at for at, other in enumerate(kept) if _are_comparable(hit.memory, other.memory)]
        if any(says_same(kept[at].memory.text, text) or is_known(text, kept[at].memory.text) for at in rivals):
            continue
        shorter = next((at for at in rivals if is_known(kept[at].memory.text, text)), None)
        if shorter is None:
            kept.append(hit)
        else:
            kept[shorter] = replace(hit, score=kept[shorter].score, signals=kept[shorter].signals)
    return kept


def tells_anew(hit: Hit, others: Sequence[Hit]) -> bool:
    """True when the hit says what none of the others says, and is more than a fuller wording of one of them."""
    text = hit.memory.text
    rivals = (other.memory.text for other in others if _are_comparable(hit.memory, other.memory))
    return not any(says_same(other, text) or is_known(text, other) or is_known(other, text) for other in rivals)


def _are_comparable(one: Memory, other: Memory) -> bool:
    """False for two facts of which neither can say what the other one says; told in little time, for most are."""
    if not one.kind == other.kind == "fact":
        return False
    first, second = words_of(one.text), words_of(other.text)
    if first.known.isdisjoint(second.known):
        return False
    if not (first.numbers <= second.numbers or second.numbers <= first.numbers):
        return False
    return not _readings(as_of_user(one.text)).isdisjoint(_readings(as_of_user(other.text)))


@lru_cache(maxsize=4096)
def _readings(statement: str) -> frozenset[object]:
    """What two statements have in common when one says what the other says: attribute, first word, or essence."""
    slot = matter_of(statement).slot
    return frozenset((slot or words_of(statement).stems[:1], _essence(statement)))


@lru_cache(maxsize=4096)
def _essence(statement: str) -> tuple[frozenset[str], frozenset[str]]:
    """The names of the phrases that a statement uses, and the stems of its other words."""
    text = normalise(statement).replace("\u2019", "'")
    found = set()
    for name, pattern in _phrases():
        text, count = pattern.subn("", text)
        if count:
            found.add(name)
            text = " ".join(text.split())
    return frozenset(found - _UNSAID), words_of(text or statement).known


@cache
def _phrases() -> Sequence[tuple[str, re.Pattern[str]]]:
    return [
        (name, re.compile(rf"(?<!\w)(?:{pattern})(?!\w)"))
        for name, patterns in predicate_table()["wordings"].items()
        for pattern in patterns
    ]
