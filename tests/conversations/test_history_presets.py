"""The presets of rules and the turns that each selects."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.conversations.turns.presets import (
    COMPAT_A_NEW,
    COMPAT_A_OLD,
    COMPAT_B,
    DEFAULT,
    HistoryRules,
    counter_of,
    fit_by,
    preset,
    select_turns,
)
from mnemoir.conversations.windows.counters import CHARS4, FunctionCounter
from mnemoir.core.conversations import Message
from mnemoir.core.errors import SettingsError
from mnemoir.ports.turns import Turn

LETTERS = FunctionCounter(lambda messages: sum(len(message.text) for message in messages))


def turn(turn_id: str, parent: str | None, answer: str = "yes", **more) -> Turn:
    return Turn(
        id=turn_id,
        conversation_id="c",
        parent_message_id=parent,
        query="why?",
        answer=answer,
        created_at=datetime(2026, 1, 7, tzinfo=UTC),
        **more,
    )


def line(count: int, *, unfinished: bool = False) -> list[Turn]:
    """A conversation without branches, newest first; the newest turn may still be under way."""
    turns = [turn(f"m{at}", f"m{at - 1}" if at else None) for at in range(count)]
    if unfinished:
        turns.append(turn(f"m{count}", f"m{count - 1}" if count else None, answer=""))
    return turns[::-1]


def picked(rows: Iterable[Turn], rules: HistoryRules = DEFAULT, **more) -> list[str]:
    return [one.id for one in select_turns(rows, rules, **more)]


def test_presets_have_names():
    assert [preset(name) for name in ("default", "compat_a_old", "compat_a_new", "compat_b")] == [
        DEFAULT,
        COMPAT_A_OLD,
        COMPAT_A_NEW,
        COMPAT_B,
    ]
    with pytest.raises(SettingsError, match="default, compat_a_old, compat_a_new, compat_b"):
        preset("dify")


def test_turns_come_oldest_first_without_the_one_under_way():
    assert picked(line(3, unfinished=True)) == ["m0", "m1", "m2"]


@given(count=st.integers(0, 12), limit=st.integers(1, 14), unfinished=st.booleans())
def test_a_limit_means_that_many_finished_turns_by_default_and_rows_in_the_old_sense(count, limit, unfinished):
    rows = line(count, unfinished=unfinished)
    finished = [f"m{at}" for at in range(count)]
    assert picked(rows, message_limit=limit) == finished[-limit:]
    past = limit - unfinished
    assert picked(rows, COMPAT_A_NEW, message_limit=limit) == (finished[-past:] if past else [])


@pytest.mark.parametrize(("rules", "turns"), [(DEFAULT, 500), (COMPAT_A_OLD, 499)])
def test_without_a_limit_it_is_500(rules, turns):
    assert len(picked(line(600, unfinished=True), rules)) == turns


def test_rows_of_dead_branches_use_up_the_old_limit_and_not_the_new_one():
    rows = [turn("m2", "m1"), turn("x2", "m1"), turn("x1", "m1"), turn("m1", "m0"), turn("m0", None)]
    assert picked(rows, message_limit=3) == ["m0", "m1", "m2"]
    assert picked(rows, COMPAT_A_NEW, message_limit=3) == ["m2"]


def test_the_old_presets_take_the_root_of_another_branch_and_the_default_does_not():
    rows = [turn("m2", "m0"), turn("m1", None), turn("m0", None)]
    assert picked(rows) == ["m0", "m2"]
    assert picked(rows, COMPAT_A_OLD) == picked(rows, COMPAT_A_NEW) == ["m1", "m2"]
    assert picked(rows, COMPAT_B) == ["m0", "m1", "m2"]


def test_a_parent_is_looked_up_within_the_row_limit_alone():
    rows = [turn("m2", "m0"), turn("m1", None), turn("m0", None)]
    assert picked(rows, HistoryRules(limit_applies_to="rows"), message_limit=2) == ["m2"]
    assert picked(rows, HistoryRules(limit_applies_to="rows"), message_limit=3) == ["m0", "m2"]


def test_a_parent_that_is_newer_than_its_child_stays_in_the_history():
    rows = [turn("m1", "m0"), turn("m2", "m1"), turn("m0", None)]  # the clock was set back before m2
    assert picked(rows, start="m2") == ["m0", "m1", "m2"]
    assert picked(rows, COMPAT_A_NEW, start="m2") == ["m0", "m2"]


def test_history_starts_at_the_turn_being_answered_not_at_the_newest():
    rows = [turn("b1", "m0"), turn("a1", "m0", answer=""), turn("m0", None)]
    assert picked(rows, start="a1") == ["m0"]


def test_a_newest_turn_with_tokens_and_no_text_stays_in_the_old_presets():
    rows = [turn("m1", "m0", answer="", answer_tokens=7), turn("m0", None)]
    assert picked(rows, COMPAT_A_NEW) == ["m0", "m1"]
    assert picked(rows) == ["m0"]


def test_an_unanswered_turn_further_back_is_left_out_unless_it_has_files_or_calls():
    rows = [
        turn("m4", "m3"),
        turn("m3", "m2", answer="", has_tool_calls=True),
        turn("m2", "m1", answer=""),
        turn("m1", "m0", answer=""),
        turn("m0", None),
    ]
    assert picked(rows, has_files=lambda one: one.id == "m1") == ["m0", "m1", "m3", "m4"]
    assert picked(rows, COMPAT_A_OLD) == ["m0", "m1", "m2", "m3", "m4"]


def test_no_row_is_read_that_the_window_does_not_need():
    rows = iter(line(100, unfinished=True))
    assert picked(rows, message_limit=2) == ["m98", "m99"]
    assert next(rows).id == "m97"


HISTORY = [Message("user", "u" * 10), Message("assistant", "a" * 10)] * 2


@pytest.mark.parametrize(("rules", "kept"), [(DEFAULT, 2), (COMPAT_A_NEW, 2), (COMPAT_A_OLD, 3), (COMPAT_B, 3)])
def test_windows_are_cut_at_turns_or_at_messages(rules, kept):
    assert fit_by(rules, HISTORY, 30, LETTERS) == HISTORY[-kept:]


@pytest.mark.parametrize(("rules", "kept"), [(DEFAULT, 0), (COMPAT_A_NEW, 0), (COMPAT_A_OLD, 1), (COMPAT_B, 0)])
def test_only_the_oldest_preset_keeps_a_message_that_is_over_the_budget(rules, kept):
    assert fit_by(rules, HISTORY, 5, LETTERS) == HISTORY[len(HISTORY) - kept :]


class SaysNothing:
    def get_llm_num_tokens(self, messages):
        return 0


def test_a_model_that_counts_nothing_disables_truncation_in_the_old_presets_only():
    assert fit_by(COMPAT_A_NEW, HISTORY, 1, counter_of(COMPAT_A_NEW, SaysNothing())) == HISTORY
    assert fit_by(DEFAULT, HISTORY, 1, counter_of(DEFAULT, SaysNothing())) == []


def test_session_memory_counts_by_characters_whatever_the_model():
    assert counter_of(COMPAT_B, SaysNothing()) is counter_of(COMPAT_B) is CHARS4
    with pytest.raises(SettingsError, match="needs a model"):
        counter_of(COMPAT_A_OLD)
    assert counter_of(replace(DEFAULT, counter="heuristic")).count_one(Message("user", "")) == 4
