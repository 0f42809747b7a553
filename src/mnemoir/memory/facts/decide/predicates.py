"""Reads the table of predicates (`predicates.toml`): how many values each thing has at a time, and ways to say it."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from mnemoir.memory.facts.reading.kin import english_words


@cache
def predicate_table() -> Mapping[str, Any]:
    """The table, by section."""
    text = (files(__package__) / "predicates.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def predicate_words() -> Mapping[str, str]:
    """The lists of words of the table, as patterns, each with the lists it names; the longest words come first."""
    words_of_table = predicate_table()["words"]
    people = f"{words_of_table['more_people']}|{'|'.join(english_words('people'))}"
    pets = f"{words_of_table['more_pets']}|{'|'.join(english_words('animals'))}"
    lists: dict[str, str] = {}
    for name, text in {"people": people, "pets": pets, **words_of_table}.items():
        words = text.replace("\n", "")
        for inner, pattern in lists.items():
            words = words.replace(f"{{{inner}}}", pattern)
        lists[name] = words if "(" in words else "|".join(sorted(words.split("|"), key=len, reverse=True))
    return lists


@cache
def predicate_patterns() -> Sequence[tuple[str, str, re.Pattern[str]]]:
    """Section, attribute and pattern of each row of the table, in the order in which they are tried."""
    return list(_compiled_patterns())


def _compiled_patterns() -> Iterator[tuple[str, str, re.Pattern[str]]]:
    for kind in ("ends", "denials", "one", "many"):
        for slot, patterns in predicate_table()[kind].items():
            for pattern in patterns:
                for name, words in predicate_words().items():
                    pattern = pattern.replace(f"{{{name}}}", f"(?:{words})")
                yield kind, slot, re.compile(pattern, re.IGNORECASE)


@cache
def person_pattern() -> re.Pattern[str]:
    """A person or an animal of the user at the beginning of a statement."""
    words = predicate_words()
    return re.compile(rf"(?:{words['people']}|{words['pets']})(?:'s)?\b", re.IGNORECASE)


@cache
def several_pattern() -> re.Pattern[str]:
    """Words that say of a job that it is one of several."""
    return re.compile(rf"(?<!\w)(?:{predicate_words()['several']})(?!\w),?", re.IGNORECASE)


@cache
def timely_pattern() -> re.Pattern[str]:
    """An adjective of time before what a statement is about: "Current favourite player is …"."""
    words = predicate_words()
    behind = rf"favou?rite|{words['attributes']}|{words['people']}"
    return re.compile(rf"^(?:current|present|actual|latest|new)\s+(?=(?:{behind})\b)", re.IGNORECASE)


@cache
def move_pattern() -> re.Pattern[str]:
    """A statement that a person of the user's, group `who`, left a place, group `v`."""
    return re.compile(
        rf"(?P<who>{predicate_words()['person']}) (?:has |just |recently )*(?:moved|relocated)(?: away)? from "
        r"(?P<v>.+?)(?: to .+)?",
        re.IGNORECASE,
    )
