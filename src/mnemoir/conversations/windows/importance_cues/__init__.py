"""What people say when something is worth keeping: one file a language, joined here."""

import re
from collections.abc import Callable, Iterable
from itertools import chain

from mnemoir.conversations.windows.importance_cues.chinese import CHINESE
from mnemoir.conversations.windows.importance_cues.cues import Cues
from mnemoir.conversations.windows.importance_cues.english import ENGLISH
from mnemoir.conversations.windows.importance_cues.german import GERMAN

_SPOKEN = (ENGLISH, GERMAN)  # written with spaces, so that words have borders
_HAN = re.compile("[\u4e00-\u9fff]")


class Cue:
    """Any of some phrases, looked for in the scripts that a text is written in."""

    def __init__(self, spoken: Iterable[str], chinese: Iterable[str]) -> None:
        self._spoken = _any(spoken)
        self._chinese = _any(chinese)

    def search(self, text: str) -> bool:
        """Whether one of them is in the text."""
        if self._spoken.search(text):
            return True
        return not text.isascii() and bool(_HAN.search(text)) and bool(self._chinese.search(text))


def _any(phrases: Iterable[str]) -> re.Pattern[str]:
    """Those that begin at a word are tried there alone, which is much faster."""
    at_words: list[str] = []
    anywhere: list[str] = []
    for phrase in phrases:
        (at_words if phrase.startswith(r"\b") else anywhere).append(f"(?:{phrase})")
    joined = [rf"\b(?:{'|'.join(at_words)})"] if at_words else []
    return re.compile("|".join([*joined, *anywhere]), re.IGNORECASE)


def _nothing_but(words: Iterable[str], characters: Iterable[str]) -> re.Pattern[str]:
    """A whole text of such words. The groups are atomic: each place is read once, whatever the text is."""
    return re.compile(rf"[\W_]*+(?:(?>\b(?:{'|'.join(words)})\b|{'|'.join(characters)})[\W_]*+)++\Z", re.IGNORECASE)


def _cue(kind: Callable[[Cues], tuple[str, ...]]) -> Cue:
    return Cue(chain.from_iterable(map(kind, _SPOKEN)), kind(CHINESE))


REMEMBER = _cue(lambda cues: cues.remember)
DECISION = _cue(lambda cues: cues.decision)
FACT = _cue(lambda cues: cues.fact)
CORRECTION = _cue(lambda cues: cues.correction)
OFFER = _cue(lambda cues: cues.offer)
SMALL_TALK = _nothing_but(chain.from_iterable(cues.small_talk for cues in _SPOKEN), CHINESE.small_talk)
