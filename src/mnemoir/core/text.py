"""Comparison of texts by a normal form, and estimates of their tokens without a tokenizer.

The estimates are too high rather than too low for most models.
"""

import hashlib
import math
import re
import unicodedata
from collections.abc import Callable

_SPACES = re.compile(r"\s+")
_EDGES = " .!?;,:\"'`“”‘’…"


def normalise(text: str) -> str:
    """The normal form of a text: without differences of case, width, spacing and closing punctuation."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _SPACES.sub(" ", folded).strip(_EDGES)


def holds(words: str) -> Callable[[str], bool]:
    """A test that is True for texts containing every word of `words`, ignoring case and width."""
    wanted = _folded(words).split()

    def is_in(text: str) -> bool:
        folded = _folded(text)
        return all(word in folded for word in wanted)

    return is_in


def content_hash(text: str) -> bytes:
    """A hash of 16 bytes, equal for texts with the same normal form."""
    return digest(normalise(text))


def digest(text: str) -> bytes:
    """A hash of 16 bytes, equal for equal texts."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def estimate_tokens(text: str) -> int:
    """About one token per four characters of ASCII and one per other character; 0 for an empty text."""
    ascii_count = len(text.encode("ascii", "ignore"))
    return math.ceil(ascii_count / 4) + len(text) - ascii_count


def estimate_prompt_tokens(text: str) -> int:
    """The larger of two estimates, 1.35 tokens a word or 1 for 3.5 characters, plus 10 %; 0 for an empty text.

    Source: WilmerAI, whose configurations state limits and chunk sizes in this measure.
    """
    return int(max(len(text.split()) * 1.35, len(text) / 3.5) * 1.10)
