"""Frames of play, story and joke: the sentences that stand outside of them are the user's own (`frames.toml`).

A frame that orders ("pretend", "for the test") holds to the end of the turn, a story, a dream or a hypothesis to the
blank line. "In real life" ends both.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files

from mnemoir.core.accents import without_accents

_LONGEST_MARK = 24  # characters of what marks a joke
_LONGEST_DENIAL = 60  # characters of what takes a sentence back: "said nobody ever"
_OF_OTHERS = re.compile(  # a word that each end has which takes its sentence back
    "nobody|no body|no.?one|soul|none|people|they|told|said|iemand|jemand|kein|sagt|heisst|personne|dit|nadie|dicen|"
    "nessuno|dicono|ninguem|dizem|mens|zegt|zeggen"
)
_EDGES = " \t\"'*_~-–—()¡¿"


def outside_frames(paragraphs: Iterable[Iterable[str]]) -> Iterator[str]:
    """The sentences of the paragraphs that are neither played, told as a story, nor a marked joke."""
    is_played, held = False, ""
    for sentences in paragraphs:
        is_told = False
        for sentence in sentences:
            plain = _plain(sentence)
            if _takes_back(plain):
                held = ""
                continue
            if held:
                yield held
            held = ""
            if (is_played or is_told) and _pattern("ends").search(plain):
                is_played = is_told = False
                sentence = _opening().sub("", sentence, count=1)
            is_played = is_played or _begins(plain, "orders")
            is_told = is_told or _begins(plain, "stories")
            held = "" if is_played or is_told or _joke().search(plain[-_LONGEST_MARK:]) else sentence
        if held:
            yield held
            held = ""


def with_marked_asides(text: str) -> str:
    """The text with a mark in place of "(joke)", which would go with the brackets."""
    return _aside().sub(" lol", text)


def introduces_quote(heading: str) -> bool:
    """True for "Quote of the day", behind which somebody else speaks."""
    return bool(_pattern("quotes").fullmatch(_plain(heading).strip(_EDGES)))


def _takes_back(plain: str) -> bool:
    return len(plain) <= _LONGEST_DENIAL and bool(_pattern("taken_back").fullmatch(plain.strip(" .!…")))


def takes_itself_back(sentence: str) -> bool:
    """True for a sentence whose end says that nobody said so, or that only others do: "…, said nobody ever"."""
    end = _plain(sentence[-_LONGEST_DENIAL:]).lower()
    return bool(_OF_OTHERS.search(end) and _denial().search(end)) and not _takes_back(_plain(sentence))


def opens_frame(sentence: str) -> bool:
    """True for a sentence with which a play or a story begins."""
    plain = _plain(sentence)
    return _begins(plain, "orders") or _begins(plain, "stories")


def _begins(plain: str, kind: str) -> bool:
    return bool(_start_pattern(kind).match(plain.lstrip(_EDGES)))


@cache
def _denial() -> re.Pattern[str]:
    return re.compile(rf"[,;:–—-]?\s(?:{_words('by_nobody')}|{_words('by_others')})[\s.!?…]*$", re.IGNORECASE)


@cache
def _start_pattern(kind: str) -> re.Pattern[str]:
    return re.compile(rf"(?:(?:{_words('before')})[\s,!:]+)*(?:{_words(kind)})", re.IGNORECASE)


@cache
def _opening() -> re.Pattern[str]:
    """The end of a frame at the beginning of a sentence, before its subject."""
    return re.compile(rf"^(?:{_words('ends')})[,:]?\s+(?=(?:i|i'\w+|my|we|our)\s)", re.IGNORECASE)


@cache
def _joke() -> re.Pattern[str]:
    return re.compile(rf"(?:(?<=\s)|^)(?:{_words('jokes')})[\s.!?)]*$", re.IGNORECASE)


@cache
def _aside() -> re.Pattern[str]:
    return re.compile(
        rf"\(\s*(?:{_words('asides')}|{_words('by_nobody')}|{_words('by_others')})[.!]*\s*\)", re.IGNORECASE
    )


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{_words(kind)})(?!\w)", re.IGNORECASE)


def _plain(text: str) -> str:
    return without_accents(text.replace("’", "'"))


@cache
def _words(kind: str) -> str:
    """The list of a kind with the lists that it names in braces, which may name others."""
    table = tomllib.loads((files(__package__) / "frames.toml").read_text(encoding="utf-8"))
    words = str(table[kind])
    while named := [name for name in table if f"{{{name}}}" in words]:
        for name in named:
            words = words.replace(f"{{{name}}}", str(table[name]))
    return words.replace("\n", "")
