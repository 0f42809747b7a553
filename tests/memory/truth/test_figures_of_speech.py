"""Irony and figures of speech give no fact; what looks alike and is meant word for word does, in seven languages.

In `figures_of_speech.txt` the sentences from "I'm allergic to nuts." on are meant.
"""

from pathlib import Path

from tests.each_case import check_each
from tests.memory.truth.test_readings import learned

LINES = Path(__file__).with_name("figures_of_speech.txt").read_text(encoding="utf-8").splitlines()
MEANT = LINES.index("I'm allergic to nuts.")


def test_a_figure_of_speech_gives_no_fact():
    def gives_none(text):
        assert learned(text) == []

    check_each(LINES[:MEANT], gives_none)


def test_what_is_meant_word_for_word_gives_one_fact():
    def gives_one(text):
        assert len(learned(text)) == 1

    check_each(LINES[MEANT:], gives_one)


def test_what_stands_beside_a_figure_of_speech_is_learned():
    assert learned("I live in Graz and I live for the weekends.") == ["Lives in Graz"]
    assert learned("I have a dog and I'm married to my job.") == ["Has a dog"]
