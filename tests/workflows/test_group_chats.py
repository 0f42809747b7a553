"""Discussions: times shown to models, and in group chats the speaker and the time of an answer."""

import json
from typing import Any

import pytest

from mnemoir.core.messages import ChatRequest, ModelRequest, text_message
from mnemoir.core.text import hashes
from mnemoir.workflows.conversation import PLACEHOLDER
from tests.scripted_llm import Answer
from tests.tree_kit import answers, asks
from tests.workflows.workflow_kit import chat, nodes_of, reply

WAYS = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
TAGGED = text_message("system", "Be kind. [DiscussionId]tea[/DiscussionId]")
TIMED: dict[str, Any] = {"addDiscussionIdTimestampsForLLM": True}
GROUP = TIMED | {"useGroupChatTimestampLogic": True}
ASKED = (TAGGED, text_message("user", "Ann: Who is there?"), text_message("user", "Bob:"))


def key(text):
    return hashes(text_message("assistant", text))[0]


def times(desk):
    file = desk.public / "DiscussionIds" / "tea" / "timestamps.json"
    return json.loads(file.read_text()) if file.exists() else {}


@WAYS
async def test_an_answer_in_a_group_chat_has_its_speakers_name_and_its_time(desk, llm, stream):
    llm.reply("It is me.")
    answer = await reply(desk.tree(answers("Say", **GROUP)), chat(*ASKED, stream=stream))
    assert answer == "Bob: It is me."
    assert key("Bob: It is me.") in times(desk)
    assert PLACEHOLDER not in times(desk)
    assert nodes_of(await desk.runs.next())[0].output == answer


@WAYS
async def test_a_name_the_model_wrote_itself_stays_the_only_one(desk, llm, stream):
    llm.reply("Bob: It is me.")
    assert await reply(desk.tree(answers("Say", **GROUP)), chat(*ASKED, stream=stream)) == "Bob: It is me."


@WAYS
async def test_with_role_names_the_time_is_kept_for_what_the_client_will_send_back(desk, llm, stream):
    llm.reply("It is me.")
    workflows = desk.tree(answers("Say", **GROUP), settings={"chatCompleteAddUserAssistant": True})
    assert await reply(workflows, chat(*ASKED, stream=stream)) == "Bob: It is me."
    assert key("Assistant: Bob: It is me.") in times(desk)


async def test_the_answer_that_comes_back_has_the_time_it_was_given_at(desk, llm):
    workflows = desk.tree(answers("Say", **GROUP), settings={"chatCompleteAddUserAssistant": True})
    llm.reply("It is me.")
    answer = await reply(workflows, chat(*ASKED))
    stored = times(desk)[key(f"Assistant: {answer}")]
    more = (*ASKED[:2], text_message("assistant", answer), text_message("user", "Ann: Oh."), ASKED[2])
    await reply(workflows, chat(*more))
    contents = [message["content"] for message in llm.requests[1].body["messages"]]
    assert f"{stored} Assistant: {answer}" in contents
    assert contents[-1] == "User: Bob:"


async def test_the_answer_to_a_text_prompt_is_kept_as_markers_will_bring_it_back(desk, llm):
    llm.reply("It is me. \n")
    request = ChatRequest(request=ModelRequest(messages=ASKED), stream=True, is_completion=True)
    await reply(desk.tree(answers("Say", **GROUP)), request)
    assert key("Bob: It is me.") in times(desk)


@pytest.mark.parametrize("members", [{}, TIMED, {"useGroupChatTimestampLogic": True}])
async def test_outside_group_chats_an_answer_is_not_changed(desk, llm, members):
    llm.reply("It is me.")
    assert await reply(desk.tree(answers("Say", **members)), chat(*ASKED)) == "It is me."


async def test_without_a_discussion_an_answer_is_not_changed(desk, llm):
    llm.reply("It is me.")
    assert await reply(desk.tree(answers("Say", **GROUP)), chat(*ASKED[1:])) == "It is me."


async def test_without_a_requested_speaker_only_the_answers_time_is_stored(desk, llm):
    llm.reply("It is me.")
    assert await reply(desk.tree(answers("Say", **GROUP)), chat(*ASKED[:2])) == "It is me."
    assert key("It is me.") in times(desk)


async def test_a_call_of_a_tool_gets_no_speaker(desk, llm):
    llm.queue(Answer(tool_calls=[("look", {})]))
    assert await reply(desk.tree(answers("Say", allowTools=True, **GROUP)), chat(*ASKED)) == ""


async def test_a_node_that_does_not_answer_gets_no_speaker(desk, llm):
    llm.reply("plan")
    await reply(desk.tree(asks("Plan", **GROUP), answers("Say", "{agent1Output}")), chat(*ASKED))
    assert llm.requests[1].body["messages"][1]["content"] == "plan"


@WAYS
async def test_an_inner_workflow_that_answers_the_client_names_its_speaker_once(desk, llm, stream):
    files = {"Workflows/Ann/Inner.json": [answers("Say", **GROUP)]}
    call = {"type": "CustomWorkflow", "workflowName": "Inner"}
    llm.reply("It is me.")
    assert await reply(desk.tree(call, files=files), chat(*ASKED, stream=stream)) == "Bob: It is me."


# --- times


async def test_a_node_that_wants_times_reads_them_and_another_does_not(desk, llm):
    await reply(desk.tree(asks("Plan"), answers("Say", **TIMED)), chat(*ASKED[:2]))
    plain, timed = [asked.body["messages"][-1]["content"] for asked in llm.requests]
    assert plain == "Ann: Who is there?"
    assert timed == f"{times(desk)[key(plain)]} {plain}"
    assert PLACEHOLDER in times(desk)


async def test_a_silent_workflow_reads_no_times(desk, llm):
    files = {"Workflows/Ann/Inner.json": [asks("Inner", **TIMED)]}
    await reply(
        desk.tree({"type": "CustomWorkflow", "workflowName": "Inner"}, answers("Say"), files=files), chat(*ASKED)
    )
    assert llm.requests[0].body["messages"][-1]["content"] == "Bob:"
    assert times(desk) == {}


@pytest.mark.parametrize("place", ["top", "inner", "variable"])
async def test_the_time_context_is_known_wherever_it_is_named(desk, llm, place):
    await reply(desk.tree(answers("Say", **TIMED)), chat(*ASKED[:2]))
    named = asks("Tell", "{time_context_summary}")
    files = {
        "top": {"Workflows/Ann/Chat.json": [named]},
        "inner": {
            "Workflows/Ann/Chat.json": [{"type": "CustomWorkflow", "workflowName": "Inner"}, answers("Say")],
            "Workflows/Ann/Inner.json": [named],
        },
        "variable": {"Workflows/Ann/Chat.json": {"nodes": [asks("Tell", "{now}")], "now": "{time_context_summary}"}},
    }
    await reply(desk.tree(files=files[place]), chat(*ASKED[:2]))
    told = llm.requests[1].body["messages"][1]["content"]
    assert told == "[Time Context: The conversation started less than a minute ago.]"


async def test_a_file_of_times_that_cannot_be_read_fails_no_answer(desk, llm):
    file = desk.public / "DiscussionIds" / "tea" / "timestamps.json"
    file.parent.mkdir(parents=True)
    file.write_text("not JSON")
    assert await reply(desk.tree(answers("Say", **GROUP)), chat(*ASKED)) == "Bob: Understood."
    assert file.read_text() == "not JSON"


async def test_flags_may_be_written_as_words(desk, llm):
    words = dict.fromkeys(GROUP, "true")
    llm.reply("It is me.")
    assert await reply(desk.tree(answers("Say", **words)), chat(*ASKED)) == "Bob: It is me."
