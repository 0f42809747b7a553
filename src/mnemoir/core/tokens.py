"""Estimates of token counts without a tokenizer, too high rather than too low for most models."""

import math


def estimate_tokens(text: str) -> int:
    """About one token per four characters of ASCII and one per other character; 0 for an empty text."""
    ascii_count = len(text.encode("ascii", "ignore"))
    return math.ceil(ascii_count / 4) + len(text) - ascii_count


def estimate_prompt_tokens(text: str) -> int:
    """The larger of two estimates, 1.35 tokens a word or 1 for 3.5 characters, plus 10 %; 0 for an empty text.

    Source: WilmerAI, whose configurations state limits and chunk sizes in this measure.
    """
    return int(max(len(text.split()) * 1.35, len(text) / 3.5) * 1.10)
