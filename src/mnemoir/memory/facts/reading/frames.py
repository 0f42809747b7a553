"""Frames of play, story and joke: the sentences that stand outside of them are the user's own (`frames.toml`).

A frame that orders ("pretend", "for the test") holds to the end of the turn; a story, a dream, a hypothesis, and what
stands behind "Tweet I saw:" or "Math problem:", to the blank line. "In real life" ends both. "April fools!" takes
back what stands before it in a turn, and where it opens the turn, what stands behind it.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files

from mnemoir.core.accents import aligned_text, without_accents

_LONGEST_MARK = 24  # characters of what marks a joke
_LONGEST_DENIAL = 60  # characters of what takes a sentence back: "said nobody ever"
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_OF_OTHERS = re.compile(  # a word that each end has which takes its sentence back
    "nobody|no body|no.?one|soul|none|people|they|told|said|iemand|jemand|kein|sagt|heisst|personne|dit|nadie|dicen|"
    "nessuno|dicono|ninguem|dizem|mens|zegt|zeggen"
)
_LONGEST_LABEL = 120  # characters before the colon of a heading
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
            is_told = is_told or _begins_story(plain)
            held = "" if is_played or is_told or _joke().search(plain[-_LONGEST_MARK:]) else sentence
        if held:
            yield held
            held = ""


def with_marked_asides(text: str) -> str:
    """The text with a mark in place of "(joke)" and "(movie quote)", which would go with the brackets."""
    if "(" not in text:
        return text
    kept, at = [], 0
    for aside in _aside().finditer(aligned_text(text)):
        kept += [text[at : aside.start()], " lol." if aside["end"] else " lol"]
        at = aside.end()
    return "".join((*kept, text[at:]))


def without_jokes(text: str) -> str:
    """The text behind its last "Just kidding!"; where one opens it, the text behind its paragraph."""
    plain = aligned_text(text)
    small = plain.lower()
    calls = list(_call().finditer(plain)) if any(mark in small for mark in _call_marks()) else []
    if not calls:
        return text
    if calls[0]["opening"] is not None:
        break_ = _BLANK_LINE.search(plain, calls[0].end())
        behind = break_.end() if break_ else len(text)
        if end := _pattern("ends").search(plain, calls[0].end(), behind):
            behind = end.end()
        return (
            text[behind:].lstrip(" ,:") if len(calls) == 1 else without_jokes(text[max(behind, calls[-1].start()) :])
        )
    return text[calls[-1].end() :]


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
    return _begins(plain, "orders") or _begins_story(plain)


def _begins_story(plain: str) -> bool:
    colon = plain.find(":", 0, _LONGEST_LABEL)
    return _begins(plain, "stories") or (colon > 0 and bool(_label().match(plain.lstrip(_EDGES))))


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
        rf"(?P<end>(?:\s?[.!…]+)?)[^\S\n]{{0,2}}\(\s*(?:{_words('asides')}|{_words('by_nobody')}|{_words('by_others')})[.!]*\s*\)",
        re.IGNORECASE,
    )


@cache
def _label() -> re.Pattern[str]:
    return re.compile(rf"(?:(?:{_words('before')})[\s,!:]+)*(?:{_words('labels')})\s?:", re.IGNORECASE)


@cache
def _call_marks() -> Sequence[str]:
    return _words("call_marks").split("|")


@cache
def _call() -> re.Pattern[str]:
    """A call that takes a joke back; `opening` where nothing but calls like "haha" stands before it in the text."""
    called = rf"(?:(?:{_words('callers')})[\s,!.…:]+)*"
    begin = rf"(?P<opening>\A\W*{called})|(?<![\w'])"
    negation = r"(?<!\bno )(?<!\bnot )(?<!\bnon )(?<!\bnao )(?<!\bkein )(?<!\bgeen )(?<!\bpas )(?<!\bsin )"
    return re.compile(rf"(?:{begin}){negation}(?:{_words('calls')})(?![\w'])", re.IGNORECASE)


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
