"""Irony and figures of speech give no fact; what looks alike and is meant word for word does, in seven languages.

In `figures_of_speech.txt` the sentences from "I'm allergic to nuts." on are meant.
"""

from pathlib import Path

import pytest

from tests.each_case import check_each
from tests.memory.truth.test_readings import learned

LINES = Path(__file__).with_name("figures_of_speech.txt").read_text(encoding="utf-8").splitlines()
AT_A_TIME = 10  # the patterns of a language are made when it is first read, which takes a while
MEANT = LINES.index("I'm allergic to nuts.")


@pytest.mark.parametrize("first", range(0, len(LINES), AT_A_TIME))
def test_a_figure_of_speech_gives_no_fact_and_what_is_meant_gives_one(first):
    def gives_what_it_should(text):
        assert len(learned(text)) == (LINES.index(text) >= MEANT)

    check_each(LINES[first : first + AT_A_TIME], gives_what_it_should)


def test_what_stands_beside_a_figure_of_speech_is_learned():
    assert learned("I live in Graz and I live for the weekends.") == ["Lives in Graz"]
    assert learned("I have a dog and I'm married to my job.") == ["Has a dog"]
