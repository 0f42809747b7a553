"""A client's conversation in the form that nodes of a config tree read."""

import pytest

from mnemoir.core.messages import (
    ChatRequest,
    ImagePart,
    Message,
    ModelRequest,
    PlainMessages,
    TextPart,
    ToolCall,
    text_message,
)
from mnemoir.wire.openai_messages import write_messages
from mnemoir.workflows.config.user import UserSettings
from mnemoir.workflows.conversation import as_sent_back, asked_speaker, conversation_of
from mnemoir.workflows.prompting.assembly import chat_messages
from mnemoir.workflows.prompting.history import fit
from tests.workflows.workflow_kit import chat

PICTURE = ImagePart(url="data:image/png;base64,AAAA")
NAMES, MISSING = {"chatCompleteAddUserAssistant": True}, {"chatCompletionAddMissingAssistantGenerator": True}


def read(*messages, settings=None, **members):
    request = ChatRequest(request=ModelRequest(messages=messages), stream=False, **members)
    return conversation_of(request, UserSettings.model_validate(settings or {}))


def said(*messages, **given):
    return [(message.role, message.text) for message in read(*messages, **given)[0]]


USER, ASSISTANT = text_message("user", "U1"), text_message("assistant", "A1")


def test_a_conversation_is_read_as_sent():
    assert said(text_message("system", "S"), USER, ASSISTANT) == [
        ("system", "S"),
        ("user", "U1"),
        ("assistant", "A1"),
    ]


def test_the_system_message_of_newer_clients_is_a_system_message():
    assert said(text_message("developer", "D"), USER) == [("system", "D"), ("user", "U1")]


def test_role_names_go_before_turns_of_the_user_and_the_assistant_alone():
    told = said(text_message("system", "S"), USER, ASSISTANT, settings=NAMES)
    assert told == [("system", "S"), ("user", "User: U1"), ("assistant", "Assistant: A1")]


def test_role_names_leave_pictures_and_calls_of_tools_alone():
    asking = Message(role="user", parts=(TextPart(text="What?"), PICTURE))
    calling = Message(role="assistant", tool_calls=[ToolCall(id="1", name="look", arguments="{}")])
    messages, _ = read(asking, calling, settings=NAMES)
    assert messages == [Message(role="user", parts=(TextPart(text="User: What?"), PICTURE)), calling]


@pytest.mark.parametrize(
    ("settings", "last"),
    [(NAMES | MISSING, ("assistant", "Assistant:")), (MISSING, ("user", "U1")), (NAMES, ("user", "User: U1"))],
)
def test_a_missing_turn_of_the_assistant_is_opened_where_roles_have_names(settings, last):
    assert said(ASSISTANT, USER, settings=settings)[-1] == last


def test_a_conversation_that_ends_with_the_assistant_gets_no_other_opening():
    assert said(USER, ASSISTANT, settings=NAMES | MISSING)[-1] == ("assistant", "Assistant: A1")


def test_a_text_prompt_gets_no_role_names():
    assert said(USER, settings=NAMES | MISSING, is_completion=True) == [("user", "U1")]


def test_a_text_prompt_without_markers_is_one_message_of_the_user():
    messages, _ = read(Message(role="user", parts=(PICTURE,)), is_completion=True, unmarked_prompt="What is it?")
    assert messages == [Message(role="user", parts=(TextPart(text="What is it?"), PICTURE))]


@pytest.mark.parametrize("text", ["", "  \n "])
def test_blank_messages_are_left_out(text):
    assert said(text_message("assistant", text), USER) == [("user", "U1")]


def test_a_blank_message_with_a_picture_a_call_or_a_result_stays():
    calling = Message(role="assistant", tool_calls=[ToolCall(id="1", name="look", arguments="{}")])
    kept = [Message(role="user", parts=(PICTURE,)), calling, Message(role="tool", tool_call_id="1")]
    assert read(*kept)[0] == kept


def test_the_tags_of_a_discussion_are_cut_out_and_its_id_is_known():
    tagged = text_message("system", "Be kind. [DiscussionId]tea[/DiscussionId]")
    messages, discussion = read(tagged, text_message("user", "[DiscussionId]tea[/DiscussionId]"), USER)
    assert discussion == "tea"
    assert [message.text for message in messages] == ["Be kind. ", "U1"]


def test_the_clients_own_messages_stay_as_they_are():
    request = chat(text_message("user", "U1 [DiscussionId]tea[/DiscussionId]"))
    conversation_of(request, UserSettings.model_validate(NAMES))
    assert request.request.messages[0].text == "U1 [DiscussionId]tea[/DiscussionId]"


@pytest.mark.parametrize(
    ("settings", "is_completion", "text"),
    [({}, False, "Hi. "), (NAMES, False, "Assistant: Hi. "), (NAMES, True, "Hi.")],
)
def test_an_answer_comes_back_as_a_turn_of_the_conversation(settings, is_completion, text):
    request = ChatRequest(request=ModelRequest(messages=()), stream=True, is_completion=is_completion)
    assert as_sent_back("Hi. ", request, UserSettings.model_validate(settings)) == text


@pytest.mark.parametrize(
    ("last", "speaker"),
    [
        ("Bob:", "Bob:"),
        (" Bob: \n", "Bob:"),
        ("Bob:[DiscussionId]tea[/DiscussionId]", "Bob:"),
        ("Hello.", ""),
        ("x" * 99 + ":", ""),
    ],
)
def test_a_short_last_message_with_a_colon_asks_for_a_speaker(last, speaker):
    assert asked_speaker(chat(USER, text_message("user", last))) == speaker


def test_a_blank_message_at_the_end_does_not_hide_the_requested_speaker():
    assert asked_speaker(chat(USER, text_message("system", "Bob:"), text_message("assistant", ""))) == "Bob:"


def body(role, text):
    return {"role": role, "content": text}


BODIES = {
    "texts": [body("system", "S"), body("user", "U1"), body("assistant", "A1"), body("user", "U2")],
    "a tag": [body("user", "[DiscussionId]tea[/DiscussionId]U1"), body("assistant", "A1")],
    "a blank": [body("user", "U1"), body("assistant", " \n"), body("user", "U2")],
    "a developer": [body("developer", "D"), body("user", "U1")],
    "a tool": [body("user", "U1"), body("tool", "T"), body("assistant", "A1")],
}


@pytest.mark.parametrize("settings", [{}, NAMES, MISSING], ids=["plain", "names", "missing"])
@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("system", ["", "Be kind."])
@pytest.mark.parametrize("count", [0, 1, 2, 9])
def test_texts_alone_are_read_and_sent_like_any_other_messages(name, settings, system, count):
    plain = PlainMessages(BODIES[name])
    told, values = [
        conversation_of(
            ChatRequest(request=ModelRequest(messages=messages), stream=False), UserSettings.model_validate(settings)
        )
        for messages in (plain, tuple(plain))
    ]
    assert told == values
    assert (told[0] is plain) == (name in ("texts", "a tool") and settings is not NAMES)
    sent, made = (fit(chat_messages(system, None, messages, count), 9999)[0] for messages in (told[0], values[0]))
    assert sent == made
    assert write_messages(sent) == write_messages(made)
