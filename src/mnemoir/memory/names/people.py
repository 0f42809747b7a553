"""Kin, roles and pets as names of the user's people: one English word for each, in seven languages."""

from collections.abc import Iterator, Mapping
from functools import cache

from mnemoir.core.accents import without_accents
from mnemoir.memory.facts.decide.predicates import predicate_words
from mnemoir.memory.facts.reading.kin import kin_by_word

_NO_PEOPLE = frozenset({"family", "team", "ex"})  # of the tables of kin and predicates


def person_of(word: str) -> str | None:
    """The kin, role or pet that a word names, as an English word; None for any other word."""
    return _people().get(without_accents(word).lower())


@cache
def _people() -> Mapping[str, str]:
    english = {word: word for word in _words_of_predicates()}
    kin = kin_by_word("people", "animals", "roles")
    return english | {word: person for word, person in kin.items() if person not in _NO_PEOPLE}


def _words_of_predicates() -> Iterator[str]:
    """The people and pets that English predicates know; those of two words are told by their last one."""
    for name in ("people", "pets"):
        yield from (word for word in predicate_words()[name].split("|") if " " not in word and word not in _NO_PEOPLE)
