"""Texts an endpoint puts into messages."""

import pytest

from mnemoir.core.messages import ImagePart, Message, TextPart, ToolCall, text_message
from mnemoir.workflows.config.endpoint import EndpointDefinition
from mnemoir.workflows.prompting.assembly import Injections, inject, injections_of

SYSTEM, USER, ANSWER = text_message("system", "S"), text_message("user", "U"), text_message("assistant", "A")
PICTURE = ImagePart(url="https://a.example/b.png")


def said(messages):
    return [(message.role, message.text) for message in messages]


def test_the_first_system_message_begins_with_the_text():
    sent = inject([USER, SYSTEM, SYSTEM], Injections(system="+"))
    assert said(sent) == [("user", "U"), ("system", "+S"), ("system", "S")]


def test_without_a_system_message_one_is_added_in_front():
    assert said(inject([USER], Injections(system="+"))) == [("system", "+"), ("user", "U")]


def test_the_last_user_message_begins_with_the_text():
    sent = inject([USER, USER, ANSWER], Injections(prompt="+"))
    assert said(sent) == [("user", "U"), ("user", "+U"), ("assistant", "A")]


def test_without_a_user_message_one_is_added():
    assert said(inject([SYSTEM], Injections(prompt="+"))) == [("system", "S"), ("user", "+")]


@pytest.mark.parametrize(
    ("messages", "ensures", "sent"),
    [
        ([], False, [("assistant", "+")]),
        ([], True, [("assistant", "+")]),
        ([ANSWER], False, [("assistant", "A+")]),
        ([ANSWER], True, [("assistant", "A+")]),
        ([USER], False, [("user", "U+")]),
        ([USER], True, [("user", "U"), ("assistant", "+")]),
        ([Message(role="assistant")], True, [("assistant", "+")]),
    ],
)
def test_the_answers_beginning_goes_to_the_end(messages, ensures, sent):
    assert said(inject(messages, Injections(completion="+", ensures_assistant=ensures))) == sent


def test_all_three_texts_meet_in_an_empty_conversation():
    sent = inject([], Injections(system="S+", prompt="P+", completion="C+"))
    assert said(sent) == [("system", "S+"), ("user", "P+C+")]


def test_pictures_stay_behind_the_words_they_came_with():
    shown = Message(role="user", parts=(TextPart(text="Look"), PICTURE))
    assert inject([shown], Injections(prompt="+")) == [Message(role="user", parts=(TextPart(text="+Look"), PICTURE))]


def test_an_empty_assistant_message_at_the_end_is_not_sent():
    assert inject([USER, Message(role="assistant")], Injections()) == [USER]


def test_an_assistant_message_that_calls_a_tool_is_not_empty():
    calling = Message(role="assistant", tool_calls=(ToolCall(id="1", name="now", arguments="{}"),))
    assert inject([USER, calling], Injections()) == [USER, calling]


def test_the_given_messages_are_left_as_they_are():
    given = [SYSTEM, USER]
    inject(given, Injections(system="+", prompt="+", completion="+"))
    assert given == [SYSTEM, USER]


@pytest.mark.parametrize("flag", [True, False])
def test_a_text_is_injected_only_if_its_flag_is_set(flag):
    endpoint = EndpointDefinition.model_validate(
        {
            "endpoint": "http://a.example",
            "apiTypeConfigFileName": "A",
            "addTextToStartOfSystem": flag,
            "textToAddToStartOfSystem": "S",
            "addTextToStartOfPrompt": flag,
            "textToAddToStartOfPrompt": "P",
            "addTextToStartOfCompletion": flag,
            "textToAddToStartOfCompletion": "C",
        }
    )
    assert injections_of(endpoint) == (Injections(system="S", prompt="P", completion="C") if flag else Injections())
