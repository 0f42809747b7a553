"""Rebuilding the memories of a discussion, from the messages stored with them or from a given conversation."""

import pytest

from mnemoir.core.errors import Conflict, InvalidRequest
from mnemoir.core.messages import ImagePart, Message
from mnemoir.memory.discussions.parts import Written
from mnemoir.memory.discussions.rolling_summary import save_summary
from mnemoir.workflows.config.tree import ConfigTree
from mnemoir.workflows.rebuilding import Rebuilding
from tests.scripted_llm import failure
from tests.tree_kit import write_json
from tests.workflows.memory_tree import (
    RECORDS,
    RESPONDER,
    SUMMARIES,
    chunk_of,
    memory_tree,
    of,
    place,
    said,
    summarises,
)
from tests.workflows.workflow_kit import Engineless, caller, reply

QUALITY = {"title": "Remember", "type": "QualityMemory"}


@pytest.fixture
async def rebuilding(desk, llm):
    llm.rule(summarises, lambda asked: f"about {chunk_of(asked)[0][:7]}")
    workflows = memory_tree(desk, RESPONDER, QUALITY)
    llm.reply("the answer")
    await reply(workflows, of("d1", *said(12)))
    await desk.runs.next()
    llm.clear()
    return Rebuilding(Engineless(), desk.services, desk.runs)


def tree_user(desk):
    return ConfigTree.open(desk.public).user("Ann")


async def rebuilt(rebuilding, desk, messages=None):
    steps = rebuilding.rebuild(caller(), tree_user(desk), place(desk, "d1"), messages)
    progress = [step async for step in steps]
    await desk.runs.next()
    return progress


def memory(desk, **changed):
    write_json(desk.public / "Configs/Workflows/Ann/Memory.json", {**SUMMARIES, **changed})


async def live(desk):
    return [summary for summary in await desk.discussions.ledger.all(place(desk, "d1")) if not summary.stale_since]


async def test_all_chunks_are_made_again_by_the_present_settings(rebuilding, desk, llm):
    memory(desk, chunkEstimatedTokenSize=10_000)
    progress = await rebuilt(rebuilding, desk)

    [asked] = llm.requests
    assert [line[:7] for line in chunk_of(asked)] == [f"line {number:02}" for number in range(1, 11)]
    assert [(step.done, step.all, step.finished) for step in progress] == [(1, 1, False), (1, 1, True)]
    assert [summary.text for summary in await live(desk)] == ["about line 01"]


async def test_the_summary_of_the_old_memories_is_deleted_with_them(rebuilding, desk, llm):
    await save_summary(desk.discussions, place(desk, "d1"), Written(text="Old."))
    await rebuilt(rebuilding, desk)
    assert await desk.discussions.summaries.load(place(desk, "d1")) is None


async def test_a_plan_asks_no_model_and_changes_nothing(rebuilding, desk, llm):
    before = await live(desk)
    memory(desk, chunkEstimatedTokenSize=10_000)
    plan = await rebuilding.plan(caller(), tree_user(desk), place(desk, "d1"), None)

    assert (plan.chunks, plan.messages) == (1, 10)
    assert plan.tokens > 0
    assert llm.requests == []
    assert await live(desk) == before


async def test_a_failed_rebuild_leaves_the_old_memories_and_continues_when_started_again(rebuilding, desk, llm):
    before = await live(desk)
    memory(desk, systemPrompt="AGAIN")
    answers = iter(["one", None])
    llm.rule(
        lambda asked: "AGAIN" in asked.prompt,
        lambda asked: failure(500) if (text := next(answers, "more")) is None else text,
    )
    first = await rebuilt(rebuilding, desk)
    assert first[-1].notes
    assert await live(desk) == before

    await rebuilt(rebuilding, desk)
    texts = [summary.text for summary in await live(desk)]
    assert texts[0] == "one"
    assert set(texts[1:]) == {"more"}
    asked = [line for request in llm.requests for line in chunk_of(request)]
    assert len(asked) == 10 + len(chunk_of(llm.requests[1]))  # only the chunk that failed was asked about twice


async def test_a_given_conversation_replaces_the_stored_messages(rebuilding, desk, llm):
    await rebuilt(rebuilding, desk, said(6, first=50))
    assert [line[:7] for request in llm.requests for line in chunk_of(request)] == [
        f"line {number}" for number in range(50, 54)
    ]


async def test_missing_messages_are_asked_for(rebuilding, desk, llm):
    with pytest.raises(InvalidRequest, match="Give the conversation's messages"):
        await rebuilding.plan(caller(), tree_user(desk), place(desk, "unheard of"), None)


async def test_nothing_is_rebuilt_while_memories_are_being_made(rebuilding, desk, llm):
    async with desk.discussions.files.making(place(desk, "d1")) as is_ours:
        assert is_ours
        with pytest.raises(Conflict, match="being made"):
            await rebuilt(rebuilding, desk)


async def test_a_rebuild_left_by_its_caller_is_traced_as_cancelled(rebuilding, desk, llm):
    before = await live(desk)
    steps = rebuilding.rebuild(caller(), tree_user(desk), place(desk, "d1"), None)
    await anext(steps)
    await steps.aclose()
    assert (await desk.runs.next()).status == "cancelled"
    assert await live(desk) == before


async def test_a_picture_without_a_text_keeps_its_position(rebuilding, desk, llm):
    picture = Message(role="user", parts=(ImagePart(url="data:image/png;base64,AAAA"),))
    conversation = [*said(4, first=50), picture, *said(7, first=60)]
    workflows = memory_tree(desk, RESPONDER, QUALITY, memory={**SUMMARIES, "chunkEstimatedTokenSize": 60})
    llm.rule(lambda asked: "ANSWER" in asked.prompt, "the answer")
    await reply(workflows, of("d1", *conversation))
    await desk.runs.next()
    await rebuilt(rebuilding, desk)
    before = await desk.discussions.ledger.all(place(desk, "d1"))
    await reply(workflows, of("d1", *conversation))
    await desk.runs.next()
    assert await desk.discussions.ledger.all(place(desk, "d1")) == before


async def test_records_are_rebuilt_too(rebuilding, desk, llm):
    write_json(desk.public / "Configs/Workflows/Ann/Memory.json", RECORDS)
    record = '[{"title": "T", "summary": "Ann drinks tea.", "entities": [], "key_phrases": []}]'
    llm.rule(lambda asked: "conversation_excerpt" in asked.prompt, record)
    await save_summary(desk.discussions, place(desk, "d1"), Written(text="Of the chunk summaries."))
    for _ in range(2):
        await rebuilt(rebuilding, desk, said(8))
    assert (await desk.discussions.summaries.load(place(desk, "d1"))).text == "Of the chunk summaries."
    found = await desk.discussions.records.search(place(desk, "d1"), ["tea"], limit=50)
    chunks = [block for block in await desk.discussions.records.blocks(place(desk, "d1")) if not block.is_stale]
    assert len(found) == len(chunks) > 0
