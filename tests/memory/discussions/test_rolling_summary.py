"""The rolling summary: what goes into it, in which steps, and how its place is kept."""

import asyncio
from dataclasses import replace
from functools import partial

import pytest

from mnemoir.core.discussions import BlockChanges, ChunkSource, RollingSummary, SourceMessage
from mnemoir.core.errors import Conflict, NotFound, ProviderUnavailable
from mnemoir.memory.discussions.parts import NO_SUMMARY, Control, Written
from mnemoir.memory.discussions.reading import summaries_since
from mnemoir.memory.discussions.rolling_summary import chunks_since, count_since, save_summary, update_rolling_summary
from mnemoir.storage.discussions.chunk_ledger import FileChunkLedger
from mnemoir.storage.discussions.rolling_summaries import FileRollingSummaries

BETWEEN = "\n------------\n"


class Model:
    """Answers S1, S2, …; `asked` holds what it was given."""

    def __init__(self, *answers):
        self.asked = []
        self.answers = list(answers)

    async def __call__(self, summary, latest):
        self.asked.append((summary, latest.split(BETWEEN)))
        answer = self.answers.pop(0) if self.answers else f"S{len(self.asked)}"
        if isinstance(answer, Exception):
            raise answer
        return Written(text=answer)


async def put(memory, tea, *texts, before=None):
    """Chunk summaries, each of one message of the same text."""
    made = []
    for text in texts:
        source = ChunkSource(
            hash=text.encode().hex().ljust(64, "0"),
            digests=[text.encode().hex().ljust(16, "0")],
            messages=[SourceMessage(role="user", text=text)],
        )
        made.append(await memory.ledger.append(tea, text, source, before=before))
    return made


async def since(memory, tea):
    found = chunks_since(await memory.ledger.all(tea), await memory.summaries.load(tea))
    return [chunk.text for chunk in found]


async def test_four_memories_two_at_a_time_make_two_calls(memory, tea):
    made = await put(memory, tea, "m1", "m2", "m3", "m4")
    model = Model()
    assert await update_rolling_summary(memory, tea, model, loop_if_exceed=2, least=1) == "S2"
    assert model.asked == [(NO_SUMMARY, ["m1", "m2"]), ("S1", ["m3", "m4"])]
    stored = await memory.summaries.load(tea)
    assert (stored.text, stored.hash, stored.number) == ("S2", made[3].hash, made[3].number)


@pytest.mark.parametrize(
    ("count", "loop", "least", "batches"),
    [
        (0, 3, 3, []),
        (2, 3, 3, []),
        (3, 3, 3, [3]),
        (4, 3, 3, [3]),
        (6, 3, 3, [3, 3]),
        (7, 3, 1, [3, 3, 1]),
        (2, 9, 0, [2]),
        (3, 0, 0, [1, 1, 1]),
        (3, -5, 1, [1, 1, 1]),
    ],
)
async def test_how_many_are_taken_in_at_a_time(memory, tea, count, loop, least, batches):
    await put(memory, tea, *(f"m{number}" for number in range(count)))
    model = Model()
    await update_rolling_summary(memory, tea, model, loop_if_exceed=loop, least=least)
    assert [len(latest) for _, latest in model.asked] == batches


async def test_a_second_update_takes_in_only_what_is_new(memory, tea):
    await put(memory, tea, "m1", "m2", "m3")
    await update_rolling_summary(memory, tea, Model())
    await put(memory, tea, "m4")
    model = Model("with four")
    assert await update_rolling_summary(memory, tea, model) == "S1"
    assert await update_rolling_summary(memory, tea, model, least=1) == "with four"
    assert model.asked == [("S1", ["m4"])]
    assert await update_rolling_summary(memory, tea, model, least=1) == "with four"


async def test_a_failure_keeps_the_steps_before_it_and_the_next_update_goes_on_there(memory, tea):
    await put(memory, tea, "m1", "m2", "m3", "m4")
    with pytest.raises(ProviderUnavailable):
        await update_rolling_summary(memory, tea, Model("A", ProviderUnavailable("gone")), loop_if_exceed=2, least=1)
    model = Model("B")
    assert await update_rolling_summary(memory, tea, model, loop_if_exceed=2, least=1) == "B"
    assert model.asked == [("A", ["m3", "m4"])]


async def test_an_empty_answer_is_not_stored_and_ends_the_update(memory, tea):
    await put(memory, tea, "m1", "m2", "m3", "m4")
    model = Model(" first \n", "  \n")
    assert await update_rolling_summary(memory, tea, model, loop_if_exceed=2, least=1) == "first"
    assert len(model.asked) == 2
    assert await since(memory, tea) == ["m3", "m4"]


def is_unasked(model: Model) -> bool:
    return not model.asked


async def test_an_update_ends_between_two_steps_when_it_is_told_to(memory, tea):
    await put(memory, tea, "m1", "m2")
    seen: list[tuple[int, int]] = []
    control = Control(goes_on=lambda: not seen, progress=lambda done, total: seen.append((done, total)))
    assert await update_rolling_summary(memory, tea, Model(), loop_if_exceed=1, least=1, control=control) == "S1"
    assert seen == [(1, 2)]


async def test_while_somebody_else_makes_memories_it_is_left_alone(memory, tea):
    await put(memory, tea, "m1", "m2", "m3")
    model = Model()
    async with memory.files.making(tea) as is_ours:
        assert is_ours
        with pytest.raises(Conflict):
            await update_rolling_summary(memory, tea, model)
        with pytest.raises(Conflict):
            await save_summary(memory, tea, Written(text="mine"), patience_s=0.0)
    assert (model.asked, await memory.summaries.load(tea)) == ([], None)


async def test_a_chunk_made_anew_is_taken_in_and_the_place_stays(memory, tea):
    made = await put(memory, tea, "m1", "m2", "m3")
    await update_rolling_summary(memory, tea, Model())
    await memory.ledger.change(tea, BlockChanges(stale=frozenset([made[0].id])))
    [anew] = await put(memory, tea, "m1 edited", before=made[1].id)
    assert await since(memory, tea) == ["m1 edited"]
    await update_rolling_summary(memory, tea, Model("edited"), least=1)
    stored = await memory.summaries.load(tea)
    assert (stored.hash, stored.number) == (made[2].hash, anew.number)
    assert await since(memory, tea) == []


async def test_chunks_made_anew_come_by_number_so_that_an_end_in_between_loses_none(memory, tea):
    made = await put(memory, tea, "m1", "m2", "m3")
    await update_rolling_summary(memory, tea, Model())
    await memory.ledger.change(tea, BlockChanges(stale=frozenset(chunk.id for chunk in made[:2])))
    await put(memory, tea, "m2 edited", before=made[2].id)
    await put(memory, tea, "m1 edited", before=made[1].id)
    await put(memory, tea, "m4")
    assert await since(memory, tea) == ["m2 edited", "m1 edited", "m4"]
    for left in (["m1 edited", "m4"], ["m4"], []):
        ended = Model(None, ProviderUnavailable("gone"))
        ended.answers[0] = "one more"
        one_step = Control(goes_on=partial(is_unasked, ended))
        await update_rolling_summary(memory, tea, ended, loop_if_exceed=1, least=1, control=one_step)
        assert await since(memory, tea) == left


async def test_a_newest_chunk_that_went_stale_still_tells_the_place(memory, tea):
    made = await put(memory, tea, "m1", "m2", "m3")
    await update_rolling_summary(memory, tea, Model())
    await memory.ledger.change(tea, BlockChanges(stale=frozenset([made[2].id])))
    await put(memory, tea, "m3 edited")
    assert await since(memory, tea) == ["m3 edited"]
    assert await count_since(memory, tea) == 1


async def test_a_summary_of_another_program_goes_on_behind_its_hash(memory, tea):
    made = await put(memory, tea, "m1", "m2", "m3")
    await memory.summaries.save(tea, RollingSummary(text="theirs", hash=made[1].hash))
    assert await since(memory, tea) == ["m3"]
    model = Model()
    await update_rolling_summary(memory, tea, model, least=1)
    assert model.asked == [("theirs", ["m3"])]
    assert (await memory.summaries.load(tea)).number == made[2].number


async def test_what_is_not_in_the_summary_is_counted(memory, tea):
    assert await count_since(memory, tea) == -1
    made = await put(memory, tea, "m1", "m2", "m3")
    assert await count_since(memory, tea) == 3
    await memory.summaries.save(tea, RollingSummary(text="x", hash=made[0].hash, number=made[0].number))
    assert await count_since(memory, tea) == 2
    await memory.summaries.save(tea, RollingSummary(text="x", hash="0" * 64))
    assert await count_since(memory, tea) == -1
    assert await since(memory, tea) == ["m1", "m2", "m3"]


async def test_a_summary_that_is_given_covers_all_chunk_summaries(memory, tea):
    with pytest.raises(NotFound, match="no chunk summaries"):
        await save_summary(memory, tea, Written(text="mine"))
    assert await memory.summaries.load(tea) is None
    await put(memory, tea, "m1", "m2")
    await save_summary(memory, tea, Written(text="mine"))
    assert (await memory.summaries.load(tea)).text == "mine"
    assert await since(memory, tea) == []


class SlowSummaries(FileRollingSummaries):
    """Tells when it writes, and waits until it may."""

    def __init__(self):
        self.writing, self.may_end = asyncio.Event(), asyncio.Event()

    async def save(self, discussion, summary):
        self.writing.set()
        await self.may_end.wait()
        await super().save(discussion, summary)


@pytest.mark.parametrize("cancelled", [1, 2])
async def test_a_cancelled_update_ends_its_write_before_anybody_may_forget_a_chunk(memory, tea, cancelled):
    await put(memory, tea, "m1", "m2", "m3")
    slow = SlowSummaries()
    update = asyncio.create_task(update_rolling_summary(replace(memory, summaries=slow), tea, Model()))
    await slow.writing.wait()
    for _ in range(cancelled):
        update.cancel()
        async with memory.files.making(tea) as is_alone:
            assert not is_alone
    slow.may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await update
    assert (await memory.summaries.load(tea)).text == "S1"


class GrowingLedger(FileChunkLedger):
    """Somebody sums up one more chunk, and takes it into the rolling summary, just when the ledger was read."""

    def __init__(self, memory):
        super().__init__()
        self.memory = memory

    async def all(self, discussion):
        read = await super().all(discussion)
        await put(self.memory, discussion, "m4")
        await update_rolling_summary(self.memory, discussion, Model(), least=1)
        return read


async def test_a_summary_that_is_written_meanwhile_does_not_make_all_chunks_new(memory, tea):
    await put(memory, tea, "m1", "m2", "m3")
    await update_rolling_summary(memory, tea, Model())
    assert await summaries_since(replace(memory, ledger=GrowingLedger(memory)), tea) == []
    assert await count_since(replace(memory, ledger=GrowingLedger(memory)), tea) == 0
