"""Chats without a question, with blank messages, and of system messages alone, as a model gets them from a tree."""

import pytest

from mnemoir.core.messages import Message, text_message
from mnemoir.wire import ollama_generate
from tests.workflows.nodes.pictures import image, png, shown
from tests.workflows.test_asking import asking, sent
from tests.workflows.workflow_kit import chat, events

SYSTEM, USER, BLANK = text_message("system", "S"), text_message("user", "U"), text_message("assistant", "")
SECOND, LAST = text_message("system", "- T"), text_message("user", "V")
NOTHING = text_message("user", "")


async def window(desk, llm, *messages, kind="Chat", **members):
    body = await sent(asking(desk, kind, **{"lastMessagesToSendInsteadOfPrompt": 9} | members), llm, *messages)
    llm.requests.clear()
    return [(message["role"], message["content"]) for message in body["messages"]]


@pytest.mark.parametrize("kind", ["Chat", "OllamaChat"])
async def test_a_blank_answer_between_two_messages_of_the_user_is_sent_as_one(desk, llm, kind):
    own, two = ("system", "SYS"), [("user", "U"), ("assistant", ""), ("user", "V")]
    for between in ([BLANK], [BLANK, BLANK], [text_message("assistant", " \n")], [BLANK, NOTHING], [NOTHING, BLANK]):
        assert await window(desk, llm, USER, *between, LAST, kind=kind) == [own, *two]
    for between in ([], [NOTHING], [text_message("system", " ")]):
        assert await window(desk, llm, USER, *between, LAST, kind=kind) == [own, two[0], two[2]]


async def test_blank_messages_elsewhere_are_left_out_and_count_for_nothing(desk, llm):
    own = ("system", "SYS")
    assert await window(desk, llm, BLANK, USER) == [own, ("user", "U")]
    assert await window(desk, llm, USER, BLANK) == [own, ("user", "U")]
    assert await window(desk, llm, USER, text_message("assistant", "A"), BLANK, LAST) == [
        *(own, ("user", "U"), ("assistant", "A"), ("user", "V"))
    ]
    # two messages, and the blank one is none of them
    two = {"lastMessagesToSendInsteadOfPrompt": 2}
    assert await window(desk, llm, USER, USER, BLANK, LAST, **two) == [
        *(own, ("user", "U"), ("assistant", ""), ("user", "V"))
    ]
    one = {"lastMessagesToSendInsteadOfPrompt": 1}
    assert await window(desk, llm, USER, BLANK, LAST, **one) == [own, ("user", "V")]


DEVELOPER, TAG = text_message("developer", "D"), "[DiscussionId]tea[/DiscussionId]"
NULL = Message(role="user")


async def passed_on(desk, llm, *messages, before=(), settings=None):
    """Role and text of the messages that a node Respond sends for these."""
    body = await sent(desk.tree(*before, {"type": "Respond"}, settings=settings), llm, *messages)
    llm.requests.clear()
    return [(message["role"], message["content"]) for message in body["messages"]]


@pytest.mark.parametrize("before", [(), ({"type": "Recall"},)], ids=["alone", "behind Recall"])
async def test_respond_passes_blank_messages_on_as_they_were_sent(desk, llm, before):
    desk.memory.lines = []
    answer = text_message("assistant", "A")
    for said in (
        *([NOTHING], [NULL], [text_message("user", " ")], [SYSTEM, NOTHING], [NOTHING, SYSTEM], [BLANK, NOTHING]),
        *([USER, BLANK, LAST], [USER, answer, NOTHING], [USER, NOTHING, NOTHING, answer, BLANK, LAST]),
        *([BLANK, USER], [USER, BLANK], [SYSTEM, text_message("system", "\n"), USER], [SYSTEM], [USER, answer]),
    ):
        assert await passed_on(desk, llm, *said, before=before) == [(one.role, one.text) for one in said]


async def test_of_a_message_that_is_a_tag_alone_respond_passes_on_a_lone_question(desk, llm):
    tagged = text_message("user", TAG)
    assert await passed_on(desk, llm, tagged) == [("user", "")]
    assert await passed_on(desk, llm, SYSTEM, tagged) == [("system", "S"), ("user", "")]
    assert await passed_on(desk, llm, text_message("system", TAG), USER) == [("user", "U")]
    assert await passed_on(desk, llm, USER, text_message("assistant", "A"), tagged) == [
        *(("user", "U"), ("assistant", "A"))
    ]


async def test_respond_passes_each_message_on_once_where_roles_have_names(desk, llm):
    names = {"chatCompleteAddUserAssistant": True, "chatCompletionAddMissingAssistantGenerator": True}
    blank = text_message("system", " ")
    assert await passed_on(desk, llm, USER, blank, NOTHING, settings=names) == [
        *(("user", "User: U"), ("system", " "), ("user", "User: "), ("assistant", "Assistant:"))
    ]


async def test_blank_messages_stay_in_front_of_what_describes_the_pictures(desk, llm):
    look = {"type": "ImageProcessor", "endpointName": "Main", "prompt": "What?", "addAsUserMessage": True}
    desk.llm.reply("A cat.")
    said = USER, text_message("assistant", "A"), BLANK, shown("Look.", image(png(1, 1)))
    await events(desk.tree({**look, "message": "[IMAGE_BLOCK]"}, {"type": "Respond"}), chat(*said))
    assert [message["content"] for message in llm.requests[-1].body["messages"][:-1]] == ["U", "A", "", "A cat."]


async def test_a_message_of_the_developer_is_a_system_message_for_every_node(desk, llm):
    told = [("system", "D"), ("user", "U")]
    assert await passed_on(desk, llm, DEVELOPER, USER) == told
    assert await window(desk, llm, DEVELOPER, USER, systemPrompt="{client_instructions}") == told


async def test_a_blank_answer_is_in_no_variable_and_beside_no_prompt(desk, llm):
    told = await window(desk, llm, USER, BLANK, LAST, prompt="{chat_user_prompt_last_two}|{messages}")
    assert told[1][1] == "U\nV|[{'role': 'user', 'content': 'U'}, {'role': 'user', 'content': 'V'}]"


@pytest.mark.parametrize("text", ["", "  "])
async def test_where_nobody_speaks_the_model_gets_the_blank_question(desk, llm, text):
    question = text_message("user", text)
    assert await window(desk, llm, question, systemPrompt="{chat_system_prompt}") == [("user", text)]
    assert await window(desk, llm, SYSTEM, question, systemPrompt="{chat_system_prompt}") == [
        *(("system", "S"), ("user", text))
    ]
    assert await window(desk, llm, question, BLANK, systemPrompt="{client_instructions}") == [("user", text)]


async def test_a_question_that_was_put_is_asked_and_no_blank_one_behind_it(desk, llm):
    assert await window(desk, llm, USER, NOTHING) == [("system", "SYS"), ("user", "U")]
    none = {"lastMessagesToSendInsteadOfPrompt": 0}
    assert await window(desk, llm, USER, text_message("assistant", "A"), NOTHING, **none) == [
        *(("system", "SYS"), ("user", "U"))
    ]


@pytest.mark.parametrize("name", ["chat_system_prompt", "templated_system_prompt", "client_instructions"])
@pytest.mark.parametrize("jinja", [False, True])
async def test_system_messages_alone_come_once(desk, llm, name, jinja):
    text = f"{{{{ {name} }}}}" if jinja else f"{{{name}}}"
    assert await window(desk, llm, SYSTEM, systemPrompt=f"Kind. {text}", jinja2=jinja) == [("system", "Kind. S")]


async def test_system_messages_alone_come_as_they_are_where_the_nodes_own_text_has_them_not(desk, llm):
    for own in ("", "SYS", "{{chat_system_prompt}}"):
        told = [("system", own.replace("{{", "{").replace("}}", "}"))] if own else []
        assert await window(desk, llm, SYSTEM, SECOND, systemPrompt=own) == [
            *told,
            ("system", "S"),
            ("system", "- T"),
        ]


async def test_a_variable_of_the_workflow_may_have_them(desk, llm):
    files = {"Workflows/Ann/Chat.json": {"nodes": [node_with("{mine}")], "mine": "Mine: {chat_system_prompt}"}}
    assert await window(desk, llm, SYSTEM, files=files) == [("system", "Mine: S")]


def node_with(system: str) -> dict[str, object]:
    told = {"title": "Ask", "endpointName": "There", "preset": "P", "systemPrompt": system, "prompt": ""}
    return told | {"lastMessagesToSendInsteadOfPrompt": 9}


async def test_several_system_messages_are_joined_by_a_blank_line_for_the_new_variable(desk, llm):
    for name, joined in (("client_instructions", "S\n\n- T"), ("chat_system_prompt", "S - T")):
        told = await window(desk, llm, SYSTEM, SECOND, USER, systemPrompt=f"{{{name}}}")
        assert told == [("system", joined), ("user", "U")]


async def test_a_text_endpoint_gets_all_of_them_without_marks(desk, llm):
    body = await sent(asking(desk, "Text", systemPrompt="{client_instructions}"), llm, SYSTEM, USER, SECOND)
    assert body["prompt"].startswith("‹sys›S\n\n- T‹eot›")


async def test_a_system_text_beside_a_prompt_is_a_message_of_its_own(desk, llm):
    def read(**body):
        return ollama_generate.read_request({"model": "m", "stream": False, **body})

    workflows = asking(desk, systemPrompt="{client_instructions}")
    for body, said in (
        ({"system": "S", "prompt": "U"}, [("system", "S"), ("user", "U")]),
        ({"system": "S.", "prompt": "", "raw": True}, [("system", "S."), ("user", "")]),
        ({"prompt": "U"}, [("user", "U")]),
        ({"system": "S", "prompt": "[Beg_User]U"}, [("user", "U")]),
        ({"system": "[Beg_Sys]S", "prompt": "[Beg_User]U"}, [("system", "S"), ("user", "U")]),
    ):
        await events(workflows, read(**body))
        (asked,) = llm.requests
        llm.requests.clear()
        assert ([(one["role"], one["content"]) for one in asked.body["messages"]], body) == (said, body)
