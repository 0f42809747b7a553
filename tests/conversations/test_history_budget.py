"""The tokens that history may take, and the prompt around it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.conversations.windows.budget import (
    ParameterRule,
    chat_prompt,
    history_budget,
    max_output_tokens,
    rest_tokens,
    without_refused_parts,
)
from mnemoir.core.conversations import MediaPart, Message, TextPart, ToolCall
from mnemoir.core.errors import InvalidRequest
from tests.conversations.chats import LetterModel

PHOTO = MediaPart(type="image", mime_type="image/png", url="https://example.org/a.png")
count = LetterModel().get_llm_num_tokens


@given(st.integers(0, 9999), st.integers(0, 9999), st.integers(0, 9999))
def test_the_rest_is_the_context_without_answer_and_prompt_and_at_least_0(size, output, prompt):
    rest = rest_tokens(context_size=size, max_output_tokens=output, prompt_tokens=prompt)
    assert rest == max(0, size - output - prompt)


def test_a_model_of_unknown_size_gets_2000_tokens_of_history():
    assert rest_tokens(context_size=None, max_output_tokens=9000, prompt_tokens=9000) == 2000
    assert history_budget([Message("user", "hello")], count=count, context_size=None) == 2000


def test_all_other_messages_of_the_prompt_reduce_the_budget():
    besides = [Message("system", "be kind"), Message("user", [PHOTO, TextPart("hi")])]
    assert history_budget(besides, count=count, context_size=100, max_output_tokens=30) == 100 - 30 - 7 - 12
    assert history_budget(besides, count=count, context_size=100, accepts=()) == 100 - 7 - 2
    assert history_budget([], count=lambda messages: 1 // len(messages), context_size=100) == 100


@pytest.mark.parametrize(
    ("rules", "given", "tokens"),
    [
        ([ParameterRule(name="max_tokens")], {"max_tokens": 300}, 300),
        ([ParameterRule(name="num_predict", use_template="max_tokens")], {"num_predict": 200}, 200),
        ([ParameterRule(name="num_predict", use_template="max_tokens")], {"max_tokens": 100}, 100),
        ([ParameterRule(name="top_p", use_template="top_p")], {"max_tokens": 100, "top_p": 1}, 0),
        ([ParameterRule(name="max_tokens")], {}, 0),
        ([ParameterRule(name="max_tokens")], {"max_tokens": None}, 0),
        ([ParameterRule(name="max_tokens")], {"max_tokens": "many"}, 0),
        ([], {"max_tokens": 100}, 0),
    ],
)
def test_the_answers_share_is_the_parameter_that_limits_it(rules, given, tokens):
    assert max_output_tokens(given, rules) == tokens


def test_a_prompt_has_its_system_messages_first_and_the_question_last():
    template = [Message("user", "example"), Message("system", "be kind"), Message("assistant", "good")]
    history = [Message("user", "q"), Message("assistant", "a")]
    prompt = chat_prompt(template, history, Message("user", "now"))
    assert [message.content for message in prompt] == ["be kind", "example", "good", "q", "a", "now"]


def test_a_prompt_for_a_model_of_text_has_no_files_and_no_empty_messages():
    history = [Message("user", [PHOTO, TextPart("what is it?")]), Message("assistant", "")]
    prompt = chat_prompt([Message("system", "")], history, Message("user", [PHOTO]), accepts=())
    assert prompt == [Message("user", "what is it?")]


def test_an_empty_prompt_is_an_error():
    with pytest.raises(InvalidRequest, match="prompt is empty"):
        chat_prompt([], [], Message("user", [PHOTO]), accepts=["audio"])


def test_calls_of_tools_and_their_empty_results_are_no_empty_messages():
    messages = [Message("assistant", None, tool_calls=[ToolCall("1", "look")]), Message("tool", "", tool_call_id="1")]
    assert without_refused_parts(messages, ()) == messages


def test_no_message_given_is_changed():
    message = Message("user", [PHOTO, TextPart("hi")])
    assert without_refused_parts([message], ()) == [Message("user", "hi")]
    assert message == Message("user", [PHOTO, TextPart("hi")])
    assert without_refused_parts([message], None) == [message]
