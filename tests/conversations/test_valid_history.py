"""Histories that providers refuse are detected, and open calls are closed."""

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.conversations.windows.validity import (
    AnsweredCall,
    InvalidHistory,
    assert_valid_history,
    close_open_calls,
    match_results,
)
from mnemoir.core.conversations import Message
from tests.conversations.histories import any_messages, caller, result, valid_histories

SYSTEM = Message("system", "be kind")
SUMMARY = Message("system", "Previous context: they spoke of boats")
USER = Message("user", "hello")
ANSWER = Message("assistant", "hi")


@given(messages=valid_histories())
def test_valid_histories_are_accepted_and_loaded_as_they_are(messages):
    assert_valid_history(messages)
    assert close_open_calls(messages) == messages


@given(messages=any_messages())
def test_whatever_was_stored_its_tool_rounds_are_valid_once_open_calls_are_closed(messages):
    before = deepcopy(messages)
    closed = close_open_calls(messages)
    assert_valid_history(closed, begins="any")
    assert messages == before
    assert close_open_calls(closed) == closed
    assert [m for m in closed if m.role != "tool"] == [m for m in messages if m.role != "tool"]


@pytest.mark.slow
@given(messages=valid_histories(), drop=st.integers(0, 40))
def test_a_history_that_lost_one_half_of_a_tool_round_is_refused(messages, drop):
    halves = [at for at, message in enumerate(messages) if message.role == "tool" or message.tool_calls]
    if halves:
        del messages[halves[drop % len(halves)]]
        with pytest.raises(InvalidHistory):
            assert_valid_history(messages)


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([USER, caller("x")], r"Message 2 of 2 \(assistant\): 1 of its calls have no result"),
        ([USER, caller("x"), USER, result("x")], "other messages stand between"),
        ([USER, caller("x"), SYSTEM, result("x")], "other messages stand between"),
        ([result("x"), USER], r"Message 1 of 2 \(tool\): no call before it"),
        ([USER, caller("x"), result("x"), result("x")], r"Message 4 of 4 \(tool\): no call before it"),
        ([USER, caller("x"), result(None)], "needs the id"),
        ([ANSWER, USER], "begins with a user message"),
        ([SYSTEM, ANSWER], "begins with a user message"),
    ],
)
def test_a_refusal_names_the_message_and_the_reason(messages, reason):
    with pytest.raises(InvalidHistory, match=reason):
        assert_valid_history(messages)


@pytest.mark.parametrize("messages", [[], [SYSTEM], [SYSTEM, USER, ANSWER], [SUMMARY, ANSWER, USER], [USER, USER]])
def test_these_are_accepted(messages):
    assert_valid_history(messages)


def test_a_window_cut_between_single_messages_may_begin_with_an_answer():
    assert_valid_history([ANSWER, USER], begins="any")


@pytest.mark.parametrize("messages", [[], [USER], [USER, caller("x"), result("x")]])
def test_a_sent_history_ends_with_a_user_message_or_a_result(messages):
    assert_valid_history(messages, sent=True)


@pytest.mark.parametrize("messages", [[SYSTEM], [USER, ANSWER]])
def test_a_history_with_another_end_is_refused(messages):
    with pytest.raises(InvalidHistory, match="ends with a user message"):
        assert_valid_history(messages, sent=True)


def test_a_call_that_a_crash_left_open_gets_a_result_that_says_so():
    made_up = Message("tool", "[INTERRUPTED]", tool_call_id="y", name="look")
    assert close_open_calls([USER, caller("x", "y"), result("x"), USER]) == [
        USER,
        caller("x", "y"),
        result("x"),
        made_up,
        USER,
    ]


def test_a_late_result_is_moved_to_its_call_and_one_without_a_call_is_left_out():
    assert close_open_calls([caller("x"), USER, result("x"), result("z")]) == [caller("x"), result("x"), USER]


def test_a_result_without_an_id_gets_the_one_of_the_call_it_answers():
    closed = close_open_calls([caller("x", "y"), result(None, "first"), result(None, "second")])
    assert [(message.tool_call_id, message.text) for message in closed[1:]] == [("x", "first"), ("y", "second")]


def test_ids_used_again_belong_to_the_nearest_call_before():
    messages = [caller("x"), result("x"), caller("x"), result("x")]
    assert match_results(messages) == {1: AnsweredCall(caller=0, call_id="x"), 3: AnsweredCall(caller=2, call_id="x")}


def test_a_call_asked_twice_in_one_message_wants_one_result():
    assert_valid_history([USER, caller("x", "x"), result("x")])
    assert close_open_calls([caller("x", "x")])[1:] == [
        Message("tool", "[INTERRUPTED]", tool_call_id="x", name="look")
    ]


def test_calls_are_asked_by_assistants_only():
    odd = Message("user", "hello", tool_calls=caller("x").tool_calls)
    assert_valid_history([odd])
    assert close_open_calls([odd, result("x")]) == [odd]
