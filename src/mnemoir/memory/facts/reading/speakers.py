"""Whose words a sentence is: what somebody else said, wrote or thought is not the user's.

Behind a colon or a comma after a verb of saying the "I" is the speaker's ("My neighbour said: I work at Bosch."),
without one it is the user's ("My doctor says I have asthma"). The user's own words stay ("I said: …").
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files

from mnemoir.core.accents import aligned_text, without_accents
from mnemoir.memory.facts.reading.frames import introduces_quote, opens_frame
from mnemoir.memory.facts.reading.kinds import LANGUAGES, kind_words, languages_of
from mnemoir.memory.facts.reading.own_name import is_own_name
from mnemoir.memory.facts.reading.persons import about, is_ordinary_word, subject_words

_INTRODUCTION = re.compile(r"(?P<who>[^:,\n]{1,120}?)\s*[:,]\s*(?=\S)")
_HEADING = re.compile(r"(?P<who>[^:\n]{1,120}):\s*$")
_SOMEBODY = "einer|jemand|someone|somebody|quelqu'un|alguien|qualcuno|alguem|iemand"
_TO_WHOM = (
    r"(?:-(?:me|nos|te|lhe))?"
    r"(?:\s+(?:to\s+)?(?:me|us|him|her|them|you|mir|uns|ihm|ihr|dir|mich|moi|nous|lui|que|that|dass|che|dat|mij|ons|"
    rf"hem|tegen|{_SOMEBODY}|this|these|the following|back|folgendes|ceci|esto|questo|isto|dit|today|yesterday|once|"
    r"always|heute|gestern|hier|ayer|ieri|ontem|gisteren|sempre|siempre|toujours|immer|altijd|oft|souvent))*"
)
_NAME = re.compile(r"[A-ZÀ-Þ][a-zà-ÿ][\w'’-]*(?: (?:[A-ZÀ-Þ]\.|[A-ZÀ-Þ][a-zà-ÿ][\w'’-]*)){0,2}")
_NAMES_TOO = frozenset(
    {"ben", "mia", "tim", "max", "ana", "eva", "lea", "mark", "will", "rose", "may", "sara", "son", "dan"}
)
_EDGES = " \t.,:;!?\"'*_()[]-–—…"
_IMPERSONAL = re.compile(
    r"(?:it|es|das|this|that|there|cela|ca|eso|esto|questo|isso|het|dat)\b|"
    rf".*\b(?:{_SOMEBODY})\b",
    re.IGNORECASE,
)


def is_of_another(sentence: str) -> bool:
    """True when somebody else says the sentence, in front of it or behind."""
    heading, colon, _ = sentence.partition(":")
    if colon and (introduces_quote(heading) or (_is_speaker(heading) and not opens_frame(sentence))):
        return True
    plain = aligned_text(sentence)
    if not any(map(_says, plain.replace("-", " ").split())):
        return False
    first, codes = _INTRODUCTION.match(sentence), languages_of(sentence)
    if first and _speaks(first["who"], first[0], codes):
        return True
    return any(_tail(code).search(plain) for code in codes)


def _is_speaker(heading: str) -> bool:
    """True for a name in front of a colon that is not the user's: "Tom: I am vegan"."""
    name = _NAME.fullmatch(heading.strip(_EDGES))
    if name is None or is_own_name(name[0]):
        return False
    words = without_accents(name[0]).lower().split()
    if any(is_ordinary_word(word, code) for word in words[:1] for code in LANGUAGES if word not in _NAMES_TOO):
        return False
    return _headings().isdisjoint(words) and not (len(words) == 1 and _ending().search(words[0]))


def _speaks(clause: str, with_mark: str, codes: Sequence[str]) -> bool:
    """True when somebody else speaks behind the clause; a German comma stands before indirect speech, too."""
    return introduces(clause, codes) and (":" in with_mark or "de" not in codes)


def introduces(clause: str, codes: Sequence[str]) -> bool:
    """True for "my neighbour said", behind which the neighbour speaks, in one of the languages."""
    plain = aligned_text(clause)
    if not any(_saying_pattern(code).search(plain) for code in codes):
        return False
    return about(clause).who != "user" or bool(_IMPERSONAL.match(plain))


def introduces_next(sentence: str) -> bool:
    """True for a line that ends in a colon and lets somebody else speak in the lines below it."""
    heading = _HEADING.match(sentence)
    return bool(heading and (introduces(heading["who"], languages_of(sentence)) or introduces_quote(heading["who"])))


@lru_cache(maxsize=8192)
def _says(word: str) -> bool:
    """True for a word of saying in any language; most sentences have none."""
    return bool(_saying_words().fullmatch(word.strip(_EDGES)))


@cache
def _saying_words() -> re.Pattern[str]:
    words = "|".join(kind_words(code, "saying") for code in LANGUAGES)
    return re.compile(rf"(?:{words})", re.IGNORECASE)


@cache
def _saying_pattern(code: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{kind_words(code, 'saying')}){_TO_WHOM}\s*$", re.IGNORECASE)


@cache
def _tail(code: str) -> re.Pattern[str]:
    """ "…, said my grandma" and "…, she wrote" at the end of a sentence."""
    others = "|".join(sorted(map(re.escape, subject_words() - _own_words()), key=len, reverse=True))
    saying = kind_words(code, "saying")
    own = "my|mein\\w*|mon|ma|mi|mio|mia|meu|minha|mijn|the|der|die|el|la|il"
    person = rf"(?:(?:o |a |os |as |il |la |i |le )?(?:{others}|{own})\s+\w+|(?-i:[A-Z])\w+)"
    behind = rf"(?:,\s*|\s)(?:{saying})\s+(?:{person}|{others})(?:\s+\w+)?"
    inverted = rf",\s*(?:{person}|{others})\s+(?:{saying}){_TO_WHOM}"
    perfect = rf",\s*(?:hat|haben|heeft|hebben)\s+(?:{person}|{others})\s+(?:{saying})"
    return re.compile(rf"(?:{behind}|{inverted}|{perfect})[\s.!?\"']*$", re.IGNORECASE)


@cache
def _headings() -> frozenset[str]:
    return frozenset(_table()["headings"].split())


@cache
def _ending() -> re.Pattern[str]:
    return re.compile(rf"\w{{2}}(?:{_table()['endings']})$".replace("\n", ""))


@cache
def _table() -> Mapping[str, str]:
    return tomllib.loads((files(__package__) / "speakers.toml").read_text(encoding="utf-8"))


def _own_words() -> frozenset[str]:
    own = "i we ich wir je nous yo nosotros nosotras io noi eu ik wij im ive mine myself ourselves"
    possessives = "my our mein meine meinem meinen meiner mon ma mes mi mis mio mia miei mie meu minha mijn onze ons"
    return frozenset(f"{own} {possessives}".split())
