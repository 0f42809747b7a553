"""Of a message in a document frame, memory sees the question alone; anything but a whole frame stays as typed."""

import pytest

from mnemoir.core.messages import ImagePart, Message, TextPart, text_message
from mnemoir.core.text import RecalledLine, put_up
from mnemoir.wire.app_prompts import question_in, typed_text, without_frame
from tests.wire.framed_prompts import FRAMED, PLANTED, QUESTION, TYPED, rag
from tests.wire.task_prompts import SIDE_TASKS


@pytest.mark.parametrize("text", [case[1] for case in FRAMED], ids=[case[0] for case in FRAMED])
def test_the_question_is_cut_out_of_its_frame(text):
    assert question_in(text) == QUESTION


@pytest.mark.parametrize("text", [case[1] for case in PLANTED], ids=[case[0] for case in PLANTED])
def test_no_document_passes_for_the_question(text):
    assert question_in(text) == QUESTION


@pytest.mark.parametrize("text", [case[1] for case in TYPED], ids=[case[0] for case in TYPED])
def test_half_and_quoted_frames_stay_whole(text):
    assert question_in(text) is None
    assert typed_text(text) == text.strip()


@pytest.mark.parametrize("messages", [case[1] for case in SIDE_TASKS], ids=[case[0] for case in SIDE_TASKS])
def test_a_side_task_is_no_document_frame(messages):
    assert question_in(messages[-1].text) is None


def test_the_tables_hold_what_is_promised():
    assert len(SIDE_TASKS) >= 40
    assert len(TYPED) >= 20
    assert len(PLANTED) >= 10


def test_a_question_keeps_its_own_lines_and_spaces():
    question = "  Two lines,\n\nand a mark: </source>  "
    assert question_in(rag("x", question)) == question


def test_recalled_memories_in_front_of_a_frame_are_not_typed_either():
    assert typed_text(put_up([RecalledLine(text="Keeps bees")], rag("x", QUESTION))) == QUESTION


def test_pictures_stay_beside_the_question():
    picture = ImagePart(url="data:image/png;base64,AA==")
    framed = Message(role="user", parts=(TextPart(text=rag("x", QUESTION)), picture))
    assert without_frame(framed) == Message(role="user", parts=(TextPart(text=QUESTION), picture))


@pytest.mark.parametrize(
    "message",
    [
        text_message("user", QUESTION),
        text_message("assistant", rag("x", QUESTION)),
        text_message("user", rag("x", "\n")),
    ],
    ids=["no frame", "an answer", "no question"],
)
def test_a_message_that_has_no_question_in_a_frame_stays_as_it_is(message):
    assert without_frame(message) is message
