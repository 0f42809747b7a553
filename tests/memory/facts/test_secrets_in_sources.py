"""The source of a memory is kept without secrets, in time that does not run away."""

import time

import pytest

from mnemoir.memory.facts.secrets import without_secret

SECRET = "My password is hunter2-Graz."


def test_a_source_without_a_secret_is_kept_as_it_was_said():
    said = "I moved to Graz. " * 1000
    assert without_secret(said) == said


@pytest.mark.parametrize("place", [0, 3_990, 4_000, 50_000])
def test_a_secret_anywhere_leaves_the_source_out(place):
    said = ("I moved to Graz. " * 4_000)[:place] + SECRET + " I moved to Graz." * 100
    assert without_secret(said) == "(left out: it holds a secret)"


def test_what_is_too_long_to_look_through_is_not_kept():
    assert without_secret("x" * 100_001) == "(left out: too long to look through for secrets)"


@pytest.mark.parametrize("piece", ["a-", "eyJ-aaaaaaaa", "a://b", "key ", "1234 ", "sk-", "pass: "])
def test_no_text_takes_long_to_look_through(piece):
    began = time.monotonic()
    without_secret((piece * 100_000)[:100_000])
    assert time.monotonic() - began < 5
