"""Forms of a word by language, which words are compared by beside the English stem.

A word of Latin, Cyrillic or Arabic script is stemmed by the Snowball rules of each language that is written in it: of
a fact of three words the language cannot be told, of a question mostly. Hangul has spaces between words, but none
before particles, so a Korean word gives its pairs of letters.
"""

import functools
import re
import threading
import unicodedata
from collections.abc import Sequence
from typing import Any

import structlog

KOREAN = "ko"
_ALGORITHMS = {
    "de": "german",
    "fr": "french",
    "es": "spanish",
    "it": "italian",
    "pt": "portuguese",
    "nl": "dutch",
    "pl": "polish",
    "tr": "turkish",
    "ru": "russian",
    "ar": "arabic",
}
_LATIN = ("de", "fr", "es", "it", "pt", "nl", "pl", "tr")
_SCRIPTS = (
    (re.compile("[a-z\u00df-\u024f]+"), _LATIN),
    (re.compile("[\u0400-\u04ff]+"), ("ru",)),
    (re.compile("[\u0600-\u06ff]+"), ("ar",)),
    (re.compile("[\uac00-\ud7a3]+"), (KOREAN,)),
)
_LONGEST = 64  # letters: a longer run is no word
_log = structlog.get_logger(__name__)


@functools.lru_cache(maxsize=16384)
def forms(word: str) -> tuple[str, ...]:
    """The forms of a word in lower case by every language of its script; () for a script without such languages."""
    languages = next((found for letters, found in _SCRIPTS if letters.fullmatch(word)), ())
    return tuple(dict.fromkeys(form for language in languages for form in forms_in(language, word)))


def has_forms(language: str) -> bool:
    """True for languages with forms besides the English stem."""
    return language == KOREAN or language in _ALGORITHMS


def forms_in(language: str, word: str) -> Sequence[str]:
    """The forms of a word in lower case by one language: its stem, or pairs of letters."""
    if language == KOREAN:
        return [word[start : start + 2] for start in range(len(word) - 1)]
    stemmer = _stemmers.of(language)
    return [] if stemmer is None or len(word) > _LONGEST else [_without_marks(stemmer.stemWord(word))]


def _without_marks(word: str) -> str:
    if word.isascii():
        return word
    return "".join(letter for letter in unicodedata.normalize("NFD", word) if not unicodedata.combining(letter))


class _Stemmers(threading.local):
    """The stemmers of a thread, each made at its first use: they may not be used by two threads at once."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}  # the package has no types

    def of(self, language: str) -> Any:
        """The stemmer of a language; None when it has none, or when the package is missing, which is logged."""
        if language not in self._made:
            self._made[language] = _new_stemmer(_ALGORITHMS[language]) if language in _ALGORITHMS else None
        return self._made[language]


def _new_stemmer(algorithm: str) -> Any:
    try:
        import Stemmer
    except ImportError as exc:
        _log.warning("words are compared by their English stems alone", error=str(exc))
        return None
    return Stemmer.Stemmer(algorithm, 0)  # its own cache makes new words three times as slow; `forms` has one


_stemmers = _Stemmers()
