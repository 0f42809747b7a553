"""What stands in for memories where a conversation belongs to no discussion."""

import pytest

from mnemoir.core.messages import text_message
from mnemoir.memory.discussions.parts import NONE_TO_GRAB
from mnemoir.memory.discussions.stateless import recent_turns, without_role_names

NINE = [text_message("system", "S1"), *(text_message("user", f"m{number}") for number in range(1, 10))]


def test_the_last_turns_are_given_without_the_newest_of_them():
    assert recent_turns(NINE, turns=4, lookback_start=1, delimiter="|") == "m5\nm6\nm7"


def test_more_turns_than_there_are_give_all_but_the_newest():
    assert recent_turns(NINE[1:4], turns=99, delimiter="|") == "m1\nm2"


@pytest.mark.parametrize(
    ("messages", "turns", "lookback_start"),
    [([], 5, 0), (NINE[:1], 5, 0), (NINE, 0, 0), (NINE, -3, 0), (NINE, 5, 10), (NINE, 5, 99), (NINE, 1, 0)],
)
def test_nothing_to_choose_from_gives_the_fixed_sentence(messages, turns, lookback_start):
    assert recent_turns(messages, turns=turns, lookback_start=lookback_start, delimiter="|") == NONE_TO_GRAB


def test_pieces_of_about_four_hundred_tokens_are_joined_by_the_delimiter():
    long = [text_message("user", f"m{number} " + "word " * 150) for number in range(4)]
    found = recent_turns(long, turns=9, delimiter="--x--").split("--x--")
    assert [piece.split()[0] for piece in found] == ["m0", "m1", "m2"]


def test_names_of_roles_are_taken_away_wherever_they_stand():
    text = "User: a USER: b Assistant: c ASSISTANT: d systemMes: e SYSTEMMES: f user: g Users: h User:i"
    assert without_role_names(text) == "a b c d e f user: g Users: h User:i"
