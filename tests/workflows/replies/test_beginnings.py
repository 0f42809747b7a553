"""Removal of texts from the beginning of answers, whole and in pieces."""

import pytest

from mnemoir.workflows.text.reply_cleaning import (
    MOST_HELD,
    BeginningFilter,
    one_of,
    speaker_name,
    strip_beginning,
    timestamp_echo,
    white_space,
)
from tests.workflows.replies.splitting import joined, pieces

NAMES = (white_space, one_of(["Roland:", "Roland", ""]))
BOTH = (*NAMES, one_of(["(aside)"]))
ECHO = (white_space, timestamp_echo, speaker_name)
TRIMS = (white_space, timestamp_echo, white_space)

ROWS = [
    (NAMES, "", ""),
    (NAMES, " \n ", ""),
    (NAMES, "Roland: hello", "hello"),
    (NAMES, "\n Roland:\n\nhello ", "hello "),
    (NAMES, "Roland says", "says"),
    (NAMES, "Roland:Roland:x", "Roland:x"),
    (NAMES, "roland: x", "roland: x"),
    (NAMES, "Rola", "Rola"),
    (NAMES, "Roland", ""),
    (NAMES, "Rollo", "Rollo"),
    (NAMES, "Hello Roland:", "Hello Roland:"),
    (BOTH, "Roland: (aside) x", "x"),
    (BOTH, "(aside) Roland: x", "Roland: x"),
    (BOTH, "Roland:(as", "(as"),
    (ECHO, "[Sent less than a minute ago] x", "x"),
    (ECHO, "[Sent less than a minute ago]x", "x"),
    (ECHO, "[Sent less than a minute ago]  x", " x"),
    (ECHO, "[Sent less than a minute ago]", ""),
    (ECHO, "[Sent less than a minute ago] ", ""),
    (ECHO, "[Sent 2 days ago] x", "[Sent 2 days ago] x"),
    (ECHO, "[Sent less than", "[Sent less than"),
    (ECHO, "[Sent less than a minute ago] Assistant: x", "x"),
    (ECHO, "Assistant: x", "x"),
    (ECHO, "Assistant", "Assistant"),
    (ECHO, "Assistants: x", "Assistants: x"),
    (TRIMS, "[Sent less than a minute ago]\n\nx", "x"),
    ((white_space,), "\n\n x ", "x "),
]


@pytest.mark.parametrize(("stages", "said", "shown"), ROWS)
def test_beginnings_are_removed_from_a_whole_answer(stages, said, shown):
    assert strip_beginning(said, stages) == shown


@pytest.mark.parametrize(("stages", "said", "shown"), ROWS)
def test_beginnings_are_removed_from_an_answer_in_any_pieces(stages, said, shown):
    for parts in pieces(said):
        assert joined(BeginningFilter(stages), parts) == shown, parts


def test_an_answer_is_held_only_while_it_could_begin_with_one_of_the_texts():
    stream = BeginningFilter(NAMES)
    assert [stream.feed(part) for part in [" ", "Ro", "ll", "o"]] == ["", "", "Roll", "o"]


def test_an_earlier_text_that_may_still_come_is_waited_for():
    stream = BeginningFilter((one_of(["Roland the Great", "Roland"]),))
    assert [stream.feed(part) for part in ["Roland", " the G", "ood"]] == ["", "", "the Good"]


def test_white_space_is_dropped_as_it_comes():
    stream = BeginningFilter((white_space,))
    assert [stream.feed(part) for part in ["\n" * 1000, "  ", " x", " y"]] == ["", "", "x", " y"]


def test_after_a_hundred_characters_a_longer_text_is_no_longer_waited_for():
    long = "word " * 40
    stream = BeginningFilter((white_space, one_of([long])))
    assert stream.feed(long[: MOST_HELD - 1]) == ""
    assert stream.feed(long[MOST_HELD - 1 : MOST_HELD]) == long[:MOST_HELD]
    assert stream.passes


def test_a_longer_text_that_has_come_whole_is_removed():
    long = "word " * 40
    assert joined(BeginningFilter((white_space, one_of([long]))), [f"{long}x", "y"]) == "xy"


def test_each_list_may_wait_for_a_hundred_characters():
    stages = (white_space, one_of(["a" * 99]), one_of(["b" * 99]))
    assert joined(BeginningFilter(stages), list("a" * 99 + " " + "b" * 99 + " x")) == "x"
