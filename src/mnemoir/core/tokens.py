"""Token counts without a tokenizer: estimates, on the high side for most models."""

import math


def estimate_tokens(text: str) -> int:
    """About one token per four characters of ASCII and one per other character; 0 for an empty text."""
    ascii_count = len(text.encode("ascii", "ignore"))
    return math.ceil(ascii_count / 4) + len(text) - ascii_count


def estimate_prompt_tokens(text: str) -> int:
    """Tokens by words or by characters, whichever says more, and a tenth on top; 0 for an empty text.

    This is the measure WilmerAI configurations are written for: limits and chunk sizes in them count by it.
    """
    return int(max(len(text.split()) * 1.35, len(text) / 3.5) * 1.10)
