"""Memories in traces: those that each node read, and those that each node wrote."""

import json

import pytest

from mnemoir.core.runs import RecalledMemory, WrittenMemory
from tests.workflows.history_kit import OWN, keeping, remembering
from tests.workflows.memory_tree import RECORDS, RESPONDER, memory_tree, of, said
from tests.workflows.workflow_kit import caller, chat, events, nodes_of, reply

RECORD = {"title": "Tea", "summary": "Ann drinks green tea.", "entities": ["Ann"], "key_phrases": ["tea"]}
QUALITY = {"title": "Make", "type": "QualityMemory"}


async def written(desk, llm, *nodes, answer="A memory.", **tree):
    """The memories that the last node behind an answer wrote in a long discussion."""
    llm.rule(lambda asked: "ANSWER" not in asked.prompt, answer)
    llm.reply("the answer")
    await reply(memory_tree(desk, RESPONDER, *nodes, **tree), of("d1", *said(8)))
    return nodes_of(await desk.runs.next())[-1].written


async def test_a_queued_turn_is_traced_with_its_job(desk):
    nodes = {"title": "Say", "type": "Respond", "returnToUser": True}, {"title": "Keep", "type": "Remember"}
    await events(desk.tree(*nodes), chat(), caller())
    _, keep = nodes_of(await desk.runs.next())
    assert keep.written == [WrittenMemory(kind="turn", id="job_1")]


async def test_nothing_is_traced_when_memory_is_off(desk):
    nodes = {"title": "Say", "type": "Respond", "returnToUser": True}, {"title": "Keep", "type": "Remember"}
    await events(desk.tree(*nodes), chat(), caller(memory=False))
    assert [node.written for node in nodes_of(await desk.runs.next())] == [[]]


async def test_summarised_chunks_are_counted(desk, llm):
    (told,) = await written(desk, llm, QUALITY)
    assert (told.kind, told.count > 0) == ("chunk_summary", True)


async def test_chunks_that_became_records_are_counted(desk, llm):
    (told,) = await written(desk, llm, QUALITY, answer=json.dumps([RECORD]), memory=RECORDS)
    assert (told.kind, told.count > 0) == ("chunk_records", True)


async def test_a_summary_of_the_conversation_is_traced(desk, llm):
    write = {"title": "Write", "type": "WriteCurrentSummaryToFileAndReturnIt", "input": "So far: tea."}
    assert await written(desk, llm, QUALITY, write) == [WrittenMemory(kind="rolling_summary")]


async def test_found_records_are_traced(desk, llm):
    llm.rule(lambda asked: "ANSWER" not in asked.prompt, json.dumps([RECORD]))
    llm.reply("the answer")
    find = {"title": "Find", "type": "VectorMemorySearch", "input": "tea"}
    await reply(memory_tree(desk, RESPONDER, QUALITY, find, memory=RECORDS), of("d1", *said(8)))
    found = nodes_of(await desk.runs.next())[-1].memories
    assert RecalledMemory(text="Ann drinks green tea.") in found


@pytest.fixture
async def talks(desk, tmp_path):
    async with keeping(desk, tmp_path / "conversations") as talks:
        yield talks


async def test_a_node_s_own_memory_is_traced(talks, desk, llm):
    talks.serve(remembering(OWN))
    llm.reply("an answer")
    await talks.client().says("q1")
    (node,) = nodes_of(await desk.runs.next())
    assert [told.kind for told in node.written] == ["node_memory"]
