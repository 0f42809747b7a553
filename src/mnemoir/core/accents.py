"""Texts without accents, so that words compare as people type them."""

import unicodedata

_TWO_LETTERS = str.maketrans({"ß": "ss", "œ": "oe", "Œ": "Oe", "æ": "ae", "Æ": "Ae", "’": "'"})
_MOST_KNOWN = 4096  # characters that are remembered


class _Letters(dict[int, str]):
    """What stands for each character, as `str.translate` asks for it; `most` letters of it at most."""

    def __init__(self, most: int | None = None) -> None:
        super().__init__()
        self._most = most

    def __missing__(self, code: int) -> str:
        letters = _letters(chr(code))
        plain = letters if self._most is None else letters[: self._most] or " "
        if len(self) < _MOST_KNOWN:
            self[code] = plain
        return plain


_PLAIN = _Letters()
_ALIGNED = _Letters(1)


def without_accents(text: str) -> str:
    """The text without accents; "ß", "œ" and "æ" become two letters, quote marks straight."""
    return text if text.isascii() else text.translate(_PLAIN)


def aligned_text(text: str) -> str:
    """The text without accents, letter for letter: "ß" is "s", so that places in both are the same."""
    return text if text.isascii() else text.translate(_ALIGNED)


def _letters(char: str) -> str:
    decomposed = unicodedata.normalize("NFD", char.translate(_TWO_LETTERS))
    return "".join(part for part in decomposed if not unicodedata.combining(part))
