"""Words as people type them: the same name, number or word in another spelling.

Compared are words without case and accents, "ö" as "o" and as "oe", by stem, with one letter off from five letters
on. Numbers are read as figures and as words of seven languages, and a table holds other names of one thing ("NYC").
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from mnemoir.core.accents import without_accents
from mnemoir.memory.facts.decide.resemblance import stem

_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’-][^\W\d_]+)*")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})
_FEWEST_LETTERS = 5  # of a word that may have one letter off
_MOST_LETTERS = 40  # of a word that is compared so
_LONGEST_PHRASE = 4  # words of a number or of another name
_SPACES = re.compile(r"[-\s]+")
_THOUSANDS = re.compile(r"(?<=\d)[.,](?=\d{3}(?!\d))")


@dataclass(frozen=True, slots=True)
class Word:
    """A word as written, and the forms in which it is compared: folded, with spelled-out umlauts, and their stems."""

    text: str
    forms: frozenset[str]

    @property
    def is_name(self) -> bool:
        """True when it has a capital, as a name has."""
        return self.text[:1].isupper()


@lru_cache(maxsize=4096)
def spoken_words(text: str) -> tuple[Word, ...]:
    """The words of a text in order; numbers are words, too."""
    return tuple(_word(found) for found in _WORD.findall(text.replace("’", "'")))


@lru_cache(maxsize=8192)
def _word(text: str) -> Word:
    small = text.casefold().removesuffix("'s")
    spellings = {without_accents(small), without_accents(small.translate(_UMLAUTS))}
    return Word(text, frozenset(spellings | {stem(each) for each in spellings}))


@lru_cache(maxsize=4096)
def numbers_in(text: str, *, unsure: bool = True) -> frozenset[str]:
    """The numbers of a text as figures; "half past seven" is "7:30". One is none, since "one" is a word, too.

    Without `unsure` words are left out that are no number in another language ("once", "sei").
    """
    words = _plain(text).split()
    found = {number for _, number in _figures(words)}
    for _, phrase in phrases(words, _number_words()):
        if unsure or phrase not in _unsure():
            found.add(_number_words()[phrase])
    return frozenset(found | _half_hours(" ".join(words))) - {"1"}


def groups_in(words: Sequence[str]) -> Mapping[str, tuple[int, ...]]:
    """The things that the words name by one of several names, each with the places of the words."""
    found: dict[str, tuple[int, ...]] = {}
    for at, phrase in phrases(words, _other_names()):
        places = tuple(range(at, at + len(phrase.split())))
        for group in _other_names()[phrase]:
            found[group] = (*found.get(group, ()), *places)
    return found


def phrases(words: Sequence[str], known: Mapping[str, object]) -> Iterator[tuple[int, str]]:
    """The longest phrases of the words that are known, from left to right, with their places."""
    at = 0
    while at < len(words):
        for length in range(min(_LONGEST_PHRASE, len(words) - at), 0, -1):
            phrase = " ".join(words[at : at + length])
            if phrase in known:
                yield at, phrase
                break
        else:
            length = 1
        at += length


def near_spellings(form: str) -> Iterator[str]:
    """The form, and the form without one letter: two words one letter apart have one of these in common."""
    yield form
    if _FEWEST_LETTERS <= len(form) <= _MOST_LETTERS and form.isalpha():
        yield from {form[:at] + form[at + 1 :] for at in range(len(form))}


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words, numbers and things of a text or of several, for lookups."""

    forms: frozenset[str] = frozenset()
    spellings: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    initials: frozenset[str] = field(default_factory=frozenset)

    def has_word(self, word: Word) -> bool:
        """True when the word is there in one of its forms, or with one letter off."""
        if not word.forms.isdisjoint(self.forms):
            return True
        return any(
            len(form) >= _FEWEST_LETTERS and not self.spellings.isdisjoint(near_spellings(form))
            for form in word.forms
        )


def vocabulary_of(texts: Iterable[str]) -> Vocabulary:
    """What the texts say, together."""
    forms: set[str] = set()
    numbers: set[str] = set()
    groups: set[str] = set()
    initials: set[str] = set()
    for text in texts:
        words = spoken_words(text)
        forms.update(form for word in words for form in word.forms)
        numbers |= numbers_in(text)
        groups.update(groups_in(plain_words(text)))
        initials |= initials_in(words)
    spellings = frozenset(each for form in forms for each in near_spellings(form) if len(form) >= _FEWEST_LETTERS)
    return Vocabulary(frozenset(forms), spellings, frozenset(numbers), frozenset(groups), frozenset(initials))


def initials_in(words: Sequence[Word]) -> frozenset[str]:
    """The initials of names of several words: "nyc" of "New York City"."""
    found: set[str] = set()
    run = ""
    for word in (*words, Word("", frozenset())):
        if word.is_name:
            run += word.text[0].casefold()
            continue
        found.update(run[at:] for at in range(len(run) - 1))
        run = ""
    return frozenset(found)


def plain_words(text: str) -> list[str]:
    """The words of a text without case and accents, hyphens as spaces."""
    return _plain(text).split()


def _plain(text: str) -> str:
    plain = without_accents(text.replace("’", "'")).lower()
    return " ".join(_WORD.findall(_SPACES.sub(" ", _THOUSANDS.sub("", plain))))


def _figures(words: Sequence[str]) -> Iterator[tuple[int, str]]:
    for at, word in enumerate(words):
        if word[0].isdigit():
            yield at, word.replace(",", ".").removesuffix(":00").lstrip("0") or "0"


def _half_hours(text: str) -> set[str]:
    found = set()
    for pattern, shift in _half_patterns():
        for match in pattern.finditer(text):
            hour = _number_words().get(match["n"], match["n"])
            if hour.isdecimal() and len(hour) <= 2:
                found.add(f"{(int(hour) - shift) or 12}:30")
    return found


@cache
def _half_patterns() -> Sequence[tuple[re.Pattern[str], int]]:
    half = _table("numbers")["half"]
    shifts = (("past", 0), ("before", 1))
    return [(re.compile(rf"\b{pattern}"), shift) for key, shift in shifts for pattern in half[key]]


@cache
def _number_words() -> Mapping[str, str]:
    table = _table("numbers")
    lists = [(words, 0) for words in table.values() if isinstance(words, str)]
    lists += [(words, 1) for words in table["ordinals"].values()]
    found: dict[str, str] = {}
    for words, first in reversed(lists):
        for number, forms in enumerate(words.replace("\n", " ").split(","), start=first):
            found |= {form.strip(): str(number) for form in forms.split("|")}
    return found


@cache
def _unsure() -> frozenset[str]:
    return frozenset(_table("numbers")["unsure"]["words"].split())


@cache
def _other_names() -> Mapping[str, tuple[str, ...]]:
    """The groups by each of their names."""
    found: dict[str, tuple[str, ...]] = {}
    for lines in _table("other_names").values():
        for line in lines.strip().splitlines():
            names = [_SPACES.sub(" ", name) for name in line.split("|")]
            for name in names:
                found[name] = (*found.get(name, ()), names[0])
    return found


@cache
def _table(name: str) -> Mapping[str, Any]:
    return tomllib.loads((files(__package__) / f"{name}.toml").read_text(encoding="utf-8"))
