"""Words that tell a witness (`witness.toml`), and what of a statement is a name or a content word."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files

from mnemoir.core.accents import without_accents
from mnemoir.memory.facts.decide.spoken_words import Vocabulary, Word, spoken_words
from mnemoir.memory.facts.reading.kinds import is_of_kind, languages_of
from mnemoir.search import stop_words

NAMES = ("name", "nickname")  # attributes that a naming phrase closes
_STOP = stop_words.ENGLISH | stop_words.OTHERS | {"user", "users", "no", "longer", "also", "again"}
_PIECE = re.compile(r",\s+|\s+(?=(?:and|with|but|mit|und|avec|et|con|y|e|com|met|en)\s)")
_PRONOUN = {"i", "i'm", "i've"}


def has(kind: str, text: str) -> bool:
    """True when a text has a word of the list."""
    return bool(_pattern(kind).search(_plain(text)))


def begins_with(kind: str, text: str) -> bool:
    """True when a text begins with a word of the list."""
    return bool(_pattern(kind).match(_plain(text).lstrip(" \t\n\"'¡*_-")))


@lru_cache(maxsize=4096)
def content_words(text: str) -> Sequence[Word]:
    """The words that say something, in order, without numbers and denials."""
    return [
        word
        for word in spoken_words(text)
        if not word.text[0].isdigit() and word.text.lower() not in _STOP and not has("ends", word.text)
    ]


@lru_cache(maxsize=4096)
def names_in(statement: str) -> Sequence[Word]:
    """The words with a capital inside a statement; of German ones those behind a preposition or a naming word."""
    words = spoken_words(statement)
    inner = [(at, word) for at, word in enumerate(words) if at and word.is_name and word.text.lower() not in _PRONOUN]
    if _is_german(words):
        before = _words("german_before_names")
        inner = [(at, word) for at, word in inner if words[at - 1].text.lower() in before or words[at - 1].is_name]
    return [word for _, word in inner]


def is_denial_of(clause: str, names: Sequence[Word]) -> bool:
    """True when the clause denies what it says of the names: "I don't live in Oslo"."""
    codes = languages_of(clause)
    if not is_of_kind(clause, "denial", codes):
        return False
    words = spoken_words(clause)
    at = next((place for place, word in enumerate(words) if is_of_kind(word.text, "denial", codes)), len(words))
    turns = [place for place, word in enumerate(words) if place > at and is_of_kind(word.text, "contrast", codes)]
    denied = words[at : turns[0]] if turns else words[at:]
    forms = frozenset(form for word in denied for form in word.forms)
    held = frozenset(form for word in words for form in word.forms if word not in denied)
    return any(not name.forms.isdisjoint(forms) and name.forms.isdisjoint(held) for name in names)


def grounded_pieces(fact: str, memory: str, said: Vocabulary) -> str:
    """The pieces of a fact between commas and joining words whose words the memory has or somebody said.

    "" when they tell no more than the memory.
    """
    known = frozenset(form for word in spoken_words(memory) for form in word.forms)
    kept, at = "", 0
    for cut in (*_PIECE.finditer(fact), None):
        piece = fact[at : cut.start() if cut else len(fact)]
        new = [word for word in content_words(piece) if word.forms.isdisjoint(known)]
        if all(said.has_word(word) for word in new):
            kept += piece
        at = cut.start() if cut else len(fact)
    tells_more = any(word.forms.isdisjoint(known) for word in content_words(kept))
    return kept.strip(" ,") if tells_more else ""


def _is_german(words: Sequence[Word]) -> bool:
    common = _words("german") - {"die", "war", "an", "in"}
    return any(word.text.lower() in common for word in words)


def _plain(text: str) -> str:
    return without_accents(text.replace("’", "'"))


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(_table()[name].replace("\n", "").split("|"))


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{_table()[kind]})(?!\w)".replace("\n", ""), re.IGNORECASE)


@cache
def _table() -> Mapping[str, str]:
    return tomllib.loads((files(__package__) / "witness.toml").read_text(encoding="utf-8"))
