"""Numbers with check digits: payment cards, bank accounts, tax and national ids.

A number may be written in groups. Beside it may stand other digits, such as a date, so each sequence of groups is
tried, the longest first.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import count
from pkgutil import iter_modules
from typing import Any

from mnemoir.core.errors import SettingsError

Span = tuple[int, int]  # the first character, and the one behind the last

_CARD = re.compile(r"(?<![\w.,+])\d{3,19}(?:[ -]\d{3,19}){0,8}(?:[ -]\d{1,2})?(?![.,]?\d|\w)")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,40}", re.IGNORECASE)
_ID = re.compile(r"(?<![\w@])(?:[A-Z]{1,6}[ .-]?)?[A-Z]{0,6}\d\w*(?:[ ./-]{1,2}\w*\d\w*)*(?:[ .-]?[A-Z]\b)?")
_DATE = re.compile(r"(?:19|20)\d\d([-./])\d\d?\1\d\d?|\d\d?([-./])\d\d?\2(?:19|20)\d\d")
_GROUP = re.compile(r"\w+")
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*", re.UNICODE)
_SHORTEST_ID, _LONGEST_ID = 7, 20  # characters without separators
_MOST_GROUPS = 8
_MOST_TRIED = 2_000  # sequences of a text that are tried as ids: each rule takes some microseconds
_TELLING_DIGITS = 7  # an id with letters and this many digits needs no name beside it
_WORDS_BESIDE = 5
_BESIDE = 80  # characters on each side in which these words are looked for
_PERSONAL = re.compile(
    r"personal|identi|individual|tax|vat|social|citizen|foreigner|health|insurance|passport|pupil|student|voter", re.I
)
_OF_FIRMS = re.compile(
    r"company|business|employer|preparer|bank|register|economic|invoice|buyer|drug|real estate|excise|routing"
    r"|establish",
    re.I,
)
_NAMES = re.compile(
    r"""\b(?:social\ security|ssn|tax\ ?(?:id|payer|number|identification)|national\ (?:id|insurance|identity)
    |identity\ (?:card|number)|id\ (?:card|number)|personal\ (?:id|number)|passport|vat
    |steuer\W?id\w*|steuer(?:nummer|identifikationsnummer)|sozialversicherungs\w+|versicherungsnummer|ust\W?id\w*
    |umsatzsteuer\w*|personalausweis\w*|ausweisnummer|reisepass\w*
    |s[ée]curit[ée]\ sociale|num[ée]ro\ fiscal|num[ée]ro\ de\ tva|tva|passeport|carte\ d.identit[ée]
    |seguridad\ social|n[úu]mero\ fiscal|documento\ de\ identidad|pasaporte|iva
    |codice\ fiscale|partita\ iva|tessera\ sanitaria|passaporto)\b""",
    re.IGNORECASE | re.VERBOSE,
)


def card_spans(text: str) -> Iterator[Span]:
    """Numbers of payment cards: 13 to 19 digits with an issuer's prefix and a right check digit."""
    return _checked(text, _CARD, _is_card)


def iban_spans(text: str) -> Iterator[Span]:
    """Numbers of bank accounts (ISO 13616), of the length and structure of their country."""
    return _checked(text, _IBAN, _is_iban)


@dataclass(frozen=True, slots=True, kw_only=True)
class _IdRule:
    """Ids of one kind: their check, and the names by which people call them."""

    is_valid: Callable[[str], bool]
    names: re.Pattern[str]


def id_spans(text: str, countries: Sequence[str]) -> Iterator[Span]:
    """Tax and national ids of these countries. A bare number needs its name within five words."""
    rules = [rule for country in countries for rule in _rules(country)]
    tried = count()

    def is_id(found: str, span: Span) -> bool:
        if not _SHORTEST_ID <= len(found) <= _LONGEST_ID or next(tried) >= _MOST_TRIED:
            return False
        return _is_id(text, found, span, rules)

    for run in _ID.finditer(text):
        if sum(map(str.isdigit, run[0])) >= _SHORTEST_ID - 1 and not _DATE.fullmatch(run[0]):
            yield from _windows(text, run.span(), is_id)


def check_countries(countries: Sequence[str]) -> None:
    """Raise SettingsError for a country without rules of its own."""
    for country in countries:
        _rules(country)


def _checked(text: str, runs: re.Pattern[str], is_valid: Callable[[str], bool]) -> Iterator[Span]:
    for run in runs.finditer(text):
        yield from _windows(text, run.span(), lambda found, _: is_valid(found))


def _windows(text: str, run: Span, is_valid: Callable[[str, Span], bool]) -> Iterator[Span]:
    """The longest valid sequences of groups within a run, from its beginning on."""
    groups = [found.span() for found in _GROUP.finditer(text, *run)]
    first = 0
    while first < len(groups):
        for last in range(min(len(groups), first + _MOST_GROUPS), first, -1):
            span = groups[first][0], groups[last - 1][1]
            if is_valid("".join(text[a:b] for a, b in groups[first:last]), span):
                yield span
                first = last
                break
        else:
            first += 1


def _is_iban(raw: str) -> bool:
    found = raw.upper()
    if not 15 <= len(found) <= 34 or not (found[:2].isalpha() and found[2:4].isdecimal() and found.isascii()):
        return False
    if int("".join(str(int(char, 36)) for char in found[4:] + found[:4])) % 97 != 1:
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


def _is_id(text: str, found: str, span: Span, rules: Sequence[_IdRule]) -> bool:
    digits = sum(map(str.isdigit, found))
    is_telling = digits < len(found) and digits >= _TELLING_DIGITS
    beside = "" if is_telling else _beside(text, span)
    return any(
        (is_telling or rule.names.search(beside) or _NAMES.search(beside)) and rule.is_valid(found) for rule in rules
    )


def _beside(text: str, span: Span) -> str:
    """The words before and behind a place, lower case."""
    before = _WORD.findall(text, max(0, span[0] - _BESIDE), span[0])[-_WORDS_BESIDE:]
    behind = _WORD.findall(text, span[1], span[1] + _BESIDE)[:_WORDS_BESIDE]
    return " ".join([*before, "/", *behind]).lower()


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
    return _IdRule(is_valid=module.is_valid, names=re.compile(rf"\b(?:{names})\b"))
