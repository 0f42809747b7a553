"""Texts made comparable by a normal form and its hash, and their tokens estimated without a tokenizer."""

import hashlib
import math
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


def estimate_tokens(text: str) -> int:
    """About one token per four characters of ASCII and one per other character; 0 for an empty text."""
    ascii_count = len(text.encode("ascii", "ignore"))
    return math.ceil(ascii_count / 4) + len(text) - ascii_count


def estimate_prompt_tokens(text: str) -> int:
    """Tokens by words or by characters, whichever says more, and a tenth on top; 0 for an empty text.

    This is the measure WilmerAI configurations are written for: limits and chunk sizes in them count by it.
    """
    return int(max(len(text.split()) * 1.35, len(text) / 3.5) * 1.10)
