"""The clauses that a user says in a turn: of what kind each is, and whom it is about.

What is quoted, pasted or code is removed before (`own_words`). A clause begins at a comma or a joining word with a
subject behind it, so "My wife lives in Oslo and I live in Graz" is two clauses about two people.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from mnemoir.core.accents import aligned_text
from mnemoir.memory.facts.reading.kinds import begins_with, is_of_kind, languages_of, tells_refusal
from mnemoir.memory.facts.reading.own_words import own_sentences
from mnemoir.memory.facts.reading.persons import About, about, subject_words

Kind = Literal["said", "asked", "wanted", "past", "imagined"]
_JOINS = "and|but|so|because|since|while|und|aber|weil|denn|et|mais|car|y|pero|porque|e|ma|perche|mas|en|maar|want"
_EDGES = " \t,.!?…;:*_~-–—()¡¿\"'"
_LONGEST = 400  # characters of a clause that is examined
_BARE = re.compile(  # a statement without its subject: "Is single", and no question
    r"(?:is|are|was|were|has|have|had|does|do|did|can|could|will|would|may|might|should)\b"
    r"(?!\s+(?:i|you|we|he|she|it|they|there|this|that|the|my|our|your|any\w*|some\w*)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A clause of the user's, with the sentence it stands in."""

    text: str
    sentence: str
    kind: Kind
    about: About


def clauses_of(text: str) -> Iterator[Clause]:
    """The clauses of a user's turn, in order."""
    for sentence in own_sentences(text):
        yield from _clauses_in(sentence)


def kind_of(text: str) -> Kind:
    """The kind of a statement that stands alone."""
    return _kind(text, languages_of(text), is_question=False)


def _clauses_in(sentence: str) -> Iterator[Clause]:
    codes = languages_of(sentence)
    is_imagined = is_of_kind(sentence, "imagined", codes)
    is_question = sentence.endswith(("?", "？"))
    pieces = list(_pieces(sentence))
    asking = next((at for at, piece in enumerate(pieces) if _asks(piece, codes)), 0 if is_question else len(pieces))
    for at, piece in enumerate(pieces):
        kind: Kind = "imagined" if is_imagined else _kind(piece, codes, is_question=at >= asking)
        yield Clause(text=piece, sentence=sentence, kind=kind, about=about(piece))


def _pieces(sentence: str) -> Iterator[str]:
    """The clauses of a sentence."""
    begin = 0
    for cut in _break().finditer(aligned_text(sentence)):
        if piece := sentence[begin : cut.start()].strip(_EDGES):
            yield piece[:_LONGEST]
        begin = cut.end()
    if piece := sentence[begin:].strip(_EDGES):
        yield piece[:_LONGEST]


def _kind(piece: str, codes: Sequence[str], *, is_question: bool) -> Kind:
    if is_question:
        return "asked"
    if is_of_kind(piece, "wanted", codes) or tells_refusal(piece):
        return "wanted"
    return "past" if is_of_kind(piece, "past", codes) else "said"


def _asks(piece: str, codes: Sequence[str]) -> bool:
    return begins_with(piece, "asking", codes) and not _BARE.match(piece)


@cache
def _break() -> re.Pattern[str]:
    subjects = "|".join(sorted(map(re.escape, subject_words()), key=len, reverse=True))
    joined = rf"(?:[,;:]\s*|\s+[-–—]+\s+|(?:,\s*|\s+)(?:{_JOINS})\s+)(?:(?:also|{_JOINS})\s+)?"
    return re.compile(rf"{joined}(?=(?:{subjects}|j'\w+|i'\w+)(?!\w))", re.IGNORECASE)
