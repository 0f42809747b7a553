"""Clients that disconnect and servers that stop: which nodes and calls end, and which continue."""

import asyncio
from functools import partial

import pytest

from mnemoir.core.events import Finished, Text
from tests.tree_kit import answers, asked_by, asked_titles, asks
from tests.workflows.workflow_kit import asked, caller, chat, leave_when, nodes_of, reply


def calling(workflow, **members):
    return {"title": f"Call {workflow}", "type": "CustomWorkflow", "workflowName": workflow, **members}


async def test_leaving_in_the_middle_ends_the_call_and_runs_no_further_node(desk, llm):
    llm.reply("one two", stall_after=1)
    workflows = desk.tree(answers("Say"), asks("Keep", "x"))
    await leave_when(partial(workflows.answer, chat(), caller()), Text)
    async with asyncio.timeout(30):
        await llm.disconnected.wait()
    run = await desk.runs.next()
    assert (run.status, run.error, asked_titles(llm)) == ("cancelled", None, ["Say"])
    assert run.answered_ms is None


async def test_leaving_while_a_node_in_front_of_the_answer_thinks_ends_its_call(desk, llm):
    llm.reply("plan", silent=True)
    task = asyncio.create_task(reply(desk.tree(asks("Plan", "x"), answers("Say"))))
    await llm.arrived.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await llm.disconnected.wait()
    run = await desk.runs.next()
    assert (run.status, run.error) == ("cancelled", None)
    (node,) = nodes_of(run)
    assert node.error == "It was stopped: the client disconnected or cancelled, or the server is stopping."
    assert asked_titles(llm) == ["Plan"]


async def test_leaving_ends_the_call_of_a_silent_inner_workflow(desk, llm):
    files = {"Workflows/Ann/Inner.json": [asks("Inner", "x"), asks("Never", "x")]}
    llm.reply("plan", silent=True)
    task = asyncio.create_task(reply(desk.tree(calling("Inner"), answers("Say"), files=files)))
    await llm.arrived.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await llm.disconnected.wait()
    assert asked_titles(llm) == ["Inner"]


@pytest.mark.parametrize("inner", [True, False], ids=["inner", "top"])
async def test_leaving_with_the_end_of_the_answer_leaves_the_rest_to_run(desk, llm, inner):
    nodes = [answers("Say"), asks("Keep", "{agent1Output}")]
    llm.rule(asked_by("Say"), "The answer.")
    workflows = (
        desk.tree(calling("Inner", returnToUser=True), files={"Workflows/Ann/Inner.json": nodes})
        if inner
        else desk.tree(*nodes)
    )
    await leave_when(partial(workflows.answer, chat(), caller()), Finished)
    run = await desk.runs.next()
    assert (run.status, asked_titles(llm)) == ("finished", ["Say", "Keep"])
    assert llm.requests[1].body["messages"][1]["content"] == "The answer."


async def test_a_server_that_stops_lets_a_call_behind_an_answer_finish_and_begins_no_other(desk, llm):
    llm.rule(asked_by("Say"), "The answer.")
    llm.reply("kept", silent=True)
    workflows = desk.tree(answers("Say"), asks("Keep", "x"), asks("Later", "x"))
    await reply(workflows)
    await asked(llm, 2)
    stopping = asyncio.create_task(workflows.aclose())
    llm.release()
    await stopping
    run = await desk.runs.next()
    assert (run.status, asked_titles(llm)) == ("finished", ["Say", "Keep"])
    assert [node.output for node in nodes_of(run)][:2] == ["The answer.", "kept"]


async def test_a_server_that_stops_cancels_nodes_that_do_not_finish(desk, llm):
    llm.rule(asked_by("Say"), "The answer.")
    llm.reply("kept", silent=True)
    workflows = desk.tree(answers("Say"), asks("Keep", "x"), grace_s=0.01)
    await reply(workflows)
    await asked(llm, 2)
    await workflows.aclose()
    await llm.disconnected.wait()
    assert (await desk.runs.next()).status == "cancelled"


async def test_leaving_with_the_end_of_an_answer_that_is_all_ends_its_run_once(desk, llm):
    await leave_when(partial(desk.tree(answers("Say")).answer, chat(), caller()), Finished)
    assert (await desk.runs.next()).status == "finished"
    desk.runs.check()


async def test_an_answer_that_cannot_be_written_ends_its_call_and_is_a_failed_run(desk, llm):
    llm.reply("one two", stall_after=1)

    async def break_down(batch):
        if any(isinstance(event, Text) for event in batch):
            raise ValueError("no such text")

    with pytest.raises(ValueError, match="no such text"):
        await desk.tree(answers("Say")).answer(chat(), caller(), break_down)
    await llm.disconnected.wait()
    run = await desk.runs.next()
    assert (run.status, run.error) == ("failed", "ValueError")
