"""Statements about oneself in German, French, Spanish, Italian, Portuguese and Dutch, kept as said.

There is no grammar: a language is a table of shapes in a file beside this module, and one matcher reads all tables.
A clause that fits a shape is a fact in the user's own words. The key of a shape names what the clause is about, so
that a later clause about the same closes it; the keys of attributes are those of English facts.

A table has patterns over a text without accents and in any case ("ß" is "ss"):
    `cue`       a word that every statement in the language has; a sentence without it is not examined
    `front`     a beginning that moves the subject (groups `verb`, `who`, `rest`) or only precedes it (`rest`)
    `words`     lists of words that patterns name in braces
    `shapes`    what is said, by key; `denials` likewise what is denied; group `v` is the value, `who` part of the key
What asks, what is imagined and where a clause begins stands in other tables (`reading/kinds.toml`, `clauses.toml`).
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from mnemoir.core.accents import without_accents
from mnemoir.memory.facts.reading.clauses import stated_in

LANGUAGES = ("de", "fr", "es", "it", "pt", "nl")
_LONGEST_CLAUSE = 200  # characters
_MOST_WORDS = 25
_EDGES = " \t,.!?…;:*_~-–—()¡¿\"'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a clause is about (`key`), what it says of it, and whether it denies it."""

    key: str
    value: str
    denies: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Language:
    code: str
    front: re.Pattern[str]
    shapes: Sequence[tuple[str, bool, re.Pattern[str]]]  # key, denial, pattern

    def statements(self, sentence: str) -> list[str]:
        """The clauses of the sentence that fit a shape."""
        return [f"{said[:1].upper()}{said[1:]}" for said in stated_in(sentence, self.code) if self.read(said)]

    @lru_cache(maxsize=1024)  # noqa: B019  # a language lives as long as the program
    def read(self, clause: str) -> Reading | None:
        """What the clause says; None when it fits no shape."""
        if len(clause) > _LONGEST_CLAUSE or len(clause.split()) > _MOST_WORDS:
            return None
        orders = [without_accents(clause), *self._without_front(without_accents(clause))]
        return next((found for text in orders if (found := self._fitting(text))), None)

    def _fitting(self, text: str) -> Reading | None:
        for key, denies, pattern in self.shapes:
            match = pattern.fullmatch(text)
            if match:
                groups = match.groupdict()
                subject = f"{groups['who'].lower()} {key}" if groups.get("who") else key
                return Reading(key=subject, value=groups.get("v") or text, denies=denies)
        return None

    def _without_front(self, text: str) -> Iterator[str]:
        """The clause in its usual order, without the words in front and with them at its end."""
        match = self.front.fullmatch(text)
        if match:
            said = match.groupdict(default="")
            usual = " ".join(filter(None, (said.get("who"), said.get("verb"), said["rest"]))).strip()
            yield usual
            yield f"{usual} {said['front'].strip(' ,')}"


def statements_in(sentence: str) -> list[str]:
    """The statements of a sentence in the first language that has any; [] for other languages."""
    text = unicodedata.normalize("NFC", sentence)
    return next((found for each in _spoken_in(text) if (found := each.statements(text))), [])


@lru_cache(maxsize=2048)
def reading_of(statement: str) -> Reading | None:
    """What a stored statement says, by the first language with a shape for it; None when no shape fits."""
    text = unicodedata.normalize("NFC", statement).strip(_EDGES)
    return next((found for each in _spoken_in(text) if (found := each.read(text))), None)


def _spoken_in(text: str) -> Iterator[_Language]:
    """The languages of which the text has a cue. The others are not compiled: a language takes 0.1 s."""
    plain = without_accents(text)
    return (language(code) for code in LANGUAGES if _cue(code).search(plain))


@cache
def _table(code: str) -> Mapping[str, Any]:
    """The file of one language."""
    text = (files(__package__) / f"{code}.toml").read_text(encoding="utf-8")
    return {name: _without_line_breaks(value) for name, value in tomllib.loads(text).items()}


@cache
def _cue(code: str) -> re.Pattern[str]:
    return re.compile(without_accents(rf"(?<!\w)(?:{_table(code)['cue']})(?!\w)"), re.IGNORECASE)


@cache
def language(code: str) -> _Language:
    """The table of one language, compiled."""
    table = _table(code)
    words: dict[str, str] = table["words"]

    def compile_pattern(pattern: str) -> re.Pattern[str]:
        return re.compile(without_accents(_with_word_lists(pattern, words)), re.IGNORECASE)

    return _Language(
        code=code,
        front=compile_pattern(table["front"]),
        shapes=[*_shapes(table, "denials", compile_pattern), *_shapes(table, "shapes", compile_pattern)],
    )


def _without_line_breaks(value: Any) -> Any:
    """The value of a table with long lists of words in one line."""
    if isinstance(value, str):
        return value.replace("\n", "")
    return (
        {name: _without_line_breaks(inner) for name, inner in value.items()} if isinstance(value, Mapping) else value
    )


def _shapes(table: Mapping[str, Any], kind: str, compiled: Any) -> Iterator[tuple[str, bool, re.Pattern[str]]]:
    for key, patterns in table[kind].items():
        for pattern in patterns:
            yield key, kind == "denials", compiled(pattern)


def _with_word_lists(pattern: str, words: dict[str, str]) -> str:
    """The pattern with its word lists in place of their names; a list may name lists before it."""
    for name, alternatives in reversed(words.items()):
        pattern = pattern.replace(f"{{{name}}}", f"(?:{alternatives})")
    return pattern
