"""Recognises one fact in other words, by rule: "Resides in Graz" says what "Lives in Graz" says.

Statements are read as those that they paraphrase, and phrases that say one thing as one word, by the lists of
`predicates.toml`. Two facts are the same when all other words are, with the numbers, the negation and whose fact it
is. So facts that differ in a word that tells something stay apart, however near their vectors are.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache

from mnemoir.core.memories import Hit, Memory
from mnemoir.core.text import content_hash, normalise
from mnemoir.memory.facts.decide.matters import has_same_subject, is_known, is_same, matter_of
from mnemoir.memory.facts.decide.predicates import predicate_table, predicate_words
from mnemoir.memory.facts.decide.resemblance import CERTAIN, words_of
from mnemoir.memory.facts.reading.own_name import as_of_user
from mnemoir.search.scores import Pair

_UNSAID = frozenset(("now", "habit"))  # what a statement in the present says by itself


def says_same(one: str, other: str) -> bool:
    """True when both facts say the same in other words."""
    if content_hash(one) == content_hash(other) or is_same(one, other):
        return True
    first, second = words_of(one), words_of(other)
    if (first.numbers, first.denies) != (second.numbers, second.denies):
        return False
    if not has_same_subject(_plain(as_of_user(one)), _plain(as_of_user(other))):
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
    kept: list[tuple[Hit, _Statement]] = []
    for hit in hits:
        said = _Statement(hit.memory)
        rivals = [at for at, (_, other) in enumerate(kept) if said.may_say_what(other)]
        if any(_says(kept[at][1].text, said.text) for at in rivals):
            continue
        shorter = next((at for at in rivals if is_known(kept[at][1].text, said.text)), None)
        if shorter is None:
            kept.append((hit, said))
        else:
            best = kept[shorter][0]
            kept[shorter] = replace(hit, score=best.score, signals=best.signals), said
    return [hit for hit, _ in kept]


def tells_anew(hit: Hit, others: Sequence[Hit]) -> bool:
    """True when the hit says what none of the others says, and is more than a fuller wording of one of them."""
    said = _Statement(hit.memory)
    rivals = (other for other in map(_Statement, (one.memory for one in others)) if said.may_say_what(other))
    return not any(_says(other.text, said.text) or is_known(other.text, said.text) for other in rivals)


def _says(stored: str, fact: str) -> bool:
    return says_same(stored, fact) or is_known(fact, stored)


class _Statement:
    """The text of a memory, and what tells in little time that it cannot say what another one says: most cannot."""

    def __init__(self, memory: Memory) -> None:
        self.text = memory.text
        self._words = words_of(memory.text) if memory.kind == "fact" else None

    @cached_property
    def _sense(self) -> "_Sense":
        return _sense_of(as_of_user(self.text))

    def may_say_what(self, other: "_Statement") -> bool:
        """False for two statements of which neither can say what the other one says."""
        one, two = self._words, other._words
        if one is None or two is None or one.known.isdisjoint(two.known):
            return False
        return (one.numbers <= two.numbers or two.numbers <= one.numbers) and self._sense.may_be(other._sense)


@dataclass(frozen=True, slots=True)
class _Sense:
    """What two statements have in common when one says what the other says: the `essence`, or the rest.

    `about` is the attribute, or the first word of a statement without one; `value` are the stems of its value, or
    of all.
    """

    about: object
    value: frozenset[str]
    essence: object

    def may_be(self, other: "_Sense") -> bool:
        if self.essence == other.essence:
            return True
        return self.about == other.about and (self.value <= other.value or other.value <= self.value)


@lru_cache(maxsize=4096)
def _sense_of(statement: str) -> _Sense:
    matter, words = matter_of(statement), words_of(statement)
    if matter.slot:
        return _Sense(matter.slot, words_of(matter.value).known, _essence(statement))
    return _Sense(words.stems[:1], words.known, _essence(statement))


@lru_cache(maxsize=4096)
def _essence(statement: str) -> tuple[frozenset[str], frozenset[str]]:
    """The names of the phrases that a statement uses, and the stems of its other words."""
    text = normalise(_plain(statement)).replace("\u2019", "'")
    found = set()
    for name, pattern in _phrases():
        text, count = pattern.subn("", text)
        if count:
            found.add(name)
            text = " ".join(text.split())
    return frozenset(found - _UNSAID), words_of(text or statement).known


@lru_cache(maxsize=4096)
def _plain(statement: str) -> str:
    """The statement that this one paraphrases, or itself."""
    text = " ".join(statement.replace("\u2019", "'").split()).rstrip(".!")
    for pattern, plain in _paraphrases():
        if match := pattern.fullmatch(text):
            said = match.expand(plain)
            return said[:1].upper() + said[1:]
    return statement


@cache
def _paraphrases() -> Sequence[tuple[re.Pattern[str], str]]:
    lists = {f"{{{name}}}": predicate_words()[name] for name in ("people", "pets")}
    found = []
    for pattern, plain in predicate_table()["paraphrases"]["of"]:
        for name, words in lists.items():
            pattern = pattern.replace(name, f"(?:{words})")
        found.append((re.compile(pattern, re.IGNORECASE), plain))
    return found


@cache
def _phrases() -> Sequence[tuple[str, re.Pattern[str]]]:
    return [
        (name, re.compile(rf"(?<!\w)(?:{pattern})(?!\w)"))
        for name, patterns in predicate_table()["wordings"].items()
        for pattern in patterns
    ]
