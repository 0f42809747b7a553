"""The normal form of texts, and its hash."""

import pytest

from mnemoir.core.text import content_hash, estimate_tokens, normalise


@pytest.mark.parametrize(
    "text", ["Lives in Graz", "lives in graz.", "  Lives\n in   GRAZ ", "“Lives in Graz”", "Ｌives in Graz"]
)
def test_the_same_statement_letter_for_letter_has_one_hash(text):
    assert content_hash(text) == content_hash("Lives in Graz")


@pytest.mark.parametrize("text", ["Lives in Linz", "Lives in Graz no longer", "C++", "C"])
def test_another_statement_has_another_hash(text):
    assert content_hash(text) != content_hash("Lives in Graz")


def test_signs_inside_a_text_stay():
    assert normalise("Uses C++, not C!") == "uses c++, not c"


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("abcd", 1), ("abcde", 2), ("日本", 2), ("ab日", 2)])
def test_tokens_are_estimated_by_script(text, tokens):
    assert estimate_tokens(text) == tokens
