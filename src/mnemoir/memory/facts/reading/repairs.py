"""Repairs: what a speaker takes back in the same breath is replaced by what they say instead.

"I live in Paris, sorry, Lyon." is "I live in Lyon.", and "I have a cat, no, a dog." is "I have a dog.". Only a name
takes the place of a name, a number of a number, and behind "no" a thing with its article that of another. "No, that's
my neighbour's" leaves nothing of the statement.
"""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from mnemoir.core.accents import aligned_text

_SENTENCE_END = re.compile(r"[.!?\n]+\s*")
_LONGEST = 400  # characters of a statement
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
    text = _with_right_name(text)
    plain = aligned_text(text)
    if _first_words().isdisjoint(word.strip(_EDGES) for word in plain.lower().split()) or not _mark().search(plain):
        return text
    text, plain = _without_withdrawals(text, plain)
    kept, at = [], 0
    for match in _repair_pattern().finditer(plain):
        kind = next(kind for kind in ("name", "number", "thing") if match[kind])
        kept += [text[at : match.start(kind)], text[slice(*match.span(f"new_{kind}"))]]
        noun = match.span("noun")
        kept.append(text[slice(*noun)] if kind == "number" and noun[0] >= 0 else "")
        at = match.end()
    return "".join((*kept, text[at:]))


def _with_right_name(text: str) -> str:
    """The text with "My name is Paul" in place of "My name is not Peter, it's Paul"."""
    plain = aligned_text(text)
    for denied, told in _denied_names():
        if found := denied.search(plain):
            return f"{text[: found.start()]}{told} {text[slice(*found.span('new'))]}{text[found.end() :]}"
    return text


@cache
def _denied_names() -> Sequence[tuple[re.Pattern[str], str]]:
    """For each language a denied name with the right one behind it, and the words that tell a name."""
    table = tomllib.loads((files(__package__) / "repairs.toml").read_text(encoding="utf-8"))["names"]
    return [
        (re.compile(rf"(?<!\w)(?:{no}) {_NAME}[,;.]? (?:{joins}) (?P<new>{_NAME})(?!\w)", re.IGNORECASE), told)
        for no, joins, told in table.values()
    ]


def is_repair(text: str) -> bool:
    """True for a turn that takes back what was said before it: "No wait, Lyon."."""
    return bool(_lone_repair().match(aligned_text(text)))


@cache
def _lone_repair() -> re.Pattern[str]:
    return re.compile(rf"\s*(?:{_words('words')})[,:]?\s+(?:{_NAME}|{_NUMBER})[\s.!]*$", re.IGNORECASE)


def _without_withdrawals(text: str, plain: str) -> tuple[str, str]:
    """The text, and the one without accents, without the statements that are taken back as a whole."""
    kept, at = [], 0
    for found in _withdrawal().finditer(plain):
        if found.start() < at:
            continue
        begin = max(at, found.start() - _LONGEST)
        for cut in _statement_break().finditer(plain, begin, found.start()):
            begin = cut.start() if cut["join"] else cut.end()
        end = _SENTENCE_END.search(plain, found.end())
        kept.append((at, begin))
        at = end.end() if end else len(plain)
    kept.append((at, len(plain)))
    return " ".join(text[slice(*each)] for each in kept), " ".join(plain[slice(*each)] for each in kept)


@cache
def _withdrawal() -> re.Pattern[str]:
    return re.compile(rf"{_no_mark()}(?:{_words('withdrawal')})", re.IGNORECASE)


@cache
def _statement_break() -> re.Pattern[str]:
    return re.compile(rf"[.!?;\n]\s*|(?P<join>,?\s(?:{_words('joins')})\s)", re.IGNORECASE)


def _no_mark() -> str:
    """A bare "no", which stands behind a comma or a dash and before a comma, as a pattern."""
    return rf"(?:,\s*|\s+[-–—]+\s*)(?:(?:{_words('fillers')}),?\s+)?(?:{_words('no')}),\s+(?:{_words('words')},\s+)?"


@cache
def _words(kind: str) -> str:
    table = tomllib.loads((files(__package__) / "repairs.toml").read_text(encoding="utf-8"))
    return str(table[kind]).replace("\n", "")


@cache
def _first_words() -> frozenset[str]:
    """The words with which a repair begins; most texts have none of them."""
    words = re.split(r"[|(]|\)", f"{_words('words')}|{_words('no')}")
    return frozenset(first for phrase in words if (first := re.split(r"[ ,?]", phrase)[0]))


@cache
def _mark() -> re.Pattern[str]:
    """A word that takes something back; a text with "I mean" has its first word as most texts do."""
    return re.compile(rf"(?<!\w)(?:(?:{_words('words')})(?!\w)|(?:{_words('no')}),)", re.IGNORECASE)


@cache
def _repair_pattern() -> re.Pattern[str]:
    lone = rf"(?:\s*[.,!…]\s*|\s+[-–—]+\s*|\s+)(?:oh\s+)?(?:{_words('words')})(?!\w)[,:]?\s+"
    mark = rf"(?:{lone}|{_no_mark()})(?:(?:{_words('before')})\s+)?"
    end = rf"(?:\s+{_words('right')})?(?=\s*(?:[.!?,;]|$))"
    name = rf"\b(?P<name>{_INNER_NAME}){mark}(?P<new_name>{_NAME}){end}"
    noun = r"(?: [^\W\d_]+){0,2}"
    number = rf"\b(?P<number>{_NUMBER})(?P<noun>{noun}){mark}(?P<new_number>{_NUMBER}){noun}{end}"
    phrase = rf"(?:{_words('articles')}) [^\W\d_]+(?: [^\W\d_]+){{0,2}}?"
    thing = rf"\b(?P<thing>{phrase}){_no_mark()}(?P<new_thing>{phrase}){end}"
    return re.compile(rf"{name}|{number}|{thing}", re.IGNORECASE)
