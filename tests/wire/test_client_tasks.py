"""Side tasks of chat apps are recognised by the frame of the whole prompt, and by the header that names them."""

import pytest

from mnemoir.core.errors import InvalidRequest
from mnemoir.core.messages import text_message
from mnemoir.wire.app_prompts import is_task_prompt, named_task, recognised_task
from tests.wire.framed_prompts import FRAMED, PLANTED, TYPED, rag
from tests.wire.task_prompts import CHATS, SIDE_TASKS, TITLE, user


@pytest.mark.parametrize(
    ("messages", "task"), [case[1:] for case in SIDE_TASKS], ids=[case[0] for case in SIDE_TASKS]
)
def test_a_side_task_is_recognised_by_its_frame(messages, task):
    assert recognised_task(messages) == task


@pytest.mark.parametrize("text", [case[1] for case in TYPED], ids=[case[0] for case in TYPED])
def test_half_and_quoted_frames_are_a_persons_turn(text):
    assert recognised_task(user(text)) is None
    assert not is_task_prompt(text)


@pytest.mark.parametrize("messages", [case[1] for case in CHATS], ids=[case[0] for case in CHATS])
def test_a_frame_within_a_chat_is_a_persons_turn(messages):
    assert recognised_task(messages) is None


@pytest.mark.parametrize("text", [case[1] for case in FRAMED + PLANTED], ids=[case[0] for case in FRAMED + PLANTED])
def test_a_question_with_documents_is_a_persons_turn(text):
    assert recognised_task(user(text)) is None


def test_a_question_about_a_document_that_ends_like_a_task_is_a_persons_turn():
    assert recognised_task(user(rag(TITLE, "What does it mean?\n</chat_history>"))) is None


def test_a_request_without_messages_is_no_task():
    assert recognised_task([]) is None
    assert recognised_task([text_message("assistant", "Hello")]) is None


@pytest.mark.parametrize("value", [None, "", "  ", "none", "None", "{{TASK}}", "x {{TASK}} y"])
def test_a_header_without_a_task_names_none(value):
    assert named_task(value) is None


@pytest.mark.parametrize("value", ["title_generation", " tags ", "a" * 40])
def test_a_header_names_a_task(value):
    assert named_task(value) == value.strip()


@pytest.mark.parametrize("value", ["Title", "a" * 41, "two words", "titel-1", "ä", "0"])
def test_another_value_of_the_header_is_refused_by_name(value):
    with pytest.raises(InvalidRequest, match="X-Mnemoir-Task") as refused:
        named_task(value)
    assert refused.value.field == "X-Mnemoir-Task"
