"""Numbers with check digits: payment cards, bank accounts, tax and national ids.

A number may be written in groups. Beside it may stand other digits, such as a date, so each sequence of groups is
tried, the longest first.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import accumulate, count
from pkgutil import iter_modules
from string import ascii_uppercase
from typing import Any

from mnemoir.core import first_use
from mnemoir.core.errors import SettingsError
from mnemoir.privacy.id_forms import FORMS

Span = tuple[int, int]  # the first character, and the one behind the last

_CARD = first_use.pattern(r"(?<![\w.,+])\d{3,19}(?:[ -]\d{3,19}){0,8}(?:[ -]\d{1,2})?(?![.,]?\d|\w)")
_IBAN = first_use.pattern(r"\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,40}", re.IGNORECASE)
_ID = first_use.pattern(  # not behind the calling code of a phone number
    r"(?<![\w@+])(?<!\+\d[ -])(?<!\+\d\d[ -])(?<!\+\d\d\d[ -])"
    r"(?:[A-Z]{1,6}[ .-]?)?[A-Z]{0,6}\d\w*(?:[ ./-]{1,2}\w*\d\w*)*(?:[ .-]?[A-Z]\b)?"
)
_DATE = first_use.pattern(r"(?:19|20)\d\d([-./])\d\d?\1\d\d?|\d\d?([-./])\d\d?\2(?:19|20)\d\d")
_IBAN_DIGITS = {ord(letter): str(int(letter, 36)) for letter in ascii_uppercase}
_ANY_DIGIT = str.maketrans("123456789", "000000000")
_NOT_ONLY_DIGITS = first_use.pattern(r"[^\W0-9]")
_GROUP = first_use.pattern(r"\w+")
_WORD = first_use.pattern(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*", re.UNICODE)
_CARD_LENGTHS, _IBAN_LENGTHS, _ID_LENGTHS = range(13, 20), range(15, 35), range(7, 21)  # without separators
_LEAST_DIGITS = 6  # of an id
_MOST_GROUPS = 8
_MOST_TRIED = 2_000  # sequences of a text that are tried as ids: each rule takes some microseconds
_TELLING_DIGITS = 7  # an id with letters and this many digits needs no name beside it
_WORDS_BESIDE = 5
_BESIDE = 80  # characters on each side in which these words are looked for
_PERSONAL = first_use.pattern(
    r"personal|identi|individual|tax|vat|social|citizen|foreigner|health|insurance|passport|pupil|student|voter", re.I
)
_OF_FIRMS = first_use.pattern(
    r"company|business|employer|preparer|bank|register|economic|invoice|buyer|drug|real estate|excise|routing"
    r"|establish",
    re.I,
)
_NAMES = first_use.pattern(
    r"""\b(?:social\ security|ssn|tax\ ?(?:id|payer|number|identification)|national\ (?:id|insurance|identity)
    |identity\ (?:card|number)|id\ (?:card|number)|personal\ (?:id|number)|passport|vat
    |steuer\W?id\w*|steuer(?:nummer|identifikationsnummer)|sozialversicherungs\w+|versicherungsnummer|ust\W?id\w*
    |umsatzsteuer\w*|personalausweis\w*|ausweisnummer|reisepass\w*
    |contribuinte|s[ée]curit[ée]\ sociale|s[ée]cu
    |num[ée]ro\ fiscal|num[ée]ro\ de\ tva|tva|passeport|carte\ d.identit[ée]
    |seguridad\ social|n[úu]mero\ fiscal|documento\ de\ identidad|pasaporte|iva
    |codice\ fiscale|partita\ iva|tessera\ sanitaria|passaporto)\b""",
    re.IGNORECASE | re.VERBOSE,
)


def card_spans(text: str) -> Iterator[Span]:
    """Numbers of payment cards: 13 to 19 digits with an issuer's prefix and a right check digit."""
    return _valid_spans(text, _CARD, _CARD_LENGTHS, _is_card)


def iban_spans(text: str) -> Iterator[Span]:
    """Numbers of bank accounts (ISO 13616), of the length and structure of their country."""
    return _valid_spans(text, _IBAN, _IBAN_LENGTHS, _is_iban)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _IdRule:
    """Ids of one kind: their check, their form, and the names by which people call them."""

    is_valid: Callable[[str], bool]
    form: re.Pattern[str]
    names: re.Pattern[str]


def id_spans(text: str, countries: Sequence[str]) -> Iterator[Span]:
    """Tax and national ids of these countries. A bare number needs its name within five words."""
    if not _NOT_ONLY_DIGITS.search(text):
        return  # no names, and no letters to tell by
    is_id = _id_check(text, tuple(countries))
    for run in _ID.finditer(text):
        if sum(map(str.isdigit, run[0])) >= _LEAST_DIGITS and not _DATE.fullmatch(run[0]):
            yield from _windows(text, run.span(), _ID_LENGTHS, is_id)


def _id_check(text: str, countries: tuple[str, ...]) -> Callable[[str, Span], bool]:
    """Tells the ids of a text, by the cheapest checks first."""
    rules, has_form, has_name = rules_of(countries)
    has_words = bool(_WORD.search(text))
    tried = count()

    @cache
    def of_form(form: str) -> Sequence[_IdRule]:
        return [rule for rule in rules if rule.form.fullmatch(form)]

    @cache
    def before(start: int) -> str:
        return " ".join(_WORD.findall(text, max(0, start - _BESIDE), start)[-_WORDS_BESIDE:])

    @cache
    def behind(end: int) -> str:
        return " ".join(_WORD.findall(text, end, end + _BESIDE)[:_WORDS_BESIDE])

    @cache
    def rules_for(words: str) -> Collection[_IdRule]:
        if _NAMES.search(words):
            return frozenset(rules)
        return frozenset(rule for rule in rules if rule.names.search(words)) if has_name(words) else ()

    def is_id(found: str, span: Span) -> bool:
        if next(tried) >= _MOST_TRIED or not (has_words or not found.isdigit()):
            return False
        if not found.isascii():  # each rule reads these letters and digits in its own way
            fitting: Sequence[_IdRule] = rules
        elif has_form(found):
            fitting = of_form(found.translate(_ANY_DIGIT))
        else:
            return False
        if _is_telling(found) and any(_passes(rule, found) and _has_check_digit(rule, found) for rule in fitting):
            return True
        called = rules_for(f"{before(span[0])} / {behind(span[1])}".lower())
        return any(_passes(rule, found) for rule in fitting if rule in called)

    return is_id


def _passes(rule: _IdRule, found: str) -> bool:
    try:
        return rule.is_valid(found)
    except ValueError:  # some checks do not expect the digits of other scripts
        return False


def _has_check_digit(rule: _IdRule, found: str) -> bool:
    """False where an id with another digit is one as well: then only its form says that it is one."""
    at = next(at for at, char in enumerate(found) if char.isdigit())
    return not _passes(rule, f"{found[:at]}{(int(found[at]) + 1) % 10}{found[at + 1 :]}")


def _is_telling(found: str) -> bool:
    """True for an id with letters and so many digits that its check digit is enough."""
    return _TELLING_DIGITS <= sum(map(str.isdigit, found)) < len(found)


@cache
def rules_of(
    countries: tuple[str, ...],
) -> tuple[Sequence[_IdRule], Callable[[str], object], Callable[[str], object]]:
    """The rules of countries, what matches the form of any of their ids, and what finds the name of any."""
    rules = [rule for country in countries for rule in _rules(country)]
    forms = "|".join(dict.fromkeys(rule.form.pattern for rule in rules))
    names = "|".join(dict.fromkeys(rule.names.pattern for rule in rules))
    return rules, first_use.pattern(forms, re.IGNORECASE).fullmatch, first_use.pattern(names).search


def check_countries(countries: Sequence[str]) -> None:
    """Raise SettingsError for a country without rules of its own."""
    for country in countries:
        _rules(country)


def _valid_spans(text: str, runs: re.Pattern[str], lengths: range, is_valid: Callable[[str], bool]) -> Iterator[Span]:
    for run in runs.finditer(text):
        yield from _windows(text, run.span(), lengths, lambda found, _: is_valid(found))


def _windows(text: str, run: Span, lengths: range, is_valid: Callable[[str, Span], bool]) -> Iterator[Span]:
    """The longest valid sequences of groups within a run, from its beginning on, of these lengths."""
    if run[1] - run[0] < lengths.start:
        return
    groups = [found.span() for found in _GROUP.finditer(text, *run)]
    joined = "".join(text[a:b] for a, b in groups)
    begins = [0, *accumulate(b - a for a, b in groups)]  # of each group within what is joined
    first = 0
    while first < len(groups):
        begin = begins[first]
        for last in range(min(len(groups), first + _MOST_GROUPS), first, -1):
            if begins[last] - begin not in lengths:
                continue
            span = groups[first][0], groups[last - 1][1]
            if is_valid(joined[begin : begins[last]], span):
                yield span
                first = last
                break
        else:
            first += 1


def _is_iban(raw: str) -> bool:
    found = raw.upper()
    if not 15 <= len(found) <= 34 or not (found[:2].isalpha() and found[2:4].isdecimal() and found.isascii()):
        return False
    if int((found[4:] + found[:4]).translate(_IBAN_DIGITS)) % 97 != 1:
        return False
    from stdnum import iban

    return bool(iban.is_valid(found, check_country=False))


def _is_card(digits: str) -> bool:
    """True for a known issuer's number whose check digit (ISO/IEC 7812-1) fits; a run of one digit is no card."""
    if not (digits.isdecimal() and digits.isascii() and len(digits) in _lengths(digits) and len(set(digits)) > 1):
        return False
    doubled = [sum(divmod(int(d) * 2, 10)) if at % 2 else int(d) for at, d in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0


def _lengths(digits: str) -> Sequence[int]:
    """The lengths of the numbers of the issuer with this prefix; none for an unknown one."""
    two, three, four = int(digits[:2]), int(digits[:3]), int(digits[:4])
    if two in (34, 37):
        return (15,)
    if three in range(300, 306) or two in (36, 38, 39):
        return range(14, 20)
    if 51 <= two <= 55 or 2200 <= four <= 2204 or 2221 <= four <= 2720:
        return (16,)
    if digits[0] == "4":
        return (13, 16, 19)
    if 3528 <= four <= 3589 or two in (50, 56, 57, 58) or digits[0] == "6":
        return range(16, 20)
    return ()


@cache
def _rules(country: str) -> Sequence[_IdRule]:
    """The rules of a country, by its ISO code. Raises SettingsError when there are none."""
    name = {"in": "in_", "is": "is_", "do": "do", "el": "gr"}.get(country.lower(), country.lower())
    try:
        package = import_module(f"stdnum.{name}") if re.fullmatch(r"[a-z]{2}_?", name) else None
    except ImportError:
        package = None
    if package is None:
        raise SettingsError(
            f"pii.countries names {country!r}, for which there are no rules of tax and national ids. "
            "Give ISO codes of countries, such as DE, ES, FR, IT, US, or leave it out."
        )
    modules = (import_module(f"{package.__name__}.{each.name}") for each in iter_modules(package.__path__))
    return [rule for module in modules if (rule := _rule(module)) is not None]


def _rule(module: Any) -> _IdRule | None:
    """The rule of a module of ids; None for ids of firms and of things."""
    title = (module.__doc__ or "").strip().splitlines()[0]
    if not hasattr(module, "is_valid") or not _PERSONAL.search(title) or _OF_FIRMS.search(title):
        return None
    own_words = title.partition("(")[2].partition(",")[0].rstrip(").")
    called = {module.__name__.rpartition(".")[2], *re.findall(r"\b[A-Z]{3,}\b", title), own_words}
    names = "|".join(re.escape(name.lower()) for name in sorted(called) if len(name) > 2)
    form = FORMS.get(module.__name__.removeprefix("stdnum."), ".*")
    return _IdRule(
        is_valid=module.is_valid,
        form=first_use.pattern(form, re.IGNORECASE),
        names=first_use.pattern(rf"\b(?:{names})\b"),
    )
