"""Workflow locks over whole runs: the effect of a held lock, and the release of locks."""

from functools import partial

import pytest

from mnemoir.core.errors import ProviderError
from mnemoir.core.events import Finished, Text
from tests.scripted_llm import failure
from tests.tree_kit import answers, asked_by, asked_titles, asks
from tests.workflows.workflow_kit import (
    asked,
    caller,
    chat,
    events,
    leave_when,
    nodes_of,
    reply,
    shape,
    talk,
    text_of,
)

LOCK = {"title": "Lock", "type": "WorkflowLock", "workflowLockId": "one"}


def calling(workflow, **members):
    return {"title": f"Call {workflow}", "type": "CustomWorkflow", "workflowName": workflow, **members}


async def is_free(desk):
    """True when the lock can be acquired; it is released at once."""
    database = desk.public / "data" / "WilmerDb.Ann.sqlite"
    taken = await desk.locks.acquire(database, "one", run="probe")
    await desk.locks.release(run="probe")
    return taken


@pytest.fixture
async def held(desk):
    await desk.locks.acquire(desk.public / "data" / "WilmerDb.Ann.sqlite", "one", run="somebody else's")


@pytest.mark.parametrize("stream", [True, False])
async def test_a_lock_that_is_held_before_the_answer_ends_the_workflow_without_one(desk, llm, held, stream):
    happened = await events(desk.tree(LOCK, answers("Say")), talk("Hi", stream=stream))
    assert (text_of(happened), happened[-1], llm.requests) == ("", Finished(), [])
    run = await desk.runs.next()
    assert (run.status, nodes_of(run)[0].error) == ("finished", "lock 'one' is held")


@pytest.mark.parametrize("stream", [True, False])
async def test_a_lock_that_is_held_behind_the_answer_leaves_the_answer(desk, llm, held, stream):
    workflows = desk.tree(answers("Say"), LOCK, asks("Keep", "x"))
    assert await reply(workflows, talk("Hi", stream=stream)) == "Understood."
    run = await desk.runs.next()
    assert (run.status, asked_titles(llm)) == ("finished", ["Say"])


async def test_a_lock_that_is_held_in_an_inner_workflow_ends_its_parent_too(desk, llm, held):
    files = {"Workflows/Ann/Inner.json": [LOCK]}
    assert await reply(desk.tree(calling("Inner"), answers("Say"), files=files)) == ""
    assert llm.requests == []


async def test_a_lock_that_is_held_behind_an_inner_answer_ends_its_parents_remaining_nodes(desk, llm, held):
    files = {"Workflows/Ann/Inner.json": [answers("Say"), LOCK]}
    workflows = desk.tree(calling("Inner", returnToUser=True), asks("Keep", "x"), files=files)
    assert await reply(workflows) == "Understood."
    await desk.runs.next()
    assert asked_titles(llm) == ["Say"]


async def test_a_lock_is_held_until_the_last_node_behind_the_answer(desk, llm):
    workflows = desk.tree(LOCK, answers("Say"), asks("Keep", "x"))
    llm.rule(asked_by("Say"), "first")
    llm.reply("kept", silent=True)
    assert await reply(workflows) == "first"
    assert not await is_free(desk)
    llm.release()
    await desk.runs.next()
    assert await is_free(desk)


async def test_the_lock_of_an_inner_workflow_is_free_for_its_parents_remaining_nodes(desk):
    inner = [LOCK, {"type": "StaticResponse", "content": "x", "title": "x"}]
    workflows = desk.tree(
        calling("Inner", returnToUser=True), calling("Inner"), files={"Workflows/Ann/Inner.json": inner}
    )
    await reply(workflows)
    (workflow,) = (await desk.runs.next()).workflows
    assert shape(workflow) == [("Call Inner", [["Lock", "x"]])] * 2


async def test_the_lock_of_a_silent_workflow_is_free_when_it_ends(desk):
    inner = [LOCK, {"type": "StaticResponse", "content": "x"}]
    workflows = desk.tree(calling("Inner"), calling("Inner"), files={"Workflows/Ann/Inner.json": inner})
    assert await reply(workflows) == "x"
    await desk.runs.next()
    assert await is_free(desk)


@pytest.mark.parametrize(
    "nodes", [[LOCK, asks("Plan", "x"), answers("Say")], [LOCK, answers("Say")]], ids=["before", "answering"]
)
async def test_a_failure_before_the_answer_frees_the_lock(desk, llm, nodes):
    llm.queue(failure(500))
    with pytest.raises(ProviderError):
        await reply(desk.tree(*nodes))
    assert await is_free(desk)


async def test_a_failure_behind_the_answer_frees_the_lock(desk, llm):
    llm.rule(asked_by("Keep"), failure(400))
    await reply(desk.tree(LOCK, answers("Say"), asks("Keep", "x")))
    assert (await desk.runs.next()).status == "failed"
    assert await is_free(desk)


@pytest.mark.parametrize("inner", [True, False], ids=["inner", "top"])
async def test_a_client_that_leaves_in_the_middle_frees_the_lock(desk, llm, inner):
    nodes = [LOCK, answers("Say")]
    llm.reply("one two", stall_after=1)
    workflows = (
        desk.tree(calling("Inner", returnToUser=True), files={"Workflows/Ann/Inner.json": nodes})
        if inner
        else desk.tree(*nodes)
    )
    await leave_when(partial(workflows.answer, chat(), caller()), Text)
    assert await is_free(desk)


async def test_a_server_that_stops_frees_the_locks_of_running_nodes(desk, llm):
    workflows = desk.tree(LOCK, answers("Say"), asks("Keep", "x"), asks("Later", "x"))
    llm.rule(asked_by("Say"), "first")
    llm.reply("kept", silent=True)
    await reply(workflows)
    await asked(llm, 2)
    llm.release()
    await workflows.aclose()
    assert asked_titles(llm) == ["Say", "Keep"]
    assert await is_free(desk)
