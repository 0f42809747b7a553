"""Texts without accents, so that words compare as people type them."""

import unicodedata
from functools import lru_cache

_TWO_LETTERS = str.maketrans({"ß": "ss", "œ": "oe", "Œ": "Oe", "æ": "ae", "Æ": "Ae", "’": "'"})


def without_accents(text: str) -> str:
    """The text without accents; "ß", "œ" and "æ" become two letters, quote marks straight."""
    return text if text.isascii() else "".join(map(_letters, text))


def aligned_text(text: str) -> str:
    """The text without accents, letter for letter: "ß" is "s", so that places in both are the same."""
    return text if text.isascii() else "".join(_letters(char)[:1] or " " for char in text)


@lru_cache(maxsize=1024)
def _letters(char: str) -> str:
    decomposed = unicodedata.normalize("NFD", char.translate(_TWO_LETTERS))
    return "".join(part for part in decomposed if not unicodedata.combining(part))
