"""Texts made comparable: normal form and its hash."""

import hashlib
import re
import unicodedata

_SPACES = re.compile(r"\s+")
_EDGES = " .!?;,:\"'`“”‘’…"


def normalise(text: str) -> str:
    """Case, width, spacing and closing punctuation taken away: two texts that say the same letter for letter."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _SPACES.sub(" ", folded).strip(_EDGES)


def content_hash(text: str) -> bytes:
    """16 bytes, equal for texts of one normal form."""
    return hashlib.blake2b(normalise(text).encode("utf-8", "surrogatepass"), digest_size=16).digest()
