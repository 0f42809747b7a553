"""A text in the letters, digits and spaces that rules know, and where each of them stands in the text itself.

Documents and web pages write numbers with no-break spaces and hyphens, in wide letters, in the digits of other
scripts, or with invisible characters in between.
"""

import unicodedata
from collections.abc import Callable
from functools import lru_cache

_HYPHENS = "\u2010\u2011\u2212"
_WIDE = range(0xFF01, 0xFF5F)  # ASCII in full width
_TO_ASCII = 0xFEE0  # less than these
_SYLLABLES = "\u1000"  # the first letter of scripts whose marks are part of a letter
_KNOWN = 4096  # characters whose plain form is remembered

Place = Callable[[int, int], tuple[int, int]]
"""The place in a text of what stands at a place in its plain form."""


def plain(text: str) -> str:
    """The text without invisible characters, with ASCII in place of wide letters, digits, spaces and hyphens."""
    return plain_with_places(text)[0]


def plain_with_places(text: str) -> tuple[str, Place]:
    """The plain form of a text, and what tells where its parts stand in the text."""
    if text.isascii():
        return text, _same
    changed = {char: other for char in set(text) if (other := _plain_character(char)) != char}
    if not changed:
        return text, _same
    translated = text.translate({ord(char): other for char, other in changed.items()})
    if "" not in changed.values():
        return translated, _same
    kept = [at for at, char in enumerate(text) if changed.get(char) != ""]
    return translated, lambda start, end: (kept[start], kept[end - 1] + 1)


def _same(start: int, end: int) -> tuple[int, int]:
    return start, end


@lru_cache(_KNOWN)
def _plain_character(char: str) -> str:
    if ord(char) in _WIDE:
        return chr(ord(char) - _TO_ASCII)
    if char in _HYPHENS:
        return "-"
    match unicodedata.category(char):
        case "Cf":
            return ""
        case "Nd":
            return str(unicodedata.decimal(char))
        case "Zs":
            return " "
    return char


def without_accents(text: str) -> str:
    """The text in small letters without accents, letter for letter: places in both are the same."""
    if text.isascii():
        return text.lower()
    return text.translate({ord(char): _bare_letter(char) for char in set(text)})


@lru_cache(_KNOWN)
def _bare_letter(char: str) -> str:
    """The small letter without its accents; "ß" is "s". Letters of syllables, as in Japanese, stay whole."""
    if char >= _SYLLABLES and not "Ḁ" <= char <= "ỿ":
        return char
    return "s" if char in "ßẞ" else unicodedata.normalize("NFD", char.lower())[0]
