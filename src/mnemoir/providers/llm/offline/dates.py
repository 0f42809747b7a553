"""Replacement of relative dates by absolute ones, because "yesterday" means nothing a week later.

Days become `2026-03-03`, weeks the week of their Monday, months and years their own names. Absolute dates stay
unchanged.
"""

import calendar
import re
from collections.abc import Callable
from datetime import date, timedelta

_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "a couple of": 2, "a few": 3,
}  # fmt: skip
_COUNT = r"(?P<n>\d{1,3}|a couple of|a few|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_DAY = "|".join(calendar.day_name)
_UNIT = r"(?P<unit>day|week|month|year)s?"
_OFFSETS = {
    "the day before yesterday": -2, "yesterday": -1, "last night": -1, "today": 0, "tonight": 0, "this morning": 0,
    "this afternoon": 0, "this evening": 0, "tomorrow": 1, "the day after tomorrow": 2,
}  # fmt: skip
_EXPRESSION = re.compile(
    rf"""\b(?:
        (?P<offset>{"|".join(sorted(_OFFSETS, key=len, reverse=True))})(?:\s(?:morning|afternoon|evening|night))?
      | (?P<side>last|next|this|this\scoming)\s(?P<span>week|weekend|month|year|{_DAY})
      | {_COUNT}\s{_UNIT}\sago
      | in\s{_COUNT.replace("<n>", "<m>")}\s{_UNIT.replace("<unit>", "<unit2>")}(?:'\stime)?
      | on\s(?P<weekday>{_DAY})(?!s)
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)


def has_date(text: str) -> bool:
    """True when `text` contains a date relative to the day it was said."""
    return _EXPRESSION.search(text) is not None


def resolved(text: str, today: date, *, past: bool) -> str:
    """`text` with every relative date made absolute; a bare weekday is the last one if `past`, else the next."""
    return _EXPRESSION.sub(lambda match: _absolute(match, today, past), text)


def _absolute(match: re.Match[str], today: date, past: bool) -> str:
    try:
        return _named(match, today, past)
    except OverflowError:
        return match[0]  # beyond the calendar: keep the words


def _named(match: re.Match[str], today: date, past: bool) -> str:
    if match["offset"]:
        return _on(today + timedelta(days=_OFFSETS[match["offset"].lower()]))
    if match["side"]:
        return _span(match["side"].lower(), match["span"].lower(), today)
    if match["weekday"]:
        return _on(_weekday(match["weekday"], today, -1 if past else 1))
    if match["unit"]:
        return _shifted(today, match["unit"].lower(), -_number(match["n"]))
    return _shifted(today, match["unit2"].lower(), _number(match["m"]))


def _span(side: str, span: str, today: date) -> str:
    step = {"last": -1, "next": 1}.get(side, 0)
    if span in _SPANS:
        return _SPANS[span](today, step)
    return _on(_weekday(span, today, step or 1))


def _shifted(today: date, unit: str, count: int) -> str:
    if unit == "day":
        return _on(today + timedelta(days=count))
    return _SPANS[unit](today, count)


def _week(today: date, step: int) -> str:
    monday = today - timedelta(days=today.weekday()) + timedelta(weeks=step)
    return f"in the week of {monday.isoformat()}"


def _weekend(today: date, step: int) -> str:
    saturday = today - timedelta(days=today.weekday()) + timedelta(weeks=step, days=5)
    return f"on the weekend of {saturday.isoformat()}"


def _month(today: date, step: int) -> str:
    years, month = divmod(today.year * 12 + today.month - 1 + step, 12)
    return f"in {calendar.month_name[month + 1]} {years}"


def _year(today: date, step: int) -> str:
    return f"in {today.year + step}"


_SPANS: dict[str, Callable[[date, int], str]] = {
    "week": _week,
    "weekend": _weekend,
    "month": _month,
    "year": _year,
}


def _weekday(name: str, today: date, direction: int) -> date:
    """The date of the nearest weekday `name` strictly before (-1) or after (1) today."""
    wanted = [day.lower() for day in calendar.day_name].index(name.lower())
    ahead = (wanted - today.weekday()) % 7 or 7
    return today + timedelta(days=ahead if direction > 0 else (ahead - 7 or -7))


def _on(day: date) -> str:
    return f"on {day.isoformat()}"


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _NUMBERS[word.lower()]
