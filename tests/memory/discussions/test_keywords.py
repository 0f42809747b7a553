"""Search by words without an index: in the conversation, and in chunk summaries."""

import pytest

from mnemoir.core.messages import text_message
from mnemoir.memory.discussions.parts import CHUNK_BREAK, TOO_SHORT
from mnemoir.memory.discussions.stateless import search_conversation, search_summaries, without_speakers

FILLER = "filler " * 240  # with one more message a piece of 400 tokens is full


def user(*texts):
    return [text_message("user", text) for text in texts]


def pages(*texts):
    """Messages that are a piece each, and a newest one."""
    return user(*(f"{text} {FILLER}" for text in texts), "newest")


def begins(result):
    return [piece.split(" filler")[0] for piece in result.split(CHUNK_BREAK)] if result else []


def test_names_of_speakers_and_marks_are_taken_out_of_keywords():
    said = user("Ann: I like tea", "and Bolt: said: so")
    assert without_speakers('(Ann AND tea) OR "Bolt" cups: Cy', said) == "( AND tea ) OR Cy"


def test_only_the_last_ten_messages_tell_who_speaks():
    assert without_speakers("Ann tea", user("Ann: hello", *["x"] * 10)) == "Ann tea"


def test_pieces_with_more_hits_come_first_and_those_without_not_at_all():
    said = pages("one tea", "no such word", "tea and more tea", "Tea at last")
    assert begins(search_conversation("tea", said)) == ["tea and more tea", "one tea", "Tea at last"]


def test_words_that_stand_near_each_other_weigh_more_than_single_ones():
    said = pages("tea tea tea", "tea green pot tea green", "green")
    assert begins(search_conversation("green AND tea AND pot", said)) == [
        "tea green pot tea green",
        "tea tea tea",
        "green",
    ]


def test_operators_and_parentheses_are_no_words_to_look_for():
    assert search_conversation("(and OR or)", pages("AND OR ( )", "and or")) != ""
    assert search_conversation("(AND OR OR)", pages("AND OR ( )", "and or")) == ""


def test_the_newest_message_is_not_searched_unless_a_start_is_given():
    said = user("tea one", "tea two", "tea three")
    assert search_conversation("tea", said) == "tea one\ntea two"
    assert search_conversation("tea", said, lookback_start=2) == "tea two\ntea three"


def test_a_conversation_that_is_not_longer_than_the_start_has_no_memories():
    assert search_conversation("tea", user("tea"), lookback_start=1) == TOO_SHORT
    assert search_conversation("tea", []) == TOO_SHORT


def test_at_most_ten_pieces_are_given_the_best_of_them():
    said = pages(*(f"{'tea ' * count}end{count}" for count in range(1, 13)))
    found = begins(search_conversation("tea", said))
    assert [piece.split()[-1] for piece in found] == [f"end{count}" for count in range(12, 2, -1)]


def test_names_of_roles_are_taken_out_of_what_is_found():
    assert search_conversation("tea", user("User: tea ASSISTANT: so", "x")) == "tea so"


def test_chunk_summaries_are_found_by_parts_of_words_without_the_newest_three():
    summaries = ["Teapots are blue.", "Cats.", "TEA again.", "tea 1", "tea 2", "tea 3"]
    assert search_summaries("tea", [], summaries) == "Teapots are blue.\n\nTEA again."


def test_up_to_three_chunk_summaries_are_all_searched():
    assert search_summaries("tea", [], ["tea 1", "cats", "tea 2"]) == "tea 1\n\ntea 2"


def test_the_first_ten_chunk_summaries_are_given():
    found = search_summaries("tea", [], [f"tea {number}" for number in range(30)])
    assert found.split("\n\n") == [f"tea {number}" for number in range(10)]


def test_no_keywords_find_nothing():
    assert search_conversation(" ( ) ", user("tea", "x")) == ""
    assert search_summaries("", [], ["tea", "cats"]) == ""


@pytest.mark.slow
def test_a_hostile_text_costs_no_more_than_its_length():
    said = user("a " * 300_000 + "b:" * 300_000, "newest")
    assert search_conversation("a b", said) != ""  # the square of such a length takes hours, and the test ends before
