"""Phrases that mark important messages and small talk: one module per language, combined here."""

import re
from collections.abc import Callable, Iterable
from itertools import chain

from mnemoir.conversations.windows.importance_cues.chinese import CHINESE
from mnemoir.conversations.windows.importance_cues.cues import Cues
from mnemoir.conversations.windows.importance_cues.dutch import DUTCH
from mnemoir.conversations.windows.importance_cues.english import ENGLISH
from mnemoir.conversations.windows.importance_cues.french import FRENCH
from mnemoir.conversations.windows.importance_cues.german import GERMAN
from mnemoir.conversations.windows.importance_cues.italian import ITALIAN
from mnemoir.conversations.windows.importance_cues.portuguese import PORTUGUESE
from mnemoir.conversations.windows.importance_cues.spanish import SPANISH

_SPOKEN = (ENGLISH, GERMAN, FRENCH, SPANISH, ITALIAN, PORTUGUESE, DUTCH)  # languages with spaces between words
_HAN = re.compile("[\u4e00-\u9fff]")


class Cue:
    """A group of phrases; a text is searched only for phrases of its scripts."""

    def __init__(self, spoken: Iterable[str], chinese: Iterable[str]) -> None:
        self._spoken = _any(spoken)
        self._chinese = _any(chinese)

    def search(self, text: str) -> bool:
        """True when the text contains one of the phrases."""
        if self._spoken.search(text):
            return True
        return not text.isascii() and bool(_HAN.search(text)) and bool(self._chinese.search(text))


def _any(phrases: Iterable[str]) -> re.Pattern[str]:
    """A pattern for any of the phrases. Those that begin at a word are tried only there, which is much faster."""
    at_words: list[str] = []
    anywhere: list[str] = []
    for phrase in phrases:
        (at_words if phrase.startswith(r"\b") else anywhere).append(f"(?:{phrase})")
    joined = [rf"\b(?:{'|'.join(at_words)})"] if at_words else []
    return re.compile("|".join([*joined, *anywhere]), re.IGNORECASE)


def _nothing_but(words: Iterable[str], characters: Iterable[str]) -> re.Pattern[str]:
    """A pattern for a text of such words only. Its groups are atomic, so that the time is linear for every text."""
    return re.compile(rf"[\W_]*+(?:(?>\b(?:{'|'.join(words)})\b|{'|'.join(characters)})[\W_]*+)++\Z", re.IGNORECASE)


def _cue(kind: Callable[[Cues], tuple[str, ...]]) -> Cue:
    return Cue(chain.from_iterable(map(kind, _SPOKEN)), kind(CHINESE))


REMEMBER = _cue(lambda cues: cues.remember)
DECISION = _cue(lambda cues: cues.decision)
FACT = _cue(lambda cues: cues.fact)
CORRECTION = _cue(lambda cues: cues.correction)
OFFER = _cue(lambda cues: cues.offer)
SMALL_TALK = _nothing_but(chain.from_iterable(cues.small_talk for cues in _SPOKEN), CHINESE.small_talk)
