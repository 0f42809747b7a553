"""Running a workflow: order, the responder's stream, what runs behind it, and failures."""

import asyncio

import pytest

from mnemoir.core.errors import ProviderError, SettingsError
from mnemoir.core.events import Finished, MemoriesRecalled, NodeFinished, NodeStarted, Text, Usage
from mnemoir.workflows.definition import read_workflow
from tests.scripted_llm import failure
from tests.workflows.workflow_kit import caller, chat


async def events(engine, request=None, who=None):
    return [event async for batch in engine.run(request or chat(), who or caller()) for event in batch]


def text_of(happened):
    return "".join(event.text for event in happened if isinstance(event, Text))


@pytest.mark.parametrize("stream", [True, False])
async def test_the_default_workflow_recalls_answers_and_remembers_in_this_order(new_engine, llm, memory, stream):
    llm.reply("Pasta with peas.")
    happened = await events(new_engine(), chat(stream=stream))
    kinds = [type(event) for event in happened if not isinstance(event, Usage)]
    assert [kind for kind in kinds if kind is not Text] == [
        NodeStarted,
        MemoriesRecalled,
        NodeFinished,
        NodeStarted,
        NodeFinished,
        Finished,
    ]
    assert text_of(happened) == "Pasta with peas."
    assert [turn.answer for turn in memory.kept] == ["Pasta with peas."]


async def test_the_turn_is_kept_before_the_answer_ends(new_engine, llm, memory):
    llm.reply("Pasta.")
    async for batch in new_engine().run(chat(), caller()):
        kept_at_the_end = len(memory.kept) if any(isinstance(event, Finished) for event in batch) else None
    assert kept_at_the_end == 1


async def test_the_first_word_is_out_before_the_model_has_said_the_last(new_engine, llm):
    llm.reply("one two three", stall_after=1)
    running = new_engine().run(chat(), caller(memory=False))
    first = await anext(running)
    assert [event for event in first if isinstance(event, Text)] == [Text("one ")]
    llm.release()
    rest = [event async for batch in running for event in batch]
    assert rest[-1] == Finished(reason="stop")


async def test_without_memory_nothing_but_the_model_is_asked(new_engine, memory):
    happened = await events(new_engine(), who=caller(memory=False))
    assert not any(isinstance(event, NodeStarted) for event in happened)
    assert (memory.asked, memory.kept) == ([], [])


async def test_what_an_app_asks_for_itself_is_neither_recalled_for_nor_remembered(new_engine, memory):
    await events(new_engine(), who=caller(client_task=True))
    assert (memory.asked, memory.kept) == ([], [])


async def test_a_memory_that_is_down_is_reported_and_fails_no_chat(new_engine, llm, memory):
    memory.down = True
    llm.reply("Soup.")
    happened = await events(new_engine())
    assert text_of(happened) == "Soup."
    assert MemoriesRecalled(count=0, degraded="The memory service could not be reached.") in happened
    failed = [event.error for event in happened if isinstance(event, NodeFinished)]
    assert failed == ["The memory service could not be reached.", None]


async def test_an_answer_that_is_cut_raises_and_leaves_no_memory(new_engine, llm, memory):
    llm.reply("one two three", end_after=2)
    with pytest.raises(ProviderError):
        await events(new_engine())
    assert memory.kept == []


async def test_an_upstream_error_reaches_the_caller_and_leaves_no_memory(new_engine, llm, memory):
    llm.queue(failure(401, "wrong key"))
    with pytest.raises(ProviderError, match="wrong key"):
        await events(new_engine())
    assert memory.kept == []


async def test_leaving_early_ends_the_call_upstream_and_leaves_no_memory(new_engine, llm, memory):
    llm.reply("one two three", stall_after=1)
    running = new_engine().run(chat(), caller())
    async for batch in running:
        if any(isinstance(event, Text) for event in batch):
            break
    await running.aclose()
    async with asyncio.timeout(2):
        await llm.disconnected.wait()
    assert memory.kept == []


async def test_nodes_behind_the_responder_run_when_the_client_has_its_answer(new_engine, llm, memory):
    nodes = b'[{"type": "Standard", "returnToUser": true}, {"type": "Remember"}]'
    engine = new_engine(read_workflow("behind", nodes))
    llm.reply("Soup.")
    happened = await events(engine)
    assert happened[-1] == Finished(reason="stop")
    await engine.aclose()
    assert len(memory.kept) == 1


def test_the_last_standard_node_answers_when_none_is_marked(new_engine):
    nodes = b'{"nodes": [{"title": "only"}], "custom": 1}'
    assert read_workflow("w", nodes).nodes[0].type == "Standard"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"{", "not JSON"),
        (b'{"nodes": 7}', "must be a list"),
        (b"[7]", "node 1 must be an object"),
        (b'[{"type": "Standrad"}]', "unknown type 'Standrad'|no node that answers"),
        (b"[]", "no node that answers"),
        (b'[{"type": "Standard"}, {"type": "Dance", "title": "t"}]', "'t' has the unknown type 'Dance'.*Recall"),
    ],
)
async def test_a_wrong_workflow_is_refused_naming_what_is_wrong(new_engine, text, told):
    with pytest.raises(SettingsError, match=told):
        new_engine(read_workflow("wrong", text))
