"""Memories made of what a conversation has that nothing was made of yet, in both stores."""

import asyncio

import pytest

from mnemoir.core.errors import ProviderUnavailable
from mnemoir.memory.discussions.making import Chunk
from mnemoir.memory.discussions.parts import ChunkPolicy, Control
from tests.memory.discussions.making_kit import STORES, Memory, said

POLICY = ChunkPolicy(target_tokens=20, most_messages=3, lookback=2)


@pytest.fixture(params=STORES)
async def memory(request, tmp_path):
    memory = Memory(root=tmp_path, kind=request.param, policy=POLICY)
    yield memory
    await memory.aclose()


def conversation(count: int):
    """Four of these are as much as a chunk holds."""
    return said(*(f"m{n} m{n} m{n} " for n in range(1, count + 1)))


async def down(chunk: Chunk) -> str:
    raise ProviderUnavailable("the model is down")


async def silent(chunk: Chunk) -> None:
    return None


async def test_a_new_conversation_waits_for_tokens_and_a_begun_one_for_messages_too(memory):
    assert (await memory.make(conversation(4))).chunks == 0
    assert (await memory.make(conversation(10))).chunks == 2
    assert [len(chunk) for chunk in await memory.chunks()] == [4, 4]
    assert (await memory.make(conversation(12))).chunks == 0
    assert (await memory.make(conversation(14))).chunks == 1
    assert await memory.covered() == [message.text for message in conversation(12)]


async def test_too_few_tokens_wait_while_nothing_is_begun(memory):
    assert (await memory.make(conversation(5))).chunks == 0
    assert (await memory.make(conversation(5))).chunks == 1


async def test_what_was_made_is_not_made_again(memory):
    await memory.make(conversation(30))
    memory.restart()
    made = await memory.make(conversation(30))
    assert (made.chunks, made.left, set(memory.read.values())) == (0, 0, {1})


async def test_without_lookback_the_newest_messages_are_read_too(memory):
    memory.policy = ChunkPolicy(target_tokens=20, most_messages=3, lookback=0)
    await memory.make(conversation(8))
    assert await memory.covered() == [message.text for message in conversation(8)]


async def test_nothing_is_made_of_fewer_messages_than_are_left_alone(memory):
    assert (await memory.make(conversation(1))).chunks == 0


async def test_an_edit_makes_one_chunk_stale_and_its_text_anew_in_its_place(memory):
    messages = conversation(14)
    await memory.make(messages)
    messages[5] = said("edited")[0]
    made = await memory.make(messages)
    assert (made.chunks, made.stale, made.revived) == (1, 1, 0)
    assert await memory.covered() == [message.text for message in messages[:12]]
    assert await memory.covered(stale=True) == [message.text for message in conversation(8)[4:]]


async def test_a_taken_back_edit_is_revived_without_a_model(memory):
    await memory.make(conversation(14))
    edited = conversation(14)
    edited[5] = said("edited")[0]
    await memory.make(edited)
    made = await memory.make(conversation(14), down)
    assert (made.chunks, made.stale, made.revived, made.notes) == (0, 1, 1, [])
    assert await memory.covered() == [message.text for message in conversation(12)]


async def test_a_gap_is_made_only_as_far_as_it_is_settled(memory):
    memory.policy = ChunkPolicy(target_tokens=20, most_messages=3, lookback=0)
    await memory.make(conversation(8))
    memory.policy = ChunkPolicy(target_tokens=20, most_messages=3, lookback=6)
    messages = conversation(8)
    messages[2] = said("edited")[0]
    messages.insert(4, said("new")[0])
    await memory.make(messages)
    assert await memory.covered() == [message.text for message in messages[:3] + messages[5:]]


@pytest.mark.parametrize("in_order", [True, False])
async def test_the_first_chunk_that_fails_ends_it_and_the_rest_is_made_the_next_time(memory, in_order):
    async def fails_at_third(chunk: Chunk) -> str:
        return await (down if "m9 " in chunk.text else memory.worker)(chunk)

    made = await memory.make(conversation(18), fails_at_third, in_order=in_order)
    assert (made.chunks, made.left) == (2, 2)
    assert "the model is down" in made.notes[0]
    assert (await memory.make(conversation(18))).chunks == 2
    assert await memory.covered() == [message.text for message in conversation(16)]


@pytest.mark.parametrize("in_order", [True, False])
async def test_a_chunk_about_which_nothing_is_said_is_not_kept(memory, in_order):
    made = await memory.make(conversation(10), silent, in_order=in_order)
    assert (made.chunks, made.left, len(made.notes)) == (0, 2, 1)
    assert await memory.chunks() == []


@pytest.mark.parametrize("in_order", [True, False])
async def test_another_worker_takes_over_where_one_fails(memory, in_order):
    made = await memory.make(conversation(18), down, memory.worker, in_order=in_order)
    assert (made.chunks, made.left, made.notes) == (4, 0, [])


async def test_results_are_stored_in_order_whoever_is_done_first(memory: Memory):
    rest_is_done = asyncio.Event()

    async def slow(chunk: Chunk) -> str:
        await rest_is_done.wait()
        return await memory.worker(chunk)

    async def quick(chunk: Chunk) -> str:
        if "m13 " in chunk.text:
            rest_is_done.set()
        return await memory.worker(chunk)

    await memory.make(conversation(18), slow, quick, in_order=False)
    assert next(iter(memory.read)) != "\n".join((await memory.chunks())[0])
    assert await memory.covered() == [message.text for message in conversation(16)]


async def test_in_order_a_chunk_is_begun_when_the_one_before_is_stored(memory: Memory):
    stored = []

    async def looks_back(chunk: Chunk) -> str:
        stored.append(len(await memory.chunks()))
        return await memory.worker(chunk)

    await memory.make(conversation(18), looks_back, looks_back)
    assert stored == [0, 1, 2, 3]


async def test_a_chunk_knows_the_block_it_stands_in_front_of(memory: Memory):
    messages, fronts = conversation(14), []
    await memory.make(messages)
    blocks = await memory.store.blocks(memory.discussion)
    messages[5] = said("edited")[0]

    async def looks(chunk: Chunk) -> str:
        fronts.append(chunk.before)
        return await memory.worker(chunk)

    await memory.make([*messages, *conversation(6)], looks)
    assert fronts == [blocks[2].key, None, None]


@pytest.mark.parametrize("in_order", [True, False])
async def test_it_stops_between_two_chunks_when_told_to(memory, in_order):
    asked, seen = iter([True, True]), []
    control = Control(goes_on=lambda: next(asked, False), progress=lambda done, total: seen.append((done, total)))
    made = await memory.make(conversation(18), in_order=in_order, control=control)
    assert (made.chunks, made.left, seen) == (2, 2, [(1, 4), (2, 4)])
    assert await memory.covered() == [message.text for message in conversation(8)]


async def test_cancelling_ends_the_workers_and_keeps_what_is_stored(memory: Memory):
    at_work, ended = asyncio.Event(), []

    async def stuck_at_second(chunk: Chunk) -> str:
        if "m1 " in chunk.text:
            return await memory.worker(chunk)
        at_work.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(chunk.text)
        return ""

    making = asyncio.create_task(memory.make(conversation(10), stuck_at_second))
    await at_work.wait()
    making.cancel()
    with pytest.raises(asyncio.CancelledError):
        await making
    assert len(ended) == 1
    assert len(await memory.chunks()) == 1
    assert (await memory.make(conversation(10))).chunks == 1


async def test_only_one_makes_memories_of_a_discussion(memory):
    async with memory.files.making(memory.discussion):
        assert (await memory.make(conversation(10))).is_busy
    assert await memory.chunks() == []


async def test_a_plan_is_what_would_be_done_and_writes_nothing(memory):
    planned = await memory.plan(conversation(10))
    assert (planned.chunks, planned.messages) == (2, 8)
    assert planned.tokens == sum(POLICY.estimate(text) for text in 2 * ["\n".join(4 * ["m1 m1 m1 "])])
    assert list(memory.root.iterdir()) == []
    await memory.make(conversation(10))
    assert (await memory.plan(conversation(14))).chunks == 1


async def test_pictures_without_words_are_passed_over(memory):
    messages = [*conversation(6), *said("", ""), *conversation(2)]
    await memory.make(messages)
    assert (await memory.make(said("", "", "", "", ""))).chunks == 0


async def test_a_long_conversation_is_looked_through(memory):
    await memory.make(conversation(602))
    assert await memory.covered() == [message.text for message in conversation(600)]


async def test_a_cancelled_write_is_waited_for_before_anybody_else_may_write(memory):
    writing, may_end = asyncio.Event(), asyncio.Event()
    keep = memory.keep

    async def slow_keep(*chunk) -> None:
        writing.set()
        await may_end.wait()
        await keep(*chunk)

    memory.keep = slow_keep
    making = asyncio.create_task(memory.make(conversation(10)))
    await writing.wait()
    making.cancel()
    assert (await memory.make(conversation(10))).is_busy
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await making
    assert len(await memory.chunks()) == 1
