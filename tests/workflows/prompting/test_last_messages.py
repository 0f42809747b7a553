"""Which messages of a conversation are sent where a node has no prompt of its own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.core.messages import text_message
from mnemoir.workflows.prompting.history import last_for_chat, last_for_text

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
