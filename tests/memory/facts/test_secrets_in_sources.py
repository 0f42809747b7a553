"""The source of a memory is kept without secrets, with work that does not run away."""

import time

import pytest

from mnemoir.privacy.secrets import without_secret

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


@pytest.mark.real_time
@pytest.mark.slow
@pytest.mark.parametrize("piece", ["a-", "eyJ-aaaaaaaa", "a://b", "key ", "1234 ", "sk-", "pass: "])
def test_the_work_for_a_text_grows_with_its_length_and_not_with_its_square(piece):
    def work(length):
        text = (piece * length)[:length]
        return least_work(lambda: without_secret(text))

    assert work(100_000) < 10 * work(25_000)


def least_work(look, times=5):
    """Processor time of this thread, which others on the machine do not add to."""

    def once():
        began = time.thread_time_ns()
        look()
        return time.thread_time_ns() - began

    return min(once() for _ in range(times))
