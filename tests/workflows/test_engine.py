"""The built-in workflow: order, the responder's stream, nodes behind it, and failures."""

import asyncio
from functools import partial

import pytest

from mnemoir.core.errors import ProviderError
from mnemoir.core.events import Event, Finished, MemoriesRecalled, NodeFinished, NodeStarted, Text, Usage
from mnemoir.core.runs import MOST_TRACED_CHARACTERS
from mnemoir.workflows.config.workflow import read_workflow
from mnemoir.workflows.run import MOST_KEPT_CHARACTERS
from tests.scripted_llm import Answer, failure
from tests.workflows.workflow_kit import caller, chat, events, leave_when, nodes_of, text_of

LATE_MEMORY = [{"type": "Respond", "returnToUser": True}, {"type": "Remember"}]


@pytest.mark.parametrize("stream", [True, False])
async def test_the_default_workflow_recalls_answers_and_remembers_in_this_order(desk, llm, memory, stream):
    llm.reply("Pasta with peas.")
    happened = await events(desk.workflows(), chat(stream=stream))
    kinds = [type(event) for event in happened if not isinstance(event, Usage | Text)]
    assert kinds == [NodeStarted, MemoriesRecalled, NodeFinished, Finished]
    assert text_of(happened) == "Pasta with peas."
    assert [turn.answer for turn in memory.kept] == ["Pasta with peas."]


async def test_the_turn_is_kept_before_the_answer_ends(desk, llm, memory):
    llm.reply("Pasta.")
    kept: list[int] = []

    async def take(batch):
        kept.append(len(memory.kept) if Finished() in batch else 0)

    await desk.workflows().answer(chat(), caller(), take)
    assert kept[-1] == 1


async def test_the_first_token_is_sent_before_the_model_has_finished(desk, llm):
    llm.reply("one two three", stall_after=1)
    happened: list[Event] = []

    async def take(batch):
        happened.extend(batch)
        if Text("one ") in batch:
            llm.release()  # what is stalled goes on only now

    await desk.workflows().answer(chat(), caller(memory=False), take)
    assert text_of(happened) == "one two three"
    assert happened[-1] == Finished(reason="stop")


async def test_without_memory_nothing_but_the_model_is_asked(desk, memory):
    happened = await events(desk.workflows(), who=caller(memory=False))
    assert not any(isinstance(event, NodeStarted) for event in happened)
    assert (memory.asked, memory.kept) == ([], [])


async def test_a_task_of_an_app_neither_recalls_nor_remembers(desk, memory):
    await events(desk.workflows(), who=caller(client_task="title_generation"))
    assert (memory.asked, memory.kept) == ([], [])


async def test_a_memory_that_is_down_is_reported_and_fails_no_chat(desk, llm, memory):
    memory.down = True
    llm.reply("Soup.")
    happened = await events(desk.workflows())
    assert text_of(happened) == "Soup."
    assert MemoriesRecalled(count=0, degraded="The memory service could not be reached.", is_failed=True) in happened
    recall, *others = nodes_of(await desk.runs.next())
    assert recall.error == "The memory service could not be reached."
    assert [node.error for node in others] == [None, None]


async def test_an_answer_that_is_cut_raises_and_leaves_no_memory(desk, llm, memory):
    llm.reply("one two three", end_after=2)
    with pytest.raises(ProviderError):
        await events(desk.workflows())
    assert memory.kept == []


async def test_an_upstream_error_reaches_the_caller_and_leaves_no_memory(desk, llm, memory):
    llm.queue(failure(401, "wrong key"))
    with pytest.raises(ProviderError, match="wrong key"):
        await events(desk.workflows())
    assert memory.kept == []


async def test_leaving_early_ends_the_call_upstream_and_leaves_no_memory(desk, llm, memory):
    llm.reply("one two three", stall_after=1)
    await leave_when(partial(desk.workflows().answer, chat(), caller()), Text)
    async with asyncio.timeout(30):
        await llm.disconnected.wait()
    assert memory.kept == []
    assert (await desk.runs.next()).status == "cancelled"


async def test_nodes_behind_the_responder_run_when_the_client_has_its_answer(desk, llm, memory):
    llm.reply("Soup.")
    happened = await events(desk.workflows(read_workflow("behind", LATE_MEMORY)))
    assert happened[-1] == Finished(reason="stop")
    await desk.runs.next()
    assert len(memory.kept) == 1


async def test_a_client_that_disconnects_at_the_end_of_its_answer_cancels_no_nodes(desk, memory):
    workflows = desk.workflows(read_workflow("behind", LATE_MEMORY))
    await leave_when(partial(workflows.answer, chat(), caller()), Finished)
    assert (await desk.runs.next()).status == "finished"
    assert len(memory.kept) == 1


async def test_an_empty_workflow_answers_with_nothing(desk):
    assert await events(desk.workflows(read_workflow("empty", [])), who=caller(memory=False)) == [Finished()]


async def test_a_failing_node_before_the_end_does_not_end_the_answer(desk, llm, memory):
    nodes = [
        {"type": "Respond", "returnToUser": True},
        {"type": "PythonModule", "module_path": "gone", "beforeClose": True},
    ]
    llm.reply("Soup.")
    assert text_of(await events(desk.workflows(read_workflow("failing", nodes)))) == "Soup."
    run = await desk.runs.next()
    assert run.status == "finished"
    assert nodes_of(run)[1].error


BEGINNING = "b" * MOST_KEPT_CHARACTERS
_COUNTS = "{{ agent1Output|length }} c: {{ agent1Output.count('c') }}"
SIZE = {"type": "StaticResponse", "title": "Size", "jinja2": True, "content": _COUNTS}


@pytest.mark.parametrize("answering", [{"type": "Respond"}, {"endpointName": "Main"}], ids=["Respond", "Standard"])
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize(
    "pieces",
    [
        [BEGINNING],
        [BEGINNING + "c"],
        [BEGINNING, "c"],
        ["b", BEGINNING[2:] + "b" + "c" * 9, "d"],
        ["b" * 9, BEGINNING, BEGINNING],
    ],
    ids=["as long as may be", "one piece", "two pieces", "three pieces", "two long pieces"],
)
async def test_the_run_and_nodes_behind_an_overlong_answer_have_its_beginning(desk, llm, answering, stream, pieces):
    text = "".join(pieces)
    llm.queue(Answer(text=text, pieces=pieces))
    nodes = {**answering, "title": "Say", "returnToUser": True}, SIZE
    happened = await events(desk.tree(*nodes), chat(stream=stream), caller(memory=False))
    assert text_of(happened) == text
    say, again = nodes_of(await desk.runs.next())
    assert say.output == BEGINNING[:MOST_TRACED_CHARACTERS]
    assert again.output == f"{MOST_KEPT_CHARACTERS} c: 0"
    overlong = "The answer is too long: nodes behind it get only its beginning."
    assert say.notes == ([] if text == BEGINNING else [overlong])


async def test_a_node_marked_for_the_end_but_before_the_responder_runs_once(desk, llm):
    nodes = [{"type": "StaticResponse", "content": "a", "beforeClose": True}, {"type": "Respond"}]
    await events(desk.workflows(read_workflow("early", nodes)))
    assert [node.type for node in nodes_of(await desk.runs.next())] == ["StaticResponse", "Respond"]
