"""Token counts without a tokenizer."""

import pytest

from mnemoir.core.text import estimate_prompt_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("hi", 1),
        ("one two three four", 5),
        ("a b c d e f g h", 11),
        ("x" * 35, 11),
        (" \n ", 0),
        ("日本語" * 7, 6),
    ],
)
def test_prompt_tokens_are_the_larger_estimate_by_words_or_characters(text, tokens):
    assert estimate_prompt_tokens(text) == tokens
