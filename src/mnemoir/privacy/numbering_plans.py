"""Phone numbers by the numbering plans of `phonenumbers`, whose parser is asked only for what may be one.

Its matcher parses each group of digits of a text, and for each region anew, in some forty microseconds. The digits
alone say of nearly all of them that no plan has them: by patterns that are put together here from the same plans.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from phonenumbers import COUNTRY_CODE_TO_REGION_CODE, PhoneMetadata, PhoneNumberMatch, PhoneNumberMatcher

_KINDS = (
    *("fixed_line", "mobile", "toll_free", "premium_rate", "shared_cost"),
    *("personal_number", "voip", "pager", "uan", "voicemail"),
)
_LEAST_DIGITS = 4  # of a number in any plan
_SHORTEST_ABROAD = 6  # digits of a number with an international prefix and a calling code
_LONGEST_CODE = 3  # digits of a calling code
_CAPTURING = re.compile(r"\((?!\?)")
_WITHOUT_PREFIX = re.compile(r"\(?\\1\)?")
_NO_DIGITS = re.compile(r"\D+")
_EXTENSION = re.compile(r"[^\d+＋ \u00a0\u00ad\u200b\u2060\u3000()（）［］.\[\]\-‐-―−ー－．／/⁓∼]\D*")
_KEYPAD = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "22233344455566677778889999")


class _Reading(NamedTuple):
    """What the digits of a candidate may say."""

    is_international: bool  # it begins with a +
    digits: Sequence[str] | None  # without and with an extension; None where they cannot tell


class _Candidate(NamedTuple):
    """A piece of a text that the matcher would parse."""

    text: str
    offset: int
    tries_left: int
    reading: _Reading


def phone_matches(text: str, regions: Sequence[str | None]) -> Iterator[PhoneNumberMatch]:
    """What the matcher of `phonenumbers` finds in a short text, for one region after another."""
    readings = _Readings()
    candidates = _Candidates(text, readings).collect()
    for region in regions:
        plan = _plan(region)
        for candidate in candidates:
            if plan.may_have(candidate.reading):
                matcher = _Matcher(text, region, readings)
                if match := matcher.parse(candidate.text, candidate.offset):
                    yield match
                    yield from matcher.behind(match, candidate.tries_left)
                    break


class _Matcher(PhoneNumberMatcher):
    """Parses only those candidates that may be valid."""

    def __init__(self, text: str, region: str | None, readings: "_Readings") -> None:
        super().__init__(text, region)
        self._plan, self._readings = _plan(region), readings

    def parse(self, candidate: str, offset: int) -> PhoneNumberMatch | None:
        return super()._parse_and_verify(candidate, offset)

    def behind(self, match: PhoneNumberMatch, tries_left: int) -> Iterator[PhoneNumberMatch]:
        """What follows a match."""
        self._search_index, self._max_tries = match.end, tries_left
        return iter(self)

    def _parse_and_verify(self, candidate: str, offset: int) -> PhoneNumberMatch | None:
        return self.parse(candidate, offset) if self._plan.may_have(self._readings[candidate]) else None


class _Candidates(PhoneNumberMatcher):
    """Notes what is parsed of a text before its first valid number, which is the same in all regions."""

    def __init__(self, text: str, readings: "_Readings") -> None:
        super().__init__(text, None, max_tries=len(text))
        self._readings = readings
        self._noted: list[_Candidate] = []

    def collect(self) -> Sequence[_Candidate]:
        self.has_next()
        return self._noted

    def _parse_and_verify(self, candidate: str, offset: int) -> PhoneNumberMatch | None:
        if len(candidate) >= _LEAST_DIGITS:
            self._noted.append(_Candidate(candidate, offset, self._max_tries, self._readings[candidate]))
        return None


class _Readings(dict[str, _Reading]):
    """The readings of candidates."""

    def __missing__(self, text: str) -> _Reading:
        extension = _EXTENSION.search(text)
        digits = [_NO_DIGITS.sub("", part) for part in (_with_extension(text, extension) if extension else (text,))]
        is_simple = digits and all(map(str.isascii, digits))
        self[text] = reading = _Reading("+" in text or "＋" in text, digits if is_simple else None)
        return reading


def _with_extension(text: str, extension: re.Match[str]) -> Sequence[str]:
    """Without an extension, and with it: with its digits alone, or with its letters as keys of a phone."""
    if _EXTENSION.search(text, extension.end()) or ("#" in text and ("/" in text or text[-1] == "#")):
        return ()  # it has further parts, or ends as `- 503#`
    return text[: extension.start()], text, text.upper().translate(_KEYPAD)


class _Country:
    """The numbers behind a calling code, which several regions may share."""

    def __init__(self, code: int) -> None:
        regions = COUNTRY_CODE_TO_REGION_CODE[code]
        found = (PhoneMetadata.metadata_for_region_or_calling_code(code, region) for region in regions)
        plans = [plan for plan in found if plan is not None]
        kinds = [kind for plan in plans for name in _KINDS if (kind := getattr(plan, name)) is not None]
        patterns = dict.fromkeys(kind.national_number_pattern for kind in kinds if kind.national_number_pattern)
        self.code = str(code)
        self.main_region = regions[0]
        general = [plan.general_desc for plan in plans if plan.general_desc is not None]
        self.lengths = frozenset(length for numbers in general for length in numbers.possible_length)
        self._has = re.compile("|".join(f"(?:{pattern})" for pattern in patterns)).fullmatch
        self._prefix = _prefix(plans[0])
        self._rewrites = bool(plans[0].national_prefix_transform_rule)

    def has(self, digits: str) -> bool:
        return len(digits) in self.lengths and self._has(digits) is not None

    def may_have(self, digits: str) -> bool:
        """True for its numbers, and for those with what is dialled before them within the country."""
        prefix = self._prefix(digits)
        if prefix and (self._rewrites or self.has(digits[prefix.end() :])):
            return True
        return self.has(digits)


@cache
def _country(code: int) -> _Country:
    return _Country(code)


def _country_of_number(digits: str) -> _Country | None:
    """The country whose calling code the digits begin with; None for no code."""
    for length in range(1, min(len(digits), _LONGEST_CODE) + 1):
        if digits[0] != "0" and int(digits[:length]) in COUNTRY_CODE_TO_REGION_CODE:
            return _country(int(digits[:length]))
    return None


class _Plan:
    """What can be dialled without saying where: numbers that begin with a +."""

    def may_have(self, reading: _Reading) -> bool:
        """False for what is no valid number."""
        if reading.digits is None:
            return True
        for digits in reading.digits:
            if reading.is_international and (country := _country_of_number(digits)):
                if country.may_have(digits[len(country.code) :]):
                    return True
            elif self.may_dial(digits):
                return True
        return False

    def may_dial(self, digits: str) -> bool:
        return False


class _RegionPlan(_Plan):
    """What can be dialled in a region."""

    def __init__(self, region: str) -> None:
        plan = PhoneMetadata.metadata_for_region(region)
        assert plan is not None
        assert plan.country_code is not None
        self._country = _country(plan.country_code)
        self._abroad = re.compile(plan.international_prefix or "(?!)").match
        self._prefix = _prefix(plan)
        self._rewrites = bool(plan.national_prefix_transform_rule)
        self._form = _form(plan)
        self._is_main = region == self._country.main_region
        self._shortest = 0 if self._rewrites else min(self._country.lengths)

    def may_dial(self, digits: str) -> bool:
        if len(digits) < self._shortest and len(digits) < _SHORTEST_ABROAD:
            return False
        abroad = self._abroad(digits)
        if abroad and digits[abroad.end() : abroad.end() + 1] != "0":
            return self._may_be_abroad(digits[abroad.end() :])
        if len(digits) < self._shortest:
            return False
        country, prefix = self._country, self._prefix(digits)
        if prefix:
            if self._rewrites or country.has(digits[prefix.end() :]) or country.has(digits):
                return True
        elif (
            len(digits) in country.lengths
            and not (self._is_main and self._needs_prefix(digits))
            and country.has(digits)
        ):
            return True
        return digits.startswith(country.code) and self._may_be_called(digits[len(country.code) :])

    def _may_be_abroad(self, digits: str) -> bool:
        country = _country_of_number(digits)
        return country is not None and country.may_have(digits[len(country.code) :])

    def _may_be_called(self, digits: str) -> bool:
        """True for what may stand behind the calling code of the region itself."""
        prefix = self._prefix(digits)
        if prefix and (self._rewrites or self._country.may_have(digits[prefix.end() :])):
            return True
        return self._country.may_have(digits)

    def _needs_prefix(self, digits: str) -> bool:
        """True where a number is always written with its prefix: without it, the matcher takes it for none."""
        form = self._form(digits)
        return form is not None and form.lastindex is None


def _prefix(plan: PhoneMetadata) -> Callable[[str], re.Match[str] | None]:
    """Matches what is dialled before a number within a country, such as the 0 of 030."""
    return re.compile(plan.national_prefix_for_parsing or "(?!)").match


def _form(plan: PhoneMetadata) -> Callable[[str], re.Match[str] | None]:
    """Matches a number in the first form in which it can be written; the match has a group if without prefix."""
    forms = []
    for form in plan.number_format:
        rule = form.national_prefix_formatting_rule
        is_free = not rule or form.national_prefix_optional_when_formatting or _WITHOUT_PREFIX.fullmatch(rule)
        begins = f"(?={form.leading_digits_pattern[-1]})" if form.leading_digits_pattern else ""
        whole = _CAPTURING.sub("(?:", f"{begins}{form.pattern}")
        forms.append(f"{whole}()" if is_free else f"(?:{whole})")
    return re.compile("|".join(forms) or "(?!)").fullmatch


@cache
def _plan(region: str | None) -> _Plan:
    return _Plan() if region is None else _RegionPlan(region)
