"""Kin, roles and pets as names of the user's people: one English word for each, in seven languages."""

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files

from mnemoir.core.accents import without_accents
from mnemoir.memory.facts.decide.predicates import predicate_words
from mnemoir.memory.names.table import name_table

_NO_PEOPLE = frozenset({"workplace", "family", "team", "ex"})  # of the tables of persons and predicates


def person_of(word: str) -> str | None:
    """The kin, role or pet that a word names, as an English word; None for any other word."""
    return _people().get(without_accents(word).lower())


@cache
def _people() -> Mapping[str, str]:
    english = {word: word for word in _words_of_predicates()}
    return english | _by_word(_persons()) | _by_word(name_table()["roles"])


def _words_of_predicates() -> Iterator[str]:
    """The people and pets that English predicates know; those of two words are told by their last one."""
    for name in ("people", "pets"):
        yield from (word for word in predicate_words()[name].split("|") if " " not in word and word not in _NO_PEOPLE)


def _persons() -> Mapping[str, str]:
    table = tomllib.loads((files("mnemoir.memory.facts.reading") / "persons.toml").read_text(encoding="utf-8"))
    return {kin: words for kin, words in table["kin"].items() if kin not in _NO_PEOPLE}


def _by_word(table: Mapping[str, str]) -> dict[str, str]:
    return {word: person for person, words in table.items() for word in words.split()}
