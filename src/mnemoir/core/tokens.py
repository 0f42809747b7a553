"""Token counts without a tokenizer: an estimate, on the high side for most models."""

import math


def estimate_tokens(text: str) -> int:
    """About one token per four characters of ASCII and one per other character; 0 for an empty text."""
    ascii_count = len(text.encode("ascii", "ignore"))
    return math.ceil(ascii_count / 4) + len(text) - ascii_count
