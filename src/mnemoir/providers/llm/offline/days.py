"""Relative days in statements of the languages other than English: "morgen", "la semana que viene".

A word for one day becomes that day, "am 2024-03-05". All else that is relative stays as it was said, with the day of
the talk beside it. The words stand in a table, `days.toml`.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from importlib.resources import files
from typing import Any

from mnemoir.memory.facts.decide.shapes import language
from mnemoir.privacy.spellings import without_accents

_LONGEST_BEFORE = 20  # characters of a word and a space


@dataclass(frozen=True, slots=True, kw_only=True)
class _RelativeDays:
    """The words of one language for days; `pattern` has the group `day` for one that is resolved."""

    day: str
    said: str
    offsets: Mapping[str, int]
    not_behind: re.Pattern[str] | None
    pattern: re.Pattern[str]

    def resolve(self, statement: str, today: date) -> str:
        """The statement with its days as dates."""
        folded, kept, begin = without_accents(statement), [], 0
        for found in self.pattern.finditer(folded):
            kept += [statement[begin : found.start()], self._date_or_words(found, statement, today)]
            begin = found.end()
        return "".join((*kept, statement[begin:]))

    def _date_or_words(self, found: re.Match[str], statement: str, today: date) -> str:
        words, at = statement[found.start() : found.end()], found.start("day" if found["day"] else 0)
        before = found.string[max(0, at - _LONGEST_BEFORE) : at]
        if self.not_behind is not None and self.not_behind.search(before):
            return words
        if found["day"] is None:
            return f"{words} {self.said.format(today.isoformat())}"
        day = (today + timedelta(days=self.offsets[found["day"]])).isoformat()
        if found["bare"]:
            return statement[found.start() : found.end("bare")] + day
        written = self.day.format(day)
        return written if found.start() else written[:1].upper() + written[1:]


def with_days(statement: str, today: date) -> str:
    """A statement of one of the six languages with its relative days as dates, or the day of the talk beside them.

    A word counts in the language that the statement is read in: "hier" is "here" in another one.
    """
    folded = without_accents(statement)
    spoken = (code for code in _tables() if _words(code).pattern.search(folded) and language(code).read(statement))
    code = next(spoken, None)
    try:
        return statement if code is None else _words(code).resolve(statement, today)
    except OverflowError:
        return statement  # beyond the calendar: keep the words


@cache
def _words(code: str) -> _RelativeDays:
    table = _tables()[code]
    days = "|".join(sorted(map(re.escape, table["offsets"]), key=len, reverse=True))
    others = table["others"].replace("\n", "")
    before = rf"(?!\s(?:{table['not_before']})\b)" if table["not_before"] else ""
    bare = rf"(?P<bare>(?:{table['bare']})\s)?"
    pattern = rf"(?<![\w-]){bare}(?P<day>{days})(?![\w-]){before}(?:\s(?:{table['part']})\b)?"
    return _RelativeDays(
        day=table["day"],
        said=table["said"],
        offsets=table["offsets"],
        not_behind=re.compile(rf"(?<!\w)(?:{table['not_behind']})\s\Z") if table["not_behind"] else None,
        pattern=re.compile(rf"{pattern}|(?<![\w-])(?:{others})(?![\w-])"),
    )


@cache
def _tables() -> Mapping[str, Any]:
    return tomllib.loads((files(__package__) / "days.toml").read_text(encoding="utf-8"))
