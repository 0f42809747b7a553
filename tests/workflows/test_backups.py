"""Backups of endpoints, which are asked when an endpoint fails before its first token, and never after it."""

import pytest

from mnemoir.core.errors import ProviderError, SettingsError
from mnemoir.core.events import Event, Text
from tests.scripted_llm import Answer, ScriptedLLM, closed_port_url, failure
from tests.tree_kit import answers, asks
from tests.workflows.workflow_kit import caller, chat, events, nodes_of, reply, talk

WAYS = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


@pytest.fixture
async def spare():
    async with ScriptedLLM() as server:
        yield server


def endpoint(url, backup="", **members):
    told = {"endpoint": url, "apiTypeConfigFileName": "Open-AI-API", "modelNameToSendToAPI": "far-model"}
    return told | {"backupEndpointName": backup} | members


def backed(desk, spare_url, *nodes, url=None):
    files = {
        "Endpoints/Main.json": endpoint(url or desk.llm.url, "Spare"),
        "Endpoints/Spare.json": endpoint(spare_url),
    }
    return desk.tree(*(nodes or [answers("Say")]), files=files)


@pytest.mark.parametrize("fault", [failure(500), failure(401), failure(429), Answer(status=200, body=b"<html>")])
@WAYS
async def test_the_backup_answers_when_the_first_endpoint_fails_at_once(desk, llm, spare, stream, fault):
    llm.queue(fault)
    spare.reply("From the spare one.")
    assert await reply(backed(desk, spare.url), talk("Hi", stream=stream)) == "From the spare one."
    assert [len(server.requests) for server in (llm, spare)] == [1, 1]


@WAYS
async def test_the_backup_answers_when_the_first_endpoint_cannot_be_reached(desk, spare, stream):
    workflows = backed(desk, spare.url, url=closed_port_url())
    assert await reply(workflows, talk("Hi", stream=stream)) == "Understood."


async def test_the_trace_has_the_failure_and_the_answering_endpoint(desk, llm, spare):
    llm.queue(failure(500, "overheated"))
    await reply(backed(desk, spare.url))
    (node,) = nodes_of(await desk.runs.next())
    assert node.endpoint == "Spare"
    assert node.notes[0].startswith("Endpoint Main failed, so Spare is asked: ")
    assert "overheated" in node.notes[0]
    assert node.error is None


@pytest.mark.parametrize("fault", [{"cut_after": 1}, {"end_after": 1}])
async def test_after_the_first_token_no_other_answer_is_appended(desk, llm, spare, fault):
    llm.reply("one two", **fault)
    heard: list[Event] = []

    async def hear(batch):
        heard.extend(batch)

    with pytest.raises(ProviderError):
        await backed(desk, spare.url).answer(chat(), caller(memory=False), hear)
    assert heard == [Text("one ")]
    assert spare.requests == []


async def test_a_stream_that_breaks_before_its_first_token_is_answered_by_the_backup(desk, llm, spare):
    llm.reply("one two", cut_after=0)
    assert await reply(backed(desk, spare.url)) == "Understood."


async def test_a_stream_that_breaks_in_its_thinking_is_answered_by_the_backup(desk, llm, spare):
    think = {"removeThinking": True, "startThinkTag": "<think>", "endThinkTag": "</think>"}
    files = {"Endpoints/Main.json": endpoint(llm.url, "Spare", **think), "Endpoints/Spare.json": endpoint(spare.url)}
    llm.reply("<think> Let me see", cut_after=2)
    assert await reply(desk.tree(answers("Say"), files=files)) == "Understood."


async def test_nodes_in_front_of_the_answer_have_the_backup_too(desk, llm, spare):
    llm.queue(failure(500))
    spare.reply("plan")
    workflows = backed(desk, spare.url, asks("Plan", "x"), answers("Say", "{agent1Output}"))
    await reply(workflows)
    assert llm.requests[1].body["messages"][1]["content"] == "plan"


async def test_when_the_backup_fails_too_its_failure_is_raised(desk, llm, spare):
    llm.queue(failure(500, "first"))
    spare.queue(failure(500, "second"))
    with pytest.raises(ProviderError, match=r"Spare.*second"):
        await reply(backed(desk, spare.url))


async def test_backups_of_each_other_are_a_circle(desk, llm):
    files = {name: endpoint(llm.url, back) for name, back in _CIRCLE.items()}
    llm.queue(failure(500), failure(500))
    with pytest.raises(SettingsError, match="each other's backup: Main → Spare → Main"):
        await events(desk.tree(answers("Say"), files=files))


_CIRCLE = {"Endpoints/Main.json": "Spare", "Endpoints/Spare.json": "Main"}
