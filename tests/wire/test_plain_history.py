"""A history of roles and texts alone, which goes on as the objects that it came as."""

import pytest

from mnemoir.core.errors import InvalidRequest
from mnemoir.core.messages import Message, PlainMessages, TextPart, roles_of, text_message, texts_of
from mnemoir.wire import ollama_chat, openai_chat
from mnemoir.wire.openai_messages import read_messages, read_plain_messages
from mnemoir.workflows.tracing import traced_messages

SAID = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Grüße!"},
    {"role": "assistant", "content": "Hello."},
]
VALUES = (text_message("system", "Be kind."), text_message("user", "Grüße!"), text_message("assistant", "Hello."))


def test_a_plain_history_is_equal_to_the_messages_it_says_and_makes_each_once():
    read = read_messages(SAID)
    assert (read, VALUES, hash(read)) == (VALUES, read, hash(VALUES))
    assert (len(read), read[-1], [*read[1:]]) == (3, VALUES[-1], [*VALUES[1:]])
    assert read[0] is read[0] is read[-3] is next(iter(read))
    assert (roles_of(read), texts_of(read)) == (roles_of(VALUES), texts_of(VALUES))
    with pytest.raises(IndexError):
        read[3]


def test_a_plain_history_goes_to_the_models_server_as_it_came():
    sent = openai_chat.write_request(openai_chat.read_request({"messages": SAID}).request, stream=False)
    assert sent["messages"] is SAID
    asked = ollama_chat.read_request({"model": "m", "messages": SAID}).request
    assert isinstance(asked.messages, PlainMessages)
    assert ollama_chat.write_request(asked, stream=False)["messages"] == SAID


@pytest.mark.parametrize(
    "odd",
    [
        {"role": "user", "content": "a", "name": "Ann"},
        {"role": "user", "content": ""},
        {"role": "user", "content": [{"type": "text", "text": "a"}]},
        {"role": "assistant", "tool_calls": []},
        {"role": "user", "content": None},
    ],
)
def test_a_history_with_any_other_message_is_read_message_by_message(odd):
    assert read_plain_messages([*SAID, odd]) is None
    *first, last = read_messages([*SAID, odd])
    assert tuple(first) == VALUES
    assert isinstance(last, Message)


@pytest.mark.parametrize("wrong", [{"role": ["user"], "content": "a"}, {"role": "nobody", "content": "a"}, "a", 1])
def test_a_wrong_message_is_named_by_its_place(wrong):
    with pytest.raises(InvalidRequest, match=r"messages\[3\]"):
        read_messages([*SAID, wrong])


def test_half_a_surrogate_pair_is_refused_in_a_plain_history_too():
    with pytest.raises(InvalidRequest, match=r"messages\[3\].content holds half of a surrogate pair"):
        read_messages([*SAID, {"role": "user", "content": "\ud83d"}])


def test_no_messages_are_refused():
    with pytest.raises(InvalidRequest, match="messages is empty"):
        read_messages([])


def test_a_result_of_a_tool_gets_the_id_of_its_call_in_ollamas_protocol():
    asked = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": {}}}],
    }
    told = ollama_chat.read_request({"model": "m", "messages": [asked, {"role": "tool", "content": "7"}]}).request
    assert told.messages[1] == Message(role="tool", parts=(TextPart(text="7"),), tool_call_id="c")


@pytest.mark.parametrize("most", [4, 6, 7, 12, 13, 20, 21, 99])
def test_a_trace_keeps_as_much_of_a_plain_history_as_of_any(most):
    assert traced_messages(read_messages(SAID), most) == traced_messages(VALUES, most)
