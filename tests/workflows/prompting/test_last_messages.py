"""Selection of the last messages of a conversation for a node without a prompt of its own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.core.messages import Message, ToolCall, text_message
from mnemoir.workflows.prompting.history import last_for_chat, last_for_text, window_for_chat

TRACE = [
    text_message("system", "S1"),
    text_message("user", "U1"),
    text_message("assistant", "A1"),
    text_message("system", "mid"),
    text_message("user", "U2"),
]
roles = st.sampled_from(["system", "developer", "systemMes", "user", "assistant", "tool"])
conversations = st.lists(st.builds(text_message, roles, st.text(max_size=3)), max_size=12)


def texts(messages):
    return [message.text for message in messages]


@pytest.mark.parametrize(
    ("count", "sent"),
    [
        (2, ["mid", "U2"]),
        (3, ["A1", "mid", "U2"]),
        (4, ["U1", "A1", "mid", "U2"]),
        (99, ["U1", "A1", "mid", "U2"]),
        (0, []),
        (-1, []),
    ],
)
def test_a_chat_gets_the_last_messages_behind_the_leading_system_messages(count, sent):
    assert texts(last_for_chat(TRACE, count)) == sent


def test_a_conversation_of_system_messages_alone_is_cut_by_the_count_only():
    lines = [text_message("system", name) for name in "abc"]
    assert texts(last_for_chat(lines, 2)) == ["b", "c"]
    assert texts(last_for_chat(lines, 9)) == ["a", "b", "c"]


def test_a_leading_developer_message_is_a_system_message():
    assert texts(last_for_chat([text_message("developer", "D"), text_message("user", "U")], 5)) == ["U"]


@pytest.mark.parametrize(
    ("count", "sent"), [(0, ["U2"]), (1, ["A1", "U2"]), (2, ["U1", "A1", "U2"]), (9, ["U1", "A1", "U2"]), (-1, [])]
)
def test_a_text_prompt_gets_one_more_and_no_system_message_at_all(count, sent):
    assert texts(last_for_text(TRACE, count)) == sent


def test_a_later_system_message_of_a_marked_prompt_stays_in_a_text_prompt():
    marked = [text_message("system", "SS"), text_message("user", "hi"), text_message("systemMes", "again")]
    assert texts(last_for_text(marked, 5)) == ["hi", "again"]


@given(conversations, st.integers(1, 15))
def test_both_selections_end_with_the_newest_message_they_may_hold(conversation, count):
    spoken = [message for message in conversation if message.role not in ("system", "developer")]
    assert last_for_text(conversation, count) == spoken[-count - 1 :]
    chosen = list(last_for_chat(conversation, count))
    assert chosen == conversation[len(conversation) - len(chosen) :]
    assert len(chosen) <= count


def test_nothing_is_sent_of_no_conversation():
    assert (list(last_for_chat([], 5)), list(last_for_text([], 5))) == ([], [])


CALLING = Message(role="assistant", tool_calls=(ToolCall(id="1", name="now", arguments="{}"),))
NOON = text_message("tool", "noon")
NIGHT = text_message("tool", "night")
U1, A1, MID, U2 = TRACE[1:]


@pytest.mark.parametrize(
    ("conversation", "count", "window"),
    [
        pytest.param([U1, CALLING, NOON, A1, U2], 3, [A1, U2], id="an answer without its call goes"),
        pytest.param([U1, CALLING, NOON, NIGHT, A1, U2], 3, [A1, U2], id="the rest of the answers goes, too"),
        pytest.param([U1, CALLING, MID, NOON, U2], 3, [MID, U2], id="system messages between them stay"),
        pytest.param([U1, CALLING, NOON, A1, U2], 4, [CALLING, NOON, A1, U2], id="with its call it stays"),
        pytest.param([U1, CALLING, NOON], 1, [U1, CALLING, NOON], id="the newest call is never cut off"),
        pytest.param([U1, CALLING, NOON, NIGHT], 1, [U1, CALLING, NOON, NIGHT], id="nor with several answers"),
        pytest.param([NOON, U2], 5, [NOON, U2], id="what is not cut stays as it was sent"),
    ],
)
def test_a_window_begins_with_no_answer_of_a_tool_whose_call_was_cut_off(conversation, count, window):
    assert list(window_for_chat(conversation, count)) == window


@pytest.mark.parametrize(
    ("conversation", "count", "window"),
    [
        pytest.param([U1, U2, A1], 1, [U2, A1], id="the latest one is put in front"),
        pytest.param([U1, A1, MID, A1], 2, [MID, U1, A1], id="behind leading system messages"),
        pytest.param([U1, A1, MID], 1, [MID, U1], id="behind system messages alone"),
        pytest.param([U1, A1, U2], 0, [U2], id="also where no message is asked for"),
        pytest.param([U1, A1, U2], 2, [A1, U2], id="not where there is one"),
        pytest.param([MID, A1], 5, [A1], id="not where no user speaks"),
        pytest.param([], 5, [], id="not where nobody does"),
    ],
)
def test_a_window_without_a_user_message_gets_the_last_one(conversation, count, window):
    assert list(window_for_chat(conversation, count)) == window


@given(conversations, st.integers(-1, 15))
def test_a_window_lacks_no_user_and_keeps_the_order_of_the_newest(conversation, count):
    window = list(window_for_chat(conversation, count))
    roles = [message.role for message in window]
    assert ("user" in roles) == any(message.role == "user" for message in conversation)
    if len(window) < len(last_for_chat(conversation, 99)):
        spoken = [role for role in roles if role not in ("system", "developer")]
        assert spoken[:1] != ["tool"]
