"""What tells a key from words: a long value that is too irregular for a name."""

import math
import re
from collections import Counter
from itertools import pairwise

_KEY_LIKE = re.compile(r"[A-Za-z0-9+/_=.-]{12,}")
_PLAIN_WORDS = re.compile(r"(?:\d{1,3}|[^\W\d_]+)(?:[-'’/][^\W\d_]+)+")  # case-sensitive, 8-character
_LEAST_ENTROPY = 3.0  # bits per character


def looks_key(value: str, *, by_case: bool = False) -> bool:
    """True for a long irregular value; `by_case`: small and capital letters count as irregular, too."""
    is_irregular = any(map(str.isdigit, value)) or (by_case and has_capital_inside(value))
    return bool(_KEY_LIKE.fullmatch(value)) and is_irregular and entropy(value) >= _LEAST_ENTROPY


def is_plainly_words(value: str) -> bool:
    """True for words joined by hyphens: "case-sensitive", "8-character"."""
    return _PLAIN_WORDS.fullmatch(value) is not None


def has_capital_inside(value: str) -> bool:
    """True for a small letter with a capital behind it."""
    return any(a.islower() and b.isupper() for a, b in pairwise(value))


def entropy(value: str) -> float:
    """Shannon entropy in bits per character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())
