"""Node memory in mode `conversation`: the turns of the stored conversation."""

import pytest
from structlog.testing import capture_logs

from mnemoir.core.errors import ProviderError
from mnemoir.core.messages import ImagePart, Message, TextPart, ToolCall, text_message
from mnemoir.core.text import estimate_prompt_tokens
from mnemoir.workflows.node_history import NO_CONVERSATION
from tests.scripted_llm import failure
from tests.tree_kit import asks
from tests.workflows.history_kit import WHOLE, keeping, remembering, said, sent, text_endpoint
from tests.workflows.workflow_kit import chat, events

SYSTEM = ("system", "Answer")
IMAGE = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs="


@pytest.fixture
async def talks(desk, tmp_path):
    async with keeping(desk, tmp_path / "conversations") as talks:
        yield talks


def answering(llm, *texts):
    for text in texts:
        llm.reply(text)


async def test_finished_turns_are_sent_between_the_system_prompt_and_the_prompt(talks, llm):
    talks.serve(remembering(WHOLE, prompt="Reply to: {chat_user_prompt_last_one}"))
    answering(llm, "a1", "a2")
    client = talks.client()
    await client.says("q1")
    await client.says("q2")
    await client.says("q3")
    assert sent(llm, 0) == [SYSTEM, ("user", "Reply to: q1")]
    assert sent(llm) == [SYSTEM, *said("q1", "a1", "q2", "a2"), ("user", "Reply to: q3")]


async def test_a_node_without_a_prompt_is_sent_the_last_user_message(talks, llm):
    talks.serve(remembering(WHOLE, lastMessagesToSendInsteadOfPrompt=1))
    answering(llm, "a1")
    client = talks.client()
    await client.says("q1", stream=False)
    await client.says("q2", stream=False)
    assert sent(llm) == [SYSTEM, *said("q1", "a1", "q2")]


async def test_the_stored_history_is_used_even_when_the_client_sends_only_its_last_message(talks, llm):
    talks.serve(remembering(WHOLE))
    answering(llm, "a1")
    await talks.client().says("q1")
    await talks.client().says("q2")
    assert sent(llm) == [SYSTEM, *said("q1", "a1", "q2")]


async def test_a_window_holds_so_many_finished_turns(talks, llm):
    talks.serve(remembering({"window": {"enabled": True, "size": 2}}))
    answering(llm, "a1", "a2", "a3")
    client = talks.client()
    for question in ("q1", "q2", "q3", "q4"):
        await client.says(question)
    assert sent(llm) == [SYSTEM, *said("q2", "a2", "q3", "a3", "q4")]


@pytest.mark.parametrize("window", [{"enabled": False, "size": 1}, {"enabled": True}, {"size": 0}, None])
async def test_a_window_without_a_size_holds_all_turns(window, talks, llm):
    talks.serve(remembering({"window": window}))
    answering(llm, "a1", "a2")
    client = talks.client()
    for question in ("q1", "q2", "q3"):
        await client.says(question)
    assert sent(llm) == [SYSTEM, *said("q1", "a1", "q2", "a2", "q3")]


async def test_whole_turns_are_left_out_until_prompt_and_answer_fit_beside_them(talks, llm):
    small = {"endpoint": llm.url, "apiTypeConfigFileName": "Open-AI-API", "maxContextTokenSize": 200}
    node = remembering(WHOLE, prompt="word " * 20, maxResponseSizeInTokens=50)
    talks.serve(node, files={"Endpoints/Main.json": small})
    client = talks.client()
    for at in range(5):
        answering(llm, f"a{at} " + "word " * 10)
        await client.says(f"q{at}")
    prompt = sent(llm)
    used = sum(estimate_prompt_tokens(text) + 8 for _, text in prompt)
    one_more = used + 2 * 8 + estimate_prompt_tokens("q0") + estimate_prompt_tokens("a0 " + "word " * 10)
    assert used <= 150 < one_more
    assert [text[:2] for _, text in prompt[1:-1]] == ["q1", "a1", "q2", "a2", "q3", "a3"]
    *_, trace = [await talks.trace() for _ in range(5)]
    assert [note for note in trace[0].notes if "cut to its newest turns, 3:" in note]


async def test_a_prompt_that_fills_the_context_leaves_no_room_for_a_history(talks, llm):
    small = {"endpoint": llm.url, "apiTypeConfigFileName": "Open-AI-API", "maxContextTokenSize": 60}
    talks.serve(remembering(WHOLE, prompt="now"), files={"Endpoints/Main.json": small})
    client = talks.client()
    await client.says("q1")
    await client.says("q2")
    assert sent(llm) == [SYSTEM, ("user", "now")]


async def test_an_endpoint_of_unknown_size_is_shown_two_thousand_tokens(talks, llm):
    unknown = {"endpoint": llm.url, "apiTypeConfigFileName": "Open-AI-API"}
    talks.serve(remembering(WHOLE), files={"Endpoints/Main.json": unknown})
    client = talks.client()
    for at in range(4):
        answering(llm, "word " * 500)
        await client.says(f"q{at}")
    assert len(sent(llm)) == 2 + 2 * 2  # an answer takes 785 tokens


async def test_a_replaced_answer_is_left_out(talks, llm):
    talks.serve(remembering(WHOLE))
    answering(llm, "a1", "a2", "another a2")
    client = talks.client()
    await client.says("q1")
    await client.says("q2")
    await client.again()
    assert sent(llm) == [SYSTEM, *said("q1", "a1", "q2")]
    await client.says("q3")
    assert sent(llm) == [SYSTEM, *said("q1", "a1", "q2", "another a2", "q3")]


async def test_an_edited_earlier_message_begins_a_new_thread(talks, llm):
    talks.serve(remembering(WHOLE))
    answering(llm, "a1", "a2", "other a2")
    client = talks.client()
    await client.says("q1")
    await client.says("q2")
    del client.history[2:]
    await client.says("other q2")
    await client.says("q3")
    assert sent(llm) == [SYSTEM, *said("q1", "a1", "other q2", "other a2", "q3")]


async def test_two_conversations_and_two_users_of_one_conversation_id_know_nothing_of_each_other(talks, llm):
    talks.serve(remembering(WHOLE))
    answering(llm, "a1")
    await talks.client("tea").says("q1")
    await talks.client("coffee").says("q2")
    assert sent(llm) == [SYSTEM, ("user", "q2")]
    await talks.client("tea", user="kim").says("q3")
    assert sent(llm) == [SYSTEM, ("user", "q3")]


async def test_the_history_is_there_after_a_restart(talks, llm):
    talks.serve(remembering(WHOLE))
    answering(llm, "a1")
    await talks.client().says("q1")
    await talks.restart()
    await talks.client().says("q2")
    assert sent(llm) == [SYSTEM, *said("q1", "a1", "q2")]


async def test_a_turn_that_failed_is_left_out_of_the_history(talks, llm):
    talks.serve(remembering(WHOLE))
    llm.queue(failure(400))
    answering(llm, "a2")
    client = talks.client()
    with pytest.raises(ProviderError):
        await client.says("q1")
    await client.says("q2")
    await client.says("q3")
    assert sent(llm) == [SYSTEM, *said("q2", "a2", "q3")]


async def test_a_chat_without_a_conversation_is_answered_without_memory_and_noted_once(talks, llm):
    nodes = (asks("First", "one", memory=WHOLE), remembering(WHOLE, "Second", lastMessagesToSendInsteadOfPrompt=3))
    talks.serve(*nodes)
    client = talks.client(None)
    with capture_logs() as logs:
        await client.says("q1")
        await client.says("q2")
    assert sent(llm) == [("system", "Second"), *said("q1", "Understood.", "q2")]
    told = [log for log in logs if log["event"] == "no memory without a conversation"]
    assert [log["log_level"] for log in told] == ["warning", "warning"]
    for first, second in (await talks.trace(), await talks.trace()):
        assert NO_CONVERSATION in first.notes
        assert NO_CONVERSATION not in second.notes


async def test_a_task_of_an_app_has_no_memory_and_no_warning(talks, llm):
    talks.serve(remembering(WHOLE))
    with capture_logs() as logs:
        await talks.client(client_task="title_generation").says("Make a title.")
    assert sent(llm) == [SYSTEM, ("user", "Make a title.")]
    assert [log for log in logs if "memory" in log["event"]] == []


async def test_a_node_may_replace_the_users_message(talks, llm):
    memory = {"query_prompt_template": "About {topic}: #sys.query#"}
    talks.serve(remembering(memory), settings={"userWideWorkflowVariables": {"topic": "tea"}})
    answering(llm, "a1")
    client = talks.client()
    await client.says("q1")
    await client.says("q2")
    assert sent(llm) == [SYSTEM, *said("q1", "a1", "About tea: q2")]


async def test_a_mark_in_a_prompt_is_replaced_by_the_users_message(talks, llm):
    talks.serve(remembering({"query_prompt_template": "[#sys.query#]"}, prompt="Q: #sys.query# A: #histories#"))
    await talks.client().says("#histories# {topic}")
    assert sent(llm) == [SYSTEM, ("user", "Q: [#histories# {topic}] A: ")]


async def test_marks_in_text_of_a_person_are_not_replaced(talks, llm):
    talks.serve(remembering(WHOLE, prompt="{chat_user_prompt_last_one}"))
    await talks.client().says("Show me #histories# and #sys.query#.")
    assert sent(llm) == [SYSTEM, ("user", "Show me #histories# and #sys.query#.")]


async def test_marks_are_replaced_in_a_parents_prompt_but_not_in_its_filled_values(talks, llm):
    parent = {
        "title": "Parent",
        "type": "CustomWorkflow",
        "workflowName": "Inner",
        "firstNodePromptOverride": "{agent1Output} #sys.query#",
    }
    said_before = {"title": "Text", "type": "StaticResponse", "content": "{chat_user_prompt_last_one}"}
    inner = {"Workflows/Ann/Inner.json": [remembering(WHOLE, prompt="unused")]}
    talks.serve(said_before, parent, files=inner)
    await talks.client().says("#sys.query#!")
    assert sent(llm) == [SYSTEM, ("user", "#sys.query#! #sys.query#!")]


async def test_results_of_a_clients_tools_go_behind_the_question_they_belong_to(talks, llm):
    talks.serve(remembering(WHOLE, allowTools=True))
    answering(llm, "a1")
    client = talks.client()
    await client.says("q1")
    call = ToolCall(id="c1", name="clock", arguments="{}")
    client.history += [
        text_message("user", "q2"),
        Message(role="assistant", tool_calls=[call]),
        Message(role="tool", parts=(TextPart(text="noon"),), tool_call_id="c1"),
    ]
    tool = {"type": "function", "function": {"name": "clock", "parameters": {}}}
    await client.events(tools=[tool])
    roles = [message["role"] for message in llm.requests[-1].body["messages"]]
    assert roles == ["system", "user", "assistant", "user", "assistant", "tool"]


async def test_pictures_of_the_history_go_to_a_node_that_accepts_some(talks, llm):
    def picture(text):
        return Message(role="user", parts=(TextPart(text=text), ImagePart(url=IMAGE)))

    def pictures():
        contents = [message["content"] for message in llm.requests[-1].body["messages"]]
        return [sum(part["type"] == "image_url" for part in one) if isinstance(one, list) else 0 for one in contents]

    client = talks.serve(remembering(WHOLE, acceptImages=True)).client()
    await client.says(picture("q1"))
    await client.says(picture("q2"))
    assert pictures() == [0, 1, 0, 1]
    talks.serve(remembering(WHOLE, acceptImages=True, maxImagesToSend=1))
    await client.says("q3")
    assert pictures() == [0, 0, 0, 1, 0, 0]
    talks.serve(remembering(WHOLE))
    await client.says("q4")
    assert pictures() == [0] * 8


async def test_a_backup_of_another_kind_is_shown_the_same_history(talks, llm):
    first = {
        "endpoint": llm.url,
        "apiTypeConfigFileName": "Open-AI-API",
        "backupEndpointName": "Text",
        "maxContextTokenSize": 8192,
    }
    files = {**text_endpoint(llm.url, maxContextTokenSize=8192), "Endpoints/Main.json": first}
    talks.serve(remembering({"role_prefix": {"user": "Me", "assistant": "You"}}), files=files)
    answering(llm, "a1")
    client = talks.client()
    await client.says("q1")
    llm.queue(failure(503))
    await client.says("q2")
    assert llm.requests[-1].body["prompt"] == "<S>Answer</S>Me: q1\nYou: a1\n<U>q2</U>"


async def test_without_a_store_of_conversations_nothing_is_remembered(desk, llm):
    await events(desk.tree(remembering(WHOLE)), chat(text_message("user", "q1")))
    (trace,) = (await desk.runs.next()).workflows[0].nodes
    assert trace.notes == [NO_CONVERSATION]
    assert sent(llm) == [SYSTEM, ("user", "q1")]
