"""Cues that a query names beside its words: dates and speakers.

Calendar ranges are resolved against the time of asking: "on 8 May 2023", "in May", "last summer", "two weeks ago",
"yesterday". A date without its year may mean any year of the history, so all are tried. Expressions are matched in
a fixed order, and matched text is not matched again: "May 8th" is not also the month of May.

People talk of themselves in the first person, and are asked about in the third. So a query that names a participant
is put into the first person before it is embedded ("Where does Caroline work?" → "Where do I work?"), the name is
removed from its search words, and rows of that speaker gain.
"""

import calendar
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial

from mnemoir.core import first_use
from mnemoir.search import stop_words

_MONTHS = {
    **{name.lower(): number for number, name in enumerate(calendar.month_name) if name},
    **{name.lower(): number for number, name in enumerate(calendar.month_abbr) if name},
    "sept": 9,
}
_WEEKDAYS = {name.lower(): number for number, name in enumerate(calendar.day_name)}
_SEASONS = {"spring": (3, 5), "summer": (6, 8), "fall": (9, 11), "autumn": (9, 11), "winter": (12, 2)}
_COUNTS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "couple of": 2,
    "a couple of": 2,
    "three": 3,
    "a few": 3,
    "few": 3,
    "four": 4,
}
_COUNTS |= {"five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "several": 4}
_UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}

_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_WEEKDAY = "|".join(_WEEKDAYS)
_COUNT = r"\d{1,4}|" + "|".join(sorted(_COUNTS, key=len, reverse=True))
_AMBIGUOUS_MONTHS = {
    "may",
    "mar",
    "dec",
    "march",
}  # ambiguous words: only with a capital or a preposition
_MOST_YEARS = 60
_SHORTEST_FIRST_NAME = 3
_FIRST_PERSON = (
    (r"\bdoes I\b", "do I"),
    (r"\bis I\b", "am I"),
    (r"\bhas I\b", "have I"),
    (r"\bI does\b", "I do"),
    (r"\bI is\b", "I am"),
    (r"\bI has\b", "I have"),
    (r"\b(?:his|her|their)\b", "my"),
    (r"\b(?:he|she)\b", "I"),
    (r"\b(?:him|herself|himself)\b", "me"),
)
_BEHIND_OBJECTS = "to|in|at|on|for|from|with|by|of|about|and|or|if|when|as|up|out|back|not|most|much"
_AS_OWN = (  # before _FIRST_PERSON, which was written for one person with a name
    (r"\b(?:does|do) (?:she|he|they)\b", "do I"),
    (r"\b(?:is|are) (?:she|he|they)\b", "am I"),
    (r"\b(?:has|have) (?:she|he|they)\b", "have I"),
    (r"\bwere they\b", "was I"),
    (r"\b(?:she|he|they) (?:is|are)\b", "I am"),
    (r"\b(?:she|he|they) (?:has|have)\b", "I have"),
    (r"\bthey\b", "I"),
    (rf"\bher(?! (?:{_BEHIND_OBJECTS})\b)(?= \w)", "my"),
    (r"\b(?:her|them|themselves)\b", "me"),
)
_THIRD_PERSON = first_use.pattern(
    r"\b(?:she|he|they|her|him|his|them|their|herself|himself|themselves)\b", re.IGNORECASE
)
_RELATIONS = (
    "mother|mom|mum|father|dad|parents?|sisters?|brothers?|siblings?|wife|husband|spouse|partner|girlfriend|boyfriend"
    "|fianc[eé]e?|daughters?|sons?|child|children|kids?|baby|babies|twins?|aunts?|uncles?|cousins?|nieces?|nephews?"
    "|grand(?:mother|father|ma|pa|parents?|sons?|daughters?|child|children)|in-laws?|family|friends?|boss|manager"
    "|colleagues?|coworkers?|co-workers?|neighbou?rs?|room-?mates?|flat-?mates?|teachers?|doctors?|dentists?"
    "|therapists?|landlord|landlady|tenants?|clients?|dogs?|cats?|pets?|pupp(?:y|ies)|kittens?|horses?|rabbits?|birds?"
)
# A relation somebody has, or a name: a capital inside a sentence that is no month, no weekday and not "I".
_DATED = "|".join(name.title() for name in (*_MONTHS, *_WEEKDAYS))
_RELATED = rf"(?:my|your|our|the|an?|her|his|their) (?:{_RELATIONS})"
_SOMEBODY = first_use.pattern(rf"\b(?i:{_RELATED})\b|(?<=[\w,;] )(?!(?:{_DATED})\b)[A-Z][a-z]+")


@dataclass(frozen=True, slots=True)
class Span:
    """Days from `first` to `last`, both included."""

    first: date
    last: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar:
    """The reference for dates: the day of the query, and the years that the history covers."""

    today: date
    years: Sequence[int]


def named_spans(query: str, when: Calendar) -> list[Span]:
    """All ranges the query names; [] when it names none, or none that a calendar holds."""
    rest, spans = query, []
    for pattern, resolve in _EXPRESSIONS:
        for match in pattern.finditer(rest):
            spans += _possible(resolve, match, when)
        rest = pattern.sub(" ", rest)
    return spans


def _possible(resolve: "_Resolve", match: re.Match[str], when: Calendar) -> list[Span]:
    """The spans that `resolve` makes of a match, without impossible dates (30 February, 9000 years ago)."""
    out = []
    for attempt in resolve(match, when):
        try:
            out.append(attempt())
        except (ValueError, OverflowError):
            continue
    return out


_Attempt = Callable[[], Span]
_Resolve = Callable[[re.Match[str], Calendar], Iterator[_Attempt]]


def _years(match: re.Match[str], when: Calendar) -> Sequence[int]:
    return [int(match["year"])] if match["year"] else when.years[-_MOST_YEARS:]


def _day(year: int, month: int, day: int) -> Span:
    exact = date(year, month, day)
    return Span(exact, exact)


def _month(year: int, month: int) -> Span:
    return Span(date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1]))


def _months(year: int, first: int, last: int) -> Span:
    """The span of some months; a `last` before `first` lies in the next year."""
    return Span(date(year, first, 1), _month(year + (last < first), last).last)


def _iso_day(match: re.Match[str], when: Calendar) -> Iterator[_Attempt]:
    yield lambda: _day(int(match["year"]), int(match["month"]), int(match["day"]))


def _slashed_day(match: re.Match[str], when: Calendar) -> Iterator[_Attempt]:
    """Both readings of 5/8/2023: May 8th and August 5th."""
    one, other, year = int(match["one"]), int(match["other"]), int(match["year"])
    for month, day in dict.fromkeys([(one, other), (other, one)]):
        yield partial(_day, year, month, day)


def _named_day(match: re.Match[str], when: Calendar) -> Iterator[_Attempt]:
    month, day = _MONTHS[match["month"].lower()], int(match["day"])
    for year in _years(match, when):
        yield partial(_day, year, month, day)


def _named_month(match: re.Match[str], when: Calendar) -> Iterator[_Attempt]:
    name = match["month"]
    if name.lower() in _AMBIGUOUS_MONTHS and not (match["year"] or match["before"]):
        return
    for year in _years(match, when):
        yield partial(_month, year, _MONTHS[name.lower()])


def _season(match: re.Match[str], when: Calendar) -> Iterator[_Attempt]:
    months = _SEASONS[match["season"].lower()]
    for year in [_last_began(months[0], when.today)] if match["last"] else _years(match, when):
        yield partial(_months, year, *months)


def _last_began(month: int, today: date) -> int:
    """The year in which the latest season that is over, or nearly, began."""
    return today.year if month + 2 < today.month else today.year - 1


def _whole_year(match: re.Match[str], when: Calendar) -> Iterator[_Attempt]:
    yield lambda: Span(date(int(match["year"]), 1, 1), date(int(match["year"]), 12, 31))


def _days_back(first: int, last: int) -> _Resolve:
    def resolve(match: re.Match[str], when: Calendar) -> Iterator[_Attempt]:
        yield lambda: Span(when.today - timedelta(days=first), when.today - timedelta(days=last))

    return resolve


def _ago(match: re.Match[str], when: Calendar) -> Iterator[_Attempt]:
    """A span around the time, since "three weeks ago" is rarely exact."""
    days = _number_from(match["count"]) * _UNIT_DAYS[match["unit"].lower()]
    slack = _UNIT_DAYS[match["unit"].lower()] // 2
    yield lambda: Span(when.today - timedelta(days=days + slack), when.today - timedelta(days=max(0, days - slack)))


def _past(match: re.Match[str], when: Calendar) -> Iterator[_Attempt]:
    """A span up to now, as in "the last three days", "the past two months"."""
    days = _number_from(match["count"]) * _UNIT_DAYS[match["unit"].lower()]
    yield lambda: Span(when.today - timedelta(days=days), when.today)


def _week(match: re.Match[str], when: Calendar) -> Iterator[_Attempt]:
    back = 7 if match["which"].lower() != "this" else 0
    monday = when.today - timedelta(days=when.today.weekday() + back)
    first = 5 if match["unit"].lower() == "weekend" else 0
    yield lambda: Span(monday + timedelta(days=first), monday + timedelta(days=6))


def _calendar_month(match: re.Match[str], when: Calendar) -> Iterator[_Attempt]:
    back = 1 if match["which"].lower() != "this" else 0
    number = when.today.year * 12 + when.today.month - 1 - back
    yield lambda: _month(number // 12, number % 12 + 1)


def _calendar_year(match: re.Match[str], when: Calendar) -> Iterator[_Attempt]:
    year = when.today.year - (1 if match["which"].lower() != "this" else 0)
    yield lambda: Span(date(year, 1, 1), date(year, 12, 31))


def _weekday(match: re.Match[str], when: Calendar) -> Iterator[_Attempt]:
    """The latest such weekday before today; today counts with "this" and "on"."""
    back = (when.today.weekday() - _WEEKDAYS[match["weekday"].lower()]) % 7
    if back == 0 and match["which"].lower() not in ("this", "on"):
        back = 7
    yield lambda: Span(when.today - timedelta(days=back), when.today - timedelta(days=back))


def _number_from(text: str) -> int:
    return int(text) if text.isdigit() else _COUNTS[" ".join(text.lower().split())]


def _expression(pattern: str, resolve: _Resolve) -> tuple[re.Pattern[str], _Resolve]:
    return first_use.pattern(pattern, re.IGNORECASE), resolve


_YEAR = r"(?P<year>(?:19|20)\d\d)"
_LAST = r"(?P<which>last|past|previous|this)"
_EXPRESSIONS = (
    _expression(rf"\b{_YEAR}-(?P<month>\d\d?)-(?P<day>\d\d?)\b", _iso_day),
    _expression(rf"\b(?P<one>\d\d?)/(?P<other>\d\d?)/{_YEAR}\b", _slashed_day),
    _expression(
        rf"\b(?P<day>\d\d?)(?:st|nd|rd|th)?\.?(?:\s+of)?\s+(?P<month>{_MONTH})\b\.?,?(?:\s*{_YEAR}\b)?", _named_day
    ),
    _expression(
        rf"\b(?P<month>{_MONTH})\b\.?\s+(?:the\s+)?(?P<day>\d\d?)(?:st|nd|rd|th)?\b(?:,?\s*{_YEAR}\b)?", _named_day
    ),
    _expression(
        rf"(?P<before>\b(?:in|of|during|by|early|late|mid|since|until|before|after|around|last|this)[\s-]+)?"
        rf"\b(?P<month>{_MONTH})\b\.?,?(?:\s*(?:of\s+)?{_YEAR}\b)?",
        _named_month,
    ),
    _expression(rf"\b(?P<last>last\s+)?(?P<season>{'|'.join(_SEASONS)})\b(?:\s+(?:of\s+)?{_YEAR}\b)?", _season),
    _expression(r"\b(?:the\s+)?day before yesterday\b", _days_back(2, 2)),
    _expression(r"\b(?:yesterday|last night)\b", _days_back(1, 1)),
    _expression(r"\b(?:today|tonight|this (?:morning|afternoon|evening|noon))\b", _days_back(0, 0)),
    _expression(r"\b(?:the other day|recently|lately)\b", _days_back(10, 0)),
    _expression(rf"\b(?P<count>{_COUNT})\s+(?P<unit>day|week|month|year)s?\s+(?:ago|before|earlier|back)\b", _ago),
    _expression(rf"\b(?:last|past|previous)\s+(?P<count>{_COUNT})\s+(?P<unit>day|week|month|year)s?\b", _past),
    _expression(rf"\b{_LAST}\s+(?P<unit>weekend|week)\b", _week),
    _expression(rf"\b{_LAST}\s+month\b", _calendar_month),
    _expression(rf"\b{_LAST}\s+year\b", _calendar_year),
    _expression(rf"\b(?P<which>last|this|past|on)\s+(?P<weekday>{_WEEKDAY})\b", _weekday),
    _expression(rf"\b{_YEAR}\b", _whole_year),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Addressed:
    """A query with its participants: `spoken` puts them in the first person, `bare` leaves their names out."""

    names: tuple[str, ...]
    spoken: str
    bare: str


def address(query: str, speakers: Sequence[str]) -> Addressed:
    """Find which of `speakers` (longest name first) the query names, in full or by first name."""
    names, spoken, bare = [], query, query
    lowered = query.lower()
    for speaker in speakers:
        pattern = next((p for p in map(_pattern, _names_of(speaker, lowered)) if p.search(query)), None)
        if pattern is None:
            continue
        names.append(speaker)
        spoken = re.sub(pattern.pattern + r"(?:['’]s?)(?!\w)", "my", spoken, flags=pattern.flags)
        spoken = pattern.sub("I", spoken)
        bare = pattern.sub(" ", bare)
    if not names:
        return Addressed(names=(), spoken=query, bare=query)
    for found, instead in _FIRST_PERSON:
        spoken = re.sub(found, instead, spoken, flags=re.IGNORECASE)
    return Addressed(names=tuple(names), spoken=" ".join(spoken.split()), bare=bare)


def as_own(query: str, before: Sequence[str] = ()) -> str:
    """The query as its user would ask it, if "she", "he" or "they" in it can only be the user; "" otherwise.

    A program that knows its user asks "Where does she work?". Somebody else is meant where the query speaks of a
    person before the pronoun, or what was said just `before` it does: by a name, or as a relation ("my sister").
    """
    pronouns = list(_THIRD_PERSON.finditer(query))
    if not pronouns or any(_SOMEBODY.search(text) for text in before):
        return ""
    other = _SOMEBODY.search(query)
    if other is not None and other.end() < pronouns[-1].start():
        return ""
    for found, instead in (*_AS_OWN, *_FIRST_PERSON):
        query = re.sub(found, instead, query, flags=re.IGNORECASE)
    return query


def _names_of(speaker: str, lowered_query: str) -> list[str]:
    """The names of the speaker that occur in the query as substrings: a cheap first test."""
    first = speaker.split()[0] if speaker.strip() else ""
    usable = [speaker.strip()] + ([first] if len(first) >= _SHORTEST_FIRST_NAME else [])
    return [name for name in dict.fromkeys(usable) if name and name.lower() in lowered_query]


def _pattern(name: str) -> re.Pattern[str]:
    """The name as a whole word; in scripts without spaces, anywhere. A name like Will needs its capital."""
    edged = rf"(?<!\w){re.escape(name)}(?!\w)" if name.isascii() or " " in name else re.escape(name)
    return first_use.pattern(edged, 0 if name.lower() in stop_words.ENGLISH else re.IGNORECASE)
