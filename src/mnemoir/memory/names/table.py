"""Reads the table of names (`names.toml`): what tells of a name, and what is none."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from mnemoir.core.accents import without_accents
from mnemoir.search import stop_words

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl")


@cache
def name_table() -> Mapping[str, Any]:
    """The table, by section."""
    return tomllib.loads((files(__package__) / "names.toml").read_text(encoding="utf-8"))


@cache
def naming_pattern() -> re.Pattern[str]:
    """What a name follows: "is called"; group `own` is one that gives the user's own name."""
    own = name_table()["user"]["names"].replace("\n", "")
    named = "|".join(name_table()["naming"][language] for language in LANGUAGES)
    return re.compile(rf"(?<!\w)(?:(?P<own>{own})|(?:{named}))(?!\w)[\s:,\"'“„«]*", re.IGNORECASE)


@cache
def user_pattern() -> re.Pattern[str]:
    """What stands before a naming pattern where the name is the user's: nothing but words for the user."""
    before = name_table()["user"]["before"].replace("\n", "")
    return re.compile(rf"\W*(?:(?:{before})\W*)*", re.IGNORECASE)


@cache
def no_names() -> frozenset[str]:
    """Words that are no names by themselves, folded: dates, and words for the user."""
    return frozenset(f"{name_table()['dates']['words']} {name_table()['user']['words']}".split())


@cache
def words_of_address() -> frozenset[str]:
    """Words that stand before a name as an address, folded: "Mrs", "Frau"."""
    return frozenset(name_table()["address"]["words"].split())


@cache
def possessives() -> frozenset[str]:
    """Words before a person that belongs to somebody: "my"."""
    return frozenset(name_table()["address"]["owned"].split())


@cache
def places_before() -> frozenset[str]:
    """German prepositions of place and work."""
    return frozenset(name_table()["places"]["de"].split())


@cache
def possessions() -> frozenset[str]:
    """Words behind a person that belongs to somebody else: "of"."""
    return frozenset(name_table()["of"]["words"].split())


@cache
def function_words(language: str) -> frozenset[str]:
    """Words of a language that are no names in it, unless a naming pattern stands before."""
    return stop_words.BY_LANGUAGE.get(language, frozenset())


@cache
def telling_words() -> Mapping[str, tuple[str, ...]]:
    """Words that tell the language of a text, folded, each with the languages it is of."""
    found: dict[str, tuple[str, ...]] = {}
    for language in LANGUAGES:
        words = {*name_table()["words"][language].split(), *function_words(language)}
        for word in {without_accents(word) for word in words}:
            found[word] = (*found.get(word, ()), language)
    return found
