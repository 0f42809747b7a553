"""A rebuild makes no memories of forgotten chunks, which stay forgotten."""

import asyncio
import json
from threading import Thread

import pytest

from mnemoir.core.errors import Conflict, InvalidRequest
from mnemoir.core.text import hashes
from mnemoir.memory.discussions.writing import aside, forget_chunk
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
RECORD = '[{"title": "T", "summary": "Ann drinks tea.", "entities": [], "key_phrases": []}]'


def store(desk, kind):
    return desk.discussions.records if kind == "records" else desk.discussions.ledger


async def chat(desk, count=12):
    """Run another turn of the discussion with the nodes behind its answer."""
    await reply(desk.made[-1], of("d1", *said(count)))
    await desk.runs.next()


def asked_about(llm):
    """The numbers of the lines that a model was asked to remember."""
    excerpts = [request.prompt for request in llm.requests if "ANSWER" not in request.prompt]
    return {number for number in range(1, 20) for text in excerpts if f"line {number:02} has" in text}


async def rebuilt(desk, messages=None):
    rebuilding = Rebuilding(Engineless(), desk.services, desk.runs)
    user = ConfigTree.open(desk.public).user("Ann")
    steps = rebuilding.rebuild(caller(), user, place(desk, "d1"), messages)
    progress = [step async for step in steps]
    await desk.runs.next()
    return progress


async def blocks(desk, kind):
    return await store(desk, kind).blocks(place(desk, "d1"))


async def remembered(desk, llm, memory):
    llm.rule(summarises, lambda asked: f"about {chunk_of(asked)[0][:7]}")
    llm.rule(lambda asked: "conversation_excerpt" in asked.prompt, RECORD)
    llm.rule(lambda asked: "ANSWER" in asked.prompt, "the answer")
    memory_tree(desk, RESPONDER, QUALITY, memory=memory)
    await chat(desk)


@pytest.fixture(params=["summaries", "records"])
def kind(request):
    return request.param


@pytest.fixture
def broken(llm):
    """Words; for an excerpt that contains any of them the model fails."""
    words: list[str] = []
    llm.rule(lambda asked: "ANSWER" not in asked.prompt and any(word in asked.prompt for word in words), failure(400))
    return words


@pytest.fixture
async def forgotten(desk, llm, kind, broken):
    """The numbers of the lines of the second chunk, which is forgotten."""
    await remembered(desk, llm, RECORDS if kind == "records" else SUMMARIES)
    discussion = place(desk, "d1")
    second = (await blocks(desk, kind))[1]
    words = (await store(desk, kind).sources(discussion))[second.key]
    await forget_chunk(desk.discussions, discussion, second.key, kind=kind)
    llm.clear()
    return {int(message.text.split()[1]) for message in words}


@pytest.fixture(params=["the words that were kept", "a conversation that is given"])
def messages(request):
    return None if request.param == "the words that were kept" else said(12)


def larger(desk, kind):
    """Chunks so large that one would extend across the forgotten messages."""
    tokens = {"chunkEstimatedTokenSize": 10_000, "vectorMemoryChunkEstimatedTokenSize": 10_000}
    settings = {**(RECORDS if kind == "records" else SUMMARIES), **tokens}
    write_json(desk.public / "Configs/Workflows/Ann/Memory.json", settings)


async def test_no_model_reads_a_forgotten_chunk_and_it_stays_forgotten(desk, llm, kind, forgotten, messages):
    larger(desk, kind)
    progress = await rebuilt(desk, messages)
    assert progress[-1].finished
    assert not progress[-1].notes
    assert asked_about(llm) == set(range(1, 11)) - forgotten
    assert [block.is_forgotten for block in await blocks(desk, kind)] == [False, True, False]


async def test_the_next_turn_locates_all_chunks_and_makes_none_again(desk, llm, kind, forgotten, messages):
    larger(desk, kind)
    await rebuilt(desk, messages)
    before = await blocks(desk, kind)
    llm.clear()
    await chat(desk)
    assert asked_about(llm) == set()
    assert await blocks(desk, kind) == before


async def test_an_interrupted_rebuild_starts_again_when_more_was_forgotten(desk, kind, forgotten, broken):
    broken.append("line 04 has")
    assert (await rebuilt(desk))[-1].notes
    made = aside(place(desk, "d1"), "rebuild")
    assert len(await store(desk, kind).blocks(made)) == 3
    first = (await blocks(desk, kind))[0]
    await forget_chunk(desk.discussions, place(desk, "d1"), first.key, kind=kind)
    assert not await desk.discussions.files.exists(made)
    broken.clear()
    await rebuilt(desk)
    assert [block.is_forgotten for block in await blocks(desk, kind)][:3] == [True, True, False]


async def test_a_discussion_with_all_chunks_forgotten_has_nothing_to_rebuild(desk, llm, kind, forgotten):
    for block in await blocks(desk, kind):
        await forget_chunk(desk.discussions, place(desk, "d1"), block.key, kind=kind)
    with pytest.raises(InvalidRequest, match="Nothing is remembered"):
        await Rebuilding(Engineless(), desk.services, desk.runs).plan(
            caller(), ConfigTree.open(desk.public).user("Ann"), place(desk, "d1"), None
        )


async def test_nothing_is_forgotten_between_the_reading_of_the_words_and_their_rebuild(desk, llm, kind, forgotten):
    first = (await blocks(desk, kind))[0]
    refused = []

    class Runs:
        """Forget a chunk when the run begins, which is after the messages were read."""

        def note_begin(self, trace):
            somebody = Thread(target=asyncio.run, args=(self.forget(),))
            somebody.start()
            somebody.join()

        def note_node(self, trace, node):
            """Nothing: there are no subscribers."""

        async def forget(self):
            try:
                await forget_chunk(desk.discussions, place(desk, "d1"), first.key, kind=kind, patience_s=0.0)
            except Conflict as exc:
                refused.append(exc.code)

        def note_end(self, trace):
            assert trace.status == "finished"

    rebuilding = Rebuilding(Engineless(), desk.services, Runs())
    user = ConfigTree.open(desk.public).user("Ann")
    assert [step async for step in rebuilding.rebuild(caller(), user, place(desk, "d1"), None)][-1].finished
    assert refused == ["discussion_busy"]


@pytest.fixture
async def of_another_program(desk, llm):
    """Two chunks made by WilmerAI, up to line 5 and up to line 10; the first one is forgotten."""
    await remembered(desk, llm, SUMMARIES)
    discussion = place(desk, "d1")
    async with desk.discussions.files.making(discussion):
        await desk.discussions.files.remove(discussion)
    last = [hashes(said(1, first=number)[0])[0] for number in (5, 10)]
    entries = [{"text_block": f"up to {hash_[:4]}", "hash": hash_} for hash_ in last]
    write_json(discussion.root / "d1_memories.json", entries)
    await forget_chunk(desk.discussions, discussion, (await blocks(desk, "summaries"))[0].key)
    llm.clear()
    return discussion.root / "d1_memories.json"


async def test_a_chunk_of_another_program_is_located_in_the_conversation(desk, llm, of_another_program):
    await rebuilt(desk, said(12))
    assert asked_about(llm) == {6, 7, 8, 9, 10}
    entries = json.loads(of_another_program.read_text())
    assert [entry["text_block"] == "" for entry in entries] == [True] + [False] * 5
    llm.clear()
    await chat(desk)
    assert asked_about(llm) == set()


@pytest.mark.usefixtures("of_another_program")
async def test_without_a_conversation_its_position_is_unknown(desk):
    user = ConfigTree.open(desk.public).user("Ann")
    with pytest.raises(InvalidRequest, match="2 of the 2 chunks"):
        await Rebuilding(Engineless(), desk.services, desk.runs).plan(caller(), user, place(desk, "d1"), None)
