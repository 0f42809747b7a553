"""Texts made comparable: normal form and its hash."""

import hashlib
import re
import unicodedata
from collections.abc import Callable

_SPACES = re.compile(r"\s+")
_EDGES = " .!?;,:\"'`“”‘’…"


def normalise(text: str) -> str:
    """Case, width, spacing and closing punctuation taken away: two texts that say the same letter for letter."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _SPACES.sub(" ", folded).strip(_EDGES)


def holds(words: str) -> Callable[[str], bool]:
    """Tells of a text whether every word of `words` stands in it somewhere, in whatever case and width."""
    wanted = _folded(words).split()

    def is_in(text: str) -> bool:
        folded = _folded(text)
        return all(word in folded for word in wanted)

    return is_in


def content_hash(text: str) -> bytes:
    """16 bytes, equal for texts of one normal form."""
    return digest(normalise(text))


def digest(text: str) -> bytes:
    """16 bytes, equal for equal texts."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()
