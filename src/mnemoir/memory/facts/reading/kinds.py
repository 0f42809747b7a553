"""What kind of sentence a text is, by the words of its language: `kinds.toml` says what each list holds.

The language is guessed from function words, since a list of one language means something else in another one ("als",
"si", "no"). Where two languages are as likely, both count.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files

from mnemoir.core.accents import without_accents
from mnemoir.search.language import ENGLISH, is_surely_english
from mnemoir.search.stop_words import BY_LANGUAGE

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl")
_WORD = re.compile(r"[^\W\d_]+")


def kind_words(code: str, kind: str) -> str:
    """The list of one kind in a language, as the alternatives of a pattern."""
    return str(_table()[code][kind]).replace("\n", "")


def is_of_kind(text: str, kind: str, codes: Sequence[str]) -> bool:
    """True when a text has a sign of the kind in one of the languages."""
    plain = without_accents(text)
    return any(_anywhere(code, kind).search(plain) for code in codes)


def is_kind_alone(text: str, kind: str, codes: Sequence[str]) -> bool:
    """True when a text is a sign of the kind in one of the languages, and nothing else."""
    plain = without_accents(text)
    return any(_anywhere(code, kind).fullmatch(plain) for code in codes)


def begins_with(text: str, kind: str, codes: Sequence[str]) -> bool:
    """True when a text begins with a sign of the kind in one of the languages."""
    plain = without_accents(text)
    return any(_anywhere(code, kind).match(plain) for code in codes)


def names_a_state(word: str) -> bool:
    """True for a word that says how somebody is, in any of the languages, and is no name: "Fertig"."""
    return without_accents(word).lower() in _states()


def tells_refusal(text: str) -> bool:
    """True where somebody refused the user: "Bosch rejected me"."""
    return bool(_refusal().search(without_accents(text)))


def is_figure_of_speech(statement: str) -> bool:
    """True for a statement that is not meant word for word: "Lives for the weekends"."""
    plain = without_accents(statement)
    return bool(_figure_mark().search(plain) and _figures().search(plain))


@lru_cache(maxsize=4096)
def languages_of(text: str) -> Sequence[str]:
    """The likeliest of the seven languages by function words; English where there are none."""
    seen: Counter[str] = Counter()
    for word in set(_WORD.findall(text.lower())):
        of = _languages_by_word().get(word, ())
        for code in of:
            seen[code] += 60 // len(of)  # 60: what one word of a single language counts
    most = max(seen.values(), default=0)
    likeliest = [code for code in LANGUAGES if seen[code] == most]
    return likeliest if most and (len(likeliest) == 1 or not is_surely_english(text)) else [ENGLISH]


@cache
def _languages_by_word() -> Mapping[str, Sequence[str]]:
    words: dict[str, list[str]] = {}
    for code in LANGUAGES:
        for word in BY_LANGUAGE[code]:
            words.setdefault(word, []).append(code)
    return words


@cache
def _states() -> frozenset[str]:
    return frozenset(word for code in LANGUAGES for word in kind_words(code, "states").split())


@cache
def _refusal() -> re.Pattern[str]:
    words = "|".join(kind_words(code, "refused") for code in LANGUAGES)
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)


@cache
def _figure_mark() -> re.Pattern[str]:
    """A word that each figure of speech has; most statements have none."""
    return re.compile(str(_table()["marks"]["figures"]), re.IGNORECASE)


@cache
def _figures() -> re.Pattern[str]:
    words = "|".join(kind_words(code, "figures") for code in LANGUAGES)
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)


@cache
def _anywhere(code: str, kind: str) -> re.Pattern[str]:
    return re.compile(without_accents(rf"(?<!\w)(?:{kind_words(code, kind)})(?!\w)"), re.IGNORECASE)


@cache
def _table() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads((files(__package__) / "kinds.toml").read_text(encoding="utf-8"))
