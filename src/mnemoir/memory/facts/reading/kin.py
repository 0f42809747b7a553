"""Reads the table of the people and animals of a user (`kin.toml`), the one place where they are listed."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Literal

Section = Literal["people", "animals", "surroundings", "roles"]


@cache
def kin_by_word(*sections: Section) -> Mapping[str, str]:
    """The English name of each word of the sections, in seven languages."""
    rows = (row for section in sections for row in _table()[section].items())
    return {word: name for name, words in rows for word in " ".join(words).split()}


@cache
def english_words(section: Section) -> Sequence[str]:
    """The English words of a section."""
    return [word for english, _ in _table()[section].values() for word in english.split()]


@cache
def _table() -> Mapping[str, Mapping[str, tuple[str, str]]]:
    return tomllib.loads((files(__package__) / "kin.toml").read_text(encoding="utf-8"))
