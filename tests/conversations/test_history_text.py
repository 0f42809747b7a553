"""A history as text, for completion models."""

from types import SimpleNamespace

import pytest

from mnemoir.conversations.turns.token_buffer import (
    COMPLETION_STOP,
    COMPLETION_TEMPLATE,
    completion_prompt,
    history_text,
    required_prefixes,
)
from mnemoir.core.conversations import MediaPart, Message, TextPart, ToolCall
from mnemoir.core.errors import SettingsError

IMAGE = MediaPart(type="image", url="https://x/y.png")
DOCUMENT = MediaPart(type="document", url="https://x/y.pdf")


def test_each_message_is_an_entry_and_entries_are_lines():
    messages = [Message("user", "hello"), Message("assistant", "hi\nthere "), Message("user", " bye")]
    assert history_text(messages) == "Human: hello\nAssistant: hi\nthere \nHuman:  bye"


def test_an_empty_history_is_an_empty_text():
    assert history_text([]) == ""


def test_only_user_and_assistant_messages_are_in_the_text():
    call = Message("assistant", None, tool_calls=[ToolCall("x", "look")])
    messages = [Message("system", "be kind"), Message("user", "hi"), call, Message("tool", "found", tool_call_id="x")]
    assert history_text(messages) == "Human: hi"


def test_an_empty_message_keeps_its_line():
    assert history_text([Message("user", "hi"), Message("assistant", "")]) == "Human: hi\nAssistant: "


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([IMAGE, TextPart("look")], "[image]\nlook"),
        ([TextPart(" a "), IMAGE, TextPart("b\n")], "a \n[image]\nb"),
        ([DOCUMENT, TextPart("read")], "read"),
        ([DOCUMENT], ""),
        ([], ""),
    ],
)
def test_of_parts_texts_are_given_and_images_marked(content, text):
    assert history_text([Message("user", content)]) == f"Human: {text}"


def test_prefixes_may_be_chosen_and_may_be_empty():
    messages = [Message("user", "a"), Message("assistant", "b")]
    assert history_text(messages, "Q", "A") == "Q: a\nA: b"
    assert history_text(messages, "", "") == ": a\n: b"


def test_the_markers_of_a_template_are_replaced():
    assert completion_prompt("<#histories#> #sys.query#!", "Human: a", "b") == "<Human: a> b!"


def test_a_template_without_a_place_for_it_gets_the_history_in_front():
    assert completion_prompt("Answer: #sys.query#", "Human: a", "b") == "Human: a\nAnswer: b"


def test_markers_in_messages_are_not_replaced():
    said = "Human: #sys.query# #histories# \\1"
    assert completion_prompt("#histories#|#sys.query#", said, "#histories#") == f"{said}|#histories#"
    assert completion_prompt("#sys.query#", said, "q") == f"{said}\nq"


def test_the_stock_template_frames_the_history_and_stops_where_the_next_question_would_begin():
    prompt = completion_prompt(COMPLETION_TEMPLATE, "Human: a\nAssistant: b", "c")
    assert "<histories>\nHuman: a\nAssistant: b\n</histories>" in prompt
    assert prompt.endswith("Human: c\n\nAssistant:")
    assert COMPLETION_STOP == ("Human:",)


def test_a_completion_model_needs_role_prefixes():
    assert required_prefixes(SimpleNamespace(user="Q", assistant="A")) == ("Q", "A")
    with pytest.raises(SettingsError, match=r"memory\.role_prefix is missing"):
        required_prefixes(None)
