"""Which turns a model is shown, and how a long conversation is cut."""

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from mnemoir.core.text import RecalledLine, estimate_tokens, put_up
from mnemoir.memory.facts.extract.conversation import turns_for_extraction, turns_without_recall, windows
from mnemoir.memory.facts.extract.requests import Turn


def user(text: str) -> Turn:
    return Turn(role="user", text=text)


def once(runs: list[list[Turn]]) -> list[Turn]:
    """All turns of the runs, overlaps left out."""
    before: list[list[Turn]] = [[], *runs]
    return [
        turn for earlier, run in pairwise(before) for turn in (run[1:] if earlier and run[0] is earlier[-1] else run)
    ]


def covered(whole: str, pieces: list[str]) -> str:
    """The beginning of the text that the pieces cover, each beginning at or before the end of the one before."""
    end = 0
    for piece in pieces:
        begin = whole.rfind(piece, 0, end + len(piece))
        assert begin >= 0
        end = begin + len(piece)
    return whole[:end]


def test_only_user_and_assistant_turns_with_words_are_analysed():
    turns = [Turn(role=role, text=role) for role in ("system", "developer", "user", "assistant", "tool", "other")]
    assert [turn.role for turn in turns_for_extraction([*turns, user("  "), user("")])] == ["user", "assistant"]


def test_recalled_text_is_taken_out_and_a_turn_of_nothing_else_is_dropped():
    fenced = put_up([RecalledLine(text="Likes tea")], "I like milk.")
    alone = put_up([RecalledLine(text="Likes tea")], "")
    assert [turn.text for turn in turns_without_recall([user(fenced), user(alone)])] == ["I like milk."]


def test_lone_surrogates_which_no_json_can_carry_are_replaced():
    assert turns_without_recall([user("a\ud800b")])[0].text == "a?b"


def test_each_window_begins_with_the_last_turn_of_the_one_before():
    turns = [user(f"{n} " + "word " * 70) for n in range(10)]
    runs = windows(turns, 400)
    assert len(runs) > 2
    assert all(later[0] == earlier[-1] for earlier, later in pairwise(runs))


@given(st.lists(st.text(max_size=400), max_size=30), st.integers(40, 300))
def test_windows_lose_no_turn_and_keep_to_their_budget(texts, most_tokens):
    turns = [user(text) for text in texts if text.strip()]
    runs = windows(turns, most_tokens)
    assert all(sum(estimate_tokens(turn.text) for turn in run) <= most_tokens for run in runs)
    assert {turn.text for run in runs for turn in run} >= {
        turn.text for turn in turns if estimate_tokens(turn.text) <= most_tokens - 12
    }


@given(st.text(min_size=1, max_size=4000), st.integers(40, 300))
def test_the_pieces_of_a_long_turn_cover_all_of_it(text, most_tokens):
    pieces = [turn.text for turn in once(windows([user(text)], most_tokens))]
    assert covered(text, pieces).rstrip() == text.rstrip()


def test_a_megabyte_in_one_turn_is_cut_into_pieces_that_hold_every_sentence():
    sentences = [f"Sentence {n} stands after another one." for n in range(30_000)]
    pieces = [turn.text for run in windows([user(" ".join(sentences))], 8000) for turn in run]
    assert max(map(estimate_tokens, pieces)) <= 8000
    assert set(re.findall(r"Sentence \d+ stands after another one\.", "\n".join(pieces))) == set(sentences)


def test_nothing_said_is_no_window():
    assert windows([], 100) == []
