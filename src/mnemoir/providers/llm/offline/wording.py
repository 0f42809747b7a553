"""Wording of English statements: verbs in the third person, and absolute dates instead of relative ones.

"row every morning" becomes "rows every morning". "yesterday" means nothing a week later: days become `2026-03-03`,
weeks the week of their Monday, months and years their own names. Absolute dates stay unchanged.
"""

import calendar
import re
from collections.abc import Callable
from datetime import date, timedelta

_IRREGULAR = {
    "am": "is",
    "have": "has",
    "do": "does",
    "go": "goes",
    "don't": "doesn't",
    "haven't": "hasn't",
    "aren't": "isn't",
    "are": "is",
}
_SAME = frozenset(
    re.findall(
        r"\S+",
        """
        can cannot can't could will won't would should must may might was were had did didn't is has does used
        became began bought broke brought built came caught chose did drew drank drove ate fell felt fought found flew
        forgot gave got grew heard held kept knew left lent lost made met paid put quit ran rang rode rose said sang
        sat saw sent shot slept sold spent spoke stood stole swam taught thought threw told took understood went woke
        won wore wrote hurt cut let set read hit cost beat bit blew dug hid hung laid led meant rebuilt retook shook
        spread stuck swore tore wound withdrew underwent
        """,
    )
)
_ADVERBS = frozenset(
    re.findall(
        r"\S+",
        """
        usually always often never rarely normally typically generally sometimes regularly seldom really
        also mostly mainly currently still only just actually absolutely especially particularly totally
        truly barely hardly recently already basically simply definitely strongly occasionally frequently
        """,
    )
)
_PRESENT_ALTHOUGH_ED = frozenset({"need", "feed", "breed", "speed", "bleed", "embed", "shed", "wed", "heed", "weed"})
_PAST_AND_PRESENT = frozenset({"read", "put", "let", "set", "cut", "hit", "hurt", "quit", "spread", "cost", "beat"})
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


def third_person(phrase: str) -> str:
    """The third-person form of `phrase`, a text that follows "I"; leading adverbs keep their position.

    A past form stays; verbs such as "read", which show no tense, are treated as present.
    """
    words = phrase.split()
    at = next((i for i, word in enumerate(words) if word.lower() not in _ADVERBS), len(words))
    if at < len(words):
        words[at] = _third(words[at])
    return " ".join(words)


def is_past(verb: str) -> bool:
    """True when the spelling of `verb` shows a past form."""
    low = verb.lower()
    return (low.endswith("ed") and low not in _PRESENT_ALTHOUGH_ED) or (low in _SAME and low not in _MODAL_LIKE)


def skip_adverbs(phrase: str) -> str:
    """`phrase` without its leading adverbs."""
    words = phrase.split()
    at = next((i for i, word in enumerate(words) if word.lower() not in _ADVERBS), len(words))
    return " ".join(words[at:])


_MODAL_LIKE = _PAST_AND_PRESENT | frozenset(
    re.findall(r"\S+", "can cannot can't could will won't would should must may might is has does")
)


def _third(verb: str) -> str:
    low = verb.lower()
    if low in _IRREGULAR:
        return _IRREGULAR[low]
    if (low in _SAME and low not in _PAST_AND_PRESENT) or is_past(low):
        return low
    if low.endswith(("s", "sh", "ch", "x", "z", "o")):
        return f"{low}es"
    if low.endswith("y") and low[-2:-1] not in "aeiou":
        return f"{low[:-1]}ies"
    return f"{low}s"


_MONTH = "|".join(calendar.month_name[1:])
_CALENDAR = re.compile(
    rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTH})|(?:{_MONTH}) \d{{1,4}}|"
    rf"(?:in|by|until|late|early|mid) (?:{_MONTH})|"
    r"\d{4}-\d\d-\d\d|in \d{4}|(?:in|this|next) (?:the )?(?:spring|summer|autumn|fall|winter))\b",
    re.IGNORECASE,
)


def has_date(text: str) -> bool:
    """True when `text` contains a date relative to the day it was said."""
    return _EXPRESSION.search(text) is not None


def names_day(text: str) -> bool:
    """True when `text` says when something happens: by a relative date, a month, a date or a season."""
    return has_date(text) or _CALENDAR.search(text) is not None


def with_absolute_dates(text: str, today: date, *, past: bool) -> str:
    """`text` with every relative date made absolute; a bare weekday is the last one if `past`, else the next."""
    return _EXPRESSION.sub(lambda match: _absolute(match, today, past), text)


def _absolute(match: re.Match[str], today: date, past: bool) -> str:
    try:
        return _resolved_date(match, today, past)
    except OverflowError:
        return match[0]  # beyond the calendar: keep the words


def _resolved_date(match: re.Match[str], today: date, past: bool) -> str:
    if match["offset"]:
        return _on(today + timedelta(days=_OFFSETS[match["offset"].lower()]))
    if match["side"]:
        return _span(match["side"].lower(), match["span"].lower(), today)
    if match["weekday"]:
        return _on(_weekday(match["weekday"], today, -1 if past else 1))
    if match["unit"]:
        return _shifted_date(today, match["unit"].lower(), -_number(match["n"]))
    return _shifted_date(today, match["unit2"].lower(), _number(match["m"]))


def _span(side: str, span: str, today: date) -> str:
    step = {"last": -1, "next": 1}.get(side, 0)
    if span in _SPANS:
        return _SPANS[span](today, step)
    return _on(_weekday(span, today, step or 1))


def _shifted_date(today: date, unit: str, count: int) -> str:
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
