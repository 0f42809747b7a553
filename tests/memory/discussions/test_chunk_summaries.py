"""Chunk summaries: what a model is given about each chunk, and what is kept of its answers."""

import asyncio

import pytest

from mnemoir.core.discussions import RollingSummary
from mnemoir.core.errors import ProviderUnavailable
from mnemoir.core.messages import text_message
from mnemoir.memory.discussions.chunk_summaries import SummaryInputs, make_chunk_summaries, plan_chunk_summaries
from mnemoir.memory.discussions.parts import NO_SUMMARY, ChunkPolicy, Plan, Written

POLICY = ChunkPolicy(target_tokens=20, most_messages=3, lookback=2)
BETWEEN = "\n--------------\n"


def said(count, words=3):
    """Messages `mN mN mN `: three words each, of four tokens."""
    return [text_message("assistant" if at % 2 else "user", f"m{at + 1} " * words) for at in range(count)]


class Model:
    """Answers `of mA-mB` for a chunk from message A to B; `asked` holds what it was given."""

    def __init__(self, *answers):
        self.asked: list[SummaryInputs] = []
        self.answers = list(answers)

    async def __call__(self, inputs):
        self.asked.append(inputs)
        if self.answers:
            answer = self.answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return Written(text=answer)
        return Written(text=f"of {inputs.chunk.split()[0]}-{inputs.chunk.split()[-1]}")


async def make(memory, tea, messages, *models, reads_earlier=True, policy=POLICY):
    return await make_chunk_summaries(memory, tea, messages, policy, models, reads_earlier=reads_earlier)


async def texts(memory, tea):
    return [chunk.text for chunk in await memory.ledger.all(tea) if chunk.stale_since is None]


async def test_a_growing_conversation_is_read_as_the_format_tells(memory, tea):
    model = Model()
    await make(memory, tea, said(4), model)
    assert not [*await memory.ledger.all(tea), *model.asked]
    await make(memory, tea, said(10), model)
    assert await texts(memory, tea) == ["of m1-m4", "of m5-m8"]
    await make(memory, tea, said(12), model)
    assert len(model.asked) == 2
    await make(memory, tea, said(14), model)
    assert await texts(memory, tea) == ["of m1-m4", "of m5-m8", "of m9-m12"]
    assert len(model.asked) == 3


async def test_each_chunk_reads_what_came_before_it(memory, tea):
    model = Model()
    await make(memory, tea, said(22), model)
    of = [f"of m{first}-m{first + 3}" for first in range(1, 21, 4)]
    assert [asked.chunk.split()[0] for asked in model.asked] == ["m1", "m5", "m9", "m13", "m17"]
    assert [asked.recent for asked in model.asked] == [BETWEEN.join(of[max(0, n - 3) : n]) for n in range(5)]
    assert [asked.all for asked in model.asked] == [BETWEEN.join(of[:n]) for n in range(5)]
    assert {asked.summary for asked in model.asked} == {NO_SUMMARY}


async def test_a_chunk_made_anew_reads_only_what_is_in_front_of_it(memory, tea):
    messages = said(14)
    await make(memory, tea, messages, Model())
    messages[5] = text_message("assistant", "mX mX mX ")
    await memory.summaries.save(tea, RollingSummary(text="rolling", hash="0" * 64))
    model = Model()
    made = await make(memory, tea, messages, model)
    assert (made.chunks, made.stale) == (1, 1)
    [asked] = model.asked
    assert (asked.recent, asked.all, asked.summary) == ("of m1-m4", "of m1-m4", "rolling")
    assert await texts(memory, tea) == ["of m1-m4", "of m5-m8", "of m9-m12"]


async def test_answers_are_trimmed_and_separators_in_them_are_data(memory, tea):
    await make(memory, tea, said(10), Model("\n A --ChunkBreak-- B \n", "--rag_break--"))
    assert await texts(memory, tea) == ["A --ChunkBreak-- B", "--rag_break--"]


@pytest.mark.parametrize("nothing", ["", " \n\t", ProviderUnavailable("the model is gone")])
@pytest.mark.parametrize("reads_earlier", [True, False])
async def test_a_chunk_without_an_answer_is_left_and_made_the_next_time(memory, tea, nothing, reads_earlier):
    model = Model("one", nothing)
    made = await make(memory, tea, said(14), model, reads_earlier=reads_earlier)
    assert (made.chunks, made.left, len(made.notes)) == (1, 2, 1)
    assert await texts(memory, tea) == ["one"]
    assert (await make(memory, tea, said(14), Model(), reads_earlier=reads_earlier)).left == 0
    assert await texts(memory, tea) == ["one", "of m5-m8", "of m9-m12"]


async def test_the_next_worker_takes_over_where_one_fails(memory, tea):
    failing, working = Model("one", ProviderUnavailable("gone")), Model()
    assert (await make(memory, tea, said(14), failing, working)).chunks == 3
    assert [len(model.asked) for model in (failing, working)] == [2, 2]
    assert working.asked[0].all == "one"


async def test_chunks_that_do_not_read_each_other_are_spread_and_stored_in_order(memory, tea):
    together = asyncio.Barrier(3)  # all three are at work at the same time, or none goes on

    async def work(inputs):
        await together.wait()
        assert (inputs.recent, inputs.all) == ("", "")
        return Written(text=f"of {inputs.chunk.split()[0]}")

    made = await make(memory, tea, said(14), work, work, work, reads_earlier=False)
    assert made.chunks == 3
    assert await texts(memory, tea) == ["of m1", "of m5", "of m9"]


async def test_a_plan_tells_what_would_be_made_and_writes_nothing(memory, tea, tmp_path):
    plan = await plan_chunk_summaries(memory, tea, said(10), POLICY)
    assert plan == Plan(
        chunks=2, messages=8, tokens=2 * POLICY.estimate("m1 m1 m1 \nm2 m2 m2 \nm3 m3 m3 \nm4 m4 m4 ")
    )
    assert list(tmp_path.iterdir()) == []
    await make(memory, tea, said(10), Model())
    assert await plan_chunk_summaries(memory, tea, said(10), POLICY) == Plan(chunks=0, messages=0, tokens=0)
