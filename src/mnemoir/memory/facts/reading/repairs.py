"""Repairs: what a speaker takes back in the same breath is replaced by what they say instead.

"I live in Paris, sorry, Lyon." is "I live in Lyon.". Only a name takes the place of a name, and a number of a number.
"""

import re
import tomllib
from functools import cache
from importlib.resources import files

from mnemoir.core.accents import aligned_text

_EDGES = " .,:;!?-–—…"
_NAME_WORD = r"(?-i:[A-Z])[\w'-]+"
_NAME = rf"{_NAME_WORD}(?: {_NAME_WORD})?"
_INNER_NAME = rf"(?:(?<=(?-i:[a-z]) ){_NAME}|{_NAME_WORD})"  # the first word of a sentence is none of it
_NUMBER = (
    r"(?:\d+(?:[.:,]\d+)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|zwei|drei|vier|funf|sechs|"
    r"sieben|acht|neun|zehn|deux|trois|quatre|cinq|sept|huit|neuf|dix|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|"
    r"due|tre|quattro|cinque|sei|sette|otto|nove|dieci|dois|duas|quatro|sete|oito|dez|twee|drie|vijf|zes|zeven|negen|tien)"
)


def repair(text: str) -> str:
    """The text with each repair made."""
    plain = aligned_text(text)
    if _first_words().isdisjoint(word.strip(_EDGES) for word in plain.lower().split()):
        return text
    kept, at = [], 0
    for match in _repair_pattern().finditer(plain):
        kind = "name" if match["name"] else "number"
        kept += [text[at : match.start(kind)], text[slice(*match.span(f"new_{kind}"))]]
        noun = match.span("noun")
        kept.append(text[slice(*noun)] if kind == "number" and noun[0] >= 0 else "")
        at = match.end()
    return "".join((*kept, text[at:]))


def is_repair(text: str) -> bool:
    """True for a turn that takes back what was said before it: "No wait, Lyon."."""
    return bool(_lone_repair().match(aligned_text(text)))


@cache
def _lone_repair() -> re.Pattern[str]:
    return re.compile(rf"\s*(?:{_words()})[,:]?\s+(?:{_NAME}|{_NUMBER})[\s.!]*$", re.IGNORECASE)


@cache
def _words() -> str:
    table = tomllib.loads((files(__package__) / "repairs.toml").read_text(encoding="utf-8"))
    return str(table["words"]).replace("\n", "")


@cache
def _first_words() -> frozenset[str]:
    """The words with which a repair begins; most texts have none of them."""
    return frozenset(re.split(r"[ ,?(]", phrase)[0] for phrase in _words().split("|"))


@cache
def _repair_pattern() -> re.Pattern[str]:
    mark = rf"(?:\s*[.,!…]\s*|\s+[-–—]+\s*|\s+)(?:oh\s+)?(?:{_words()})(?!\w)[,:]?\s+(?:in\s+|it's\s+|it is\s+)?"
    end = r"(?=\s*(?:[.!?,;]|$))"
    name = rf"\b(?P<name>{_INNER_NAME}){mark}(?P<new_name>{_NAME}){end}"
    noun = r"(?: [^\W\d_]+){0,2}"
    number = rf"\b(?P<number>{_NUMBER})(?P<noun>{noun}){mark}(?P<new_number>{_NUMBER}){noun}{end}"
    return re.compile(rf"{name}|{number}", re.IGNORECASE)
