"""A discussion copied out of its stores and into others: nothing lost, and nothing by halves."""

import dataclasses
import json
import random
from typing import Any, cast

import pytest

from mnemoir.core.discussions import BlockChanges, ChunkSource, Discussion, NewRecord, RollingSummary, SourceMessage
from mnemoir.core.errors import Conflict, StorageUnavailable
from mnemoir.memory.discussions.rolling_summary import chunks_since
from mnemoir.memory.discussions.transfer import ChunkRecords, DiscussionCopy, RecordCopy, copy_of, put_copy
from mnemoir.memory.discussions.writing import aside

IDS = ["tea-time", "other", "a/b", "%odd", "x" * 300, "\u202ex", "con"]


@pytest.fixture
def tea(tmp_path):
    return Discussion(root=tmp_path / "mine", id="tea-time")


def chunk(*texts):
    """A chunk of the user's messages; its digests are made up, one for each text."""
    digests = [f"{hash(text) & 0xFFFFFFFFFFFFFFFF:016x}" for text in texts]
    said = [SourceMessage(role="user", text=text) for text in texts]
    return ChunkSource(hash=digests[-1] * 4, digests=digests, messages=said)


def record(title, summary="About tea."):
    return NewRecord(metadata={"title": title, "summary": summary, "entities": ["Ann"], "key_phrases": [], "own": 1})


async def fill(memory, discussion):
    """Three chunk summaries, the second stale, a rolling summary of the first, and records of two chunks."""
    await memory.ledger.begin(discussion)
    first = await memory.ledger.append(discussion, "Ann likes tea.", chunk("I like tea.", "So?"))
    second = await memory.ledger.append(discussion, "She has a pot.", chunk("I have a pot."))
    await memory.ledger.append(discussion, "It is green.", chunk("Green."))
    await memory.ledger.change(discussion, BlockChanges(stale=frozenset([second.id])))
    await memory.summaries.save(
        discussion, RollingSummary(text="Tea!", hash=first.hash, number=first.number, updated_at="2026-01-02")
    )
    await memory.records.begin(discussion)
    await memory.records.append(discussion, [record("Tea"), record("Pot", "She has a pot.")], chunk("I like tea."))
    await memory.records.append(discussion, [], chunk("Hm."))


async def summaries_of(memory, discussion):
    return [summary.text for summary in await memory.ledger.all(discussion)]


def everything_below(folder):
    """Files by name; the empty one that tells who makes memories is nothing."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock")
    return {path.name: path.read_bytes() for path in files}


@pytest.mark.parametrize("id", IDS)
async def test_a_copy_goes_from_one_discussion_to_another(memory, tea, tmp_path, id):
    await fill(memory, tea)
    copy = await copy_of(memory, tea)
    other = Discussion(root=tmp_path / "theirs", id=id)
    await put_copy(memory, other, copy)
    again = await copy_of(memory, other)
    assert again == copy
    assert [summary.text for summary in again.summaries if not summary.is_stale] == ["Ann likes tea.", "It is green."]
    assert [[one.metadata["title"] for one in part.records] for part in again.chunks] == [["Tea", "Pot"], []]
    assert [listed.id for listed in await memory.files.discussions_in(other.root)] == [id]


async def test_nothing_stands_aside_when_a_copy_is_in_its_place(memory, tea, tmp_path):
    await fill(memory, tea)
    copied = Discussion(root=tmp_path / "theirs", id="tea-time")
    await put_copy(memory, copied, await copy_of(memory, tea))
    assert everything_below(copied.root).keys() == everything_below(tea.root).keys()


async def test_what_is_kept_of_nothing_is_an_empty_copy_and_makes_nothing(memory, tea):
    copy = await copy_of(memory, tea)
    assert [*copy.summaries, *copy.chunks] == []
    assert copy.rolling is None
    assert not tea.root.exists()


async def test_a_copy_without_records_begins_no_store_of_records(memory, tea, tmp_path):
    await fill(memory, tea)
    copy = dataclasses.replace(await copy_of(memory, tea), chunks=())
    other = Discussion(root=tmp_path / "theirs", id="tea-time")
    await put_copy(memory, other, copy)
    assert not [name for name in everything_below(other.root) if name.endswith(".db")]


async def test_a_discussion_that_is_there_is_not_written_over(memory, tea):
    await fill(memory, tea)
    before = everything_below(tea.root)
    with pytest.raises(Conflict, match="already") as refused:
        await put_copy(memory, tea, DiscussionCopy())
    assert refused.value.code == "discussion_exists"
    assert everything_below(tea.root) == before


async def test_it_is_replaced_when_that_is_asked_for(memory, tea):
    await fill(memory, tea)
    copy = await copy_of(memory, tea)
    fewer = dataclasses.replace(copy, summaries=copy.summaries[2:], rolling=None, chunks=())
    await put_copy(memory, tea, fewer, replace=True)
    assert (await copy_of(memory, tea)).summaries[0].text == "It is green."
    assert await memory.summaries.load(tea) is None
    assert await memory.records.newest(tea, limit=10) == []


async def test_nothing_is_stored_while_memories_are_being_made(memory, tea):
    async with memory.files.making(tea):
        with pytest.raises(Conflict) as refused:
            await put_copy(memory, tea, DiscussionCopy(rolling=RollingSummary(text="Tea", hash="")))
    assert refused.value.code == "discussion_busy"
    assert await memory.summaries.load(tea) is None


async def test_a_chunk_that_no_store_takes_leaves_everything_as_it_was(memory, tea):
    await fill(memory, tea)
    before = everything_below(tea.root)
    copy = await copy_of(memory, tea)
    unwritable = RecordCopy(metadata={"summary": {1, 2}})  # no JSON
    broken = dataclasses.replace(copy, chunks=[*copy.chunks, ChunkRecords(source=chunk("x"), records=[unwritable])])
    with pytest.raises(TypeError):
        await put_copy(memory, tea, broken, replace=True)
    assert everything_below(tea.root) == before


async def test_an_import_that_fails_at_the_last_step_leaves_no_new_discussion(memory, tea, tmp_path):
    await fill(memory, tea)
    unwritable = RollingSummary(text=cast(Any, {1, 2}), hash="")  # no JSON
    other = Discussion(root=tmp_path / "theirs", id="tea-time")
    with pytest.raises(TypeError):
        await put_copy(memory, other, dataclasses.replace(await copy_of(memory, tea), rolling=unwritable))
    assert not await memory.files.exists(other)
    assert everything_below(other.root) == {}


async def test_records_that_cannot_be_read_are_not_replaced(memory, tea):
    await fill(memory, tea)
    copy = await copy_of(memory, tea)
    (tea.root / "tea-time_vector_memory.db").write_bytes(b"no database, but somebody's")
    before = everything_below(tea.root)
    with pytest.raises(StorageUnavailable):
        await put_copy(memory, tea, dataclasses.replace(copy, chunks=()), replace=True)
    assert everything_below(tea.root) == before


@pytest.mark.parametrize("newest", ["five", "four", "one"])
async def test_what_was_made_after_the_rolling_summary_is_still_told_from_what_is_in_it(
    memory, tea, tmp_path, newest
):
    await memory.ledger.begin(tea)
    old = {text: await memory.ledger.append(tea, text, chunk(text)) for text in ("one", "two", "five")}
    summary = RollingSummary(text="All", hash=chunk(newest).hash, number=old["five"].number)
    await memory.ledger.append(tea, "four", chunk("four"), before=old["five"].id)
    await memory.ledger.append(tea, "three", chunk("three"), before=(await memory.ledger.all(tea))[2].id)
    await memory.ledger.append(tea, "six", chunk("six"))
    await memory.summaries.save(tea, summary)
    other = Discussion(root=tmp_path / "theirs", id="tea-time")
    await put_copy(memory, other, await copy_of(memory, tea))
    assert await summaries_of(memory, other) == ["one", "two", "three", "four", "five", "six"]
    new = [
        [one.text for one in chunks_since(await memory.ledger.all(kept), await memory.summaries.load(kept))]
        for kept in (tea, other)
    ]
    assert new[0] == new[1]
    assert new[0][-1] == "six"


@pytest.mark.parametrize("seed", range(20))
async def test_any_copy_has_the_same_still_to_sum_up(memory, tea, tmp_path, seed):
    dice = random.Random(seed)
    await memory.ledger.begin(tea)
    for n in range(8):
        others = [None, None, *(summary.id for summary in await memory.ledger.all(tea))]
        await memory.ledger.append(tea, str(n), chunk(f"{dice.randrange(4)}"), before=dice.choice(others))
    kept = await memory.ledger.all(tea)
    stale = frozenset(summary.id for summary in kept if dice.random() < 0.3)
    await memory.ledger.change(tea, BlockChanges(stale=stale))
    newest = dice.choice(kept)
    number = dice.choice([None, newest.number, dice.choice(kept).number])
    await memory.summaries.save(tea, RollingSummary(text="So far", hash=newest.hash, number=number))
    other = Discussion(root=tmp_path / "theirs", id="tea-time")
    await put_copy(memory, other, await copy_of(memory, tea))
    new = [
        [one.text for one in chunks_since(await memory.ledger.all(where), await memory.summaries.load(where))]
        for where in (tea, other)
    ]
    assert new[0] == new[1]


async def test_what_an_import_that_was_killed_left_behind_goes_with_the_next(memory, tea, tmp_path):
    await fill(memory, tea)
    other = Discussion(root=tmp_path / "theirs", id="tea-time")
    await fill(memory, aside(other, "import"))
    await put_copy(memory, other, await copy_of(memory, tea))
    assert [listed.id for listed in await memory.files.discussions_in(other.root)] == ["tea-time"]
    assert len(await summaries_of(memory, other)) == 3


async def test_the_summaries_of_another_program_are_copied_without_their_words(memory, tea, tmp_path):
    (tea.root / "tea-time").mkdir(parents=True)
    told = [{"text_block": "Ann likes tea.", "hash": "ab" * 32}, {"text_block": "Green.", "hash": "cd" * 32}]
    (tea.root / "tea-time" / "memories.json").write_text(json.dumps(told))
    (tea.root / "tea-time" / "chat_summary.json").write_text(json.dumps(told[:1]))
    copy = await copy_of(memory, tea)
    assert [(one.text, one.source) for one in copy.summaries] == [
        (one["text_block"], ChunkSource(hash=one["hash"], digests=(), messages=())) for one in told
    ]
    other = Discussion(root=tmp_path / "theirs", id="tea-time")
    await put_copy(memory, other, copy)
    assert [(block.hash, tuple(block.digests)) for block in await memory.ledger.blocks(other)] == [
        ("ab" * 32, ()),
        ("cd" * 32, ()),
    ]
    rolling = await memory.summaries.load(other)
    assert (rolling.text, rolling.hash, rolling.number) == ("Ann likes tea.", "ab" * 32, None)
