"""The rolling summary in a file of one line, or in the array of another program."""

import asyncio
import json

import pytest

from mnemoir.core.discussions import RollingSummary
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.discussions.rolling_summaries import FileRollingSummaries
from tests.storage.discussions.ledger_kit import array, called, foreign, put

PLACES = ["d1/chat_summary.json", "d1_chat_summary.json", "d1_summary.jsonl"]
FIRST = RollingSummary(text="First.\nTwo lines.", hash="a" * 64, number=3, updated_at="2026-03-04T12:00:00.000Z")
SECOND = RollingSummary(text="Second \ud83d.", hash="b" * 64)


@pytest.fixture
def root(tmp_path):
    return tmp_path / "DiscussionIds"


@pytest.fixture
def summaries():
    return FileRollingSummaries()


async def test_there_is_none_at_first_and_looking_and_removing_make_nothing(summaries, root):
    assert await summaries.load(called(root)) is None
    await summaries.remove(called(root))
    assert not root.exists()


async def test_a_summary_is_one_line_that_the_next_replaces(summaries, root):
    await summaries.save(called(root), FIRST)
    assert await FileRollingSummaries().load(called(root)) == FIRST
    await summaries.save(called(root), SECOND)
    assert await summaries.load(called(root)) == SECOND
    (file,) = root.iterdir()
    assert (file.name, len(file.read_bytes().splitlines())) == ("d1_summary.jsonl", 1)


@pytest.mark.parametrize("place", PLACES)
async def test_the_array_of_another_program_is_continued_as_it_was_found(summaries, root, place):
    file = put(root, place, array(foreign("Old", mood="calm")))
    old = await summaries.load(called(root))
    assert old == RollingSummary(text="Old", hash=foreign("Old")["hash"])
    await summaries.save(called(root), FIRST)
    (entry,) = json.loads(file.read_bytes())
    assert (entry["text_block"], entry["hash"], entry["mood"]) == (FIRST.text, FIRST.hash, "calm")
    assert file.read_text() == json.dumps([entry], indent=4)
    assert [path.name for path in root.rglob("*") if path.is_file()] == [file.name]


@pytest.mark.parametrize("content", ["", "[]", "[7]", "[{}]"])
async def test_a_file_without_a_summary_is_filled(summaries, root, content):
    put(root, "d1_chat_summary.json", content)
    assert await summaries.load(called(root)) is None
    await summaries.save(called(root), FIRST)
    assert await summaries.load(called(root)) == FIRST


async def test_removing_takes_it_away_from_all_places(summaries, root):
    for place in PLACES:
        put(root, place, array(foreign(place)))
    await summaries.remove(called(root))
    assert await summaries.load(called(root)) is None
    assert [path for path in root.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("content", ["{", '[{"text_block": "a"', '{"a": 1}', "[" * 100_000])
@pytest.mark.parametrize("place", PLACES[:2])
async def test_a_damaged_file_is_refused_and_left_as_it_is(summaries, root, place, content):
    file = put(root, place, content)
    with pytest.raises(StorageUnavailable, match="is damaged"):
        await summaries.load(called(root))
    with pytest.raises(StorageUnavailable, match="is damaged"):
        await summaries.save(called(root), FIRST)
    assert file.read_text() == content


async def test_many_saves_at_once_leave_one_whole_summary(summaries, root):
    many = [RollingSummary(text=str(number), hash="h", number=number) for number in range(20)]
    await asyncio.gather(*(FileRollingSummaries().save(called(root), summary) for summary in many))
    kept = await summaries.load(called(root))
    assert kept == RollingSummary(text=str(kept.number), hash="h", number=kept.number)
    assert [path.name for path in root.iterdir()] == ["d1_summary.jsonl"]


@pytest.mark.parametrize("link", PLACES)
async def test_a_link_is_neither_read_nor_written_through(summaries, root, tmp_path, link):
    outside = put(tmp_path, "outside.json", array(foreign("A")))
    (root / link).parent.mkdir(parents=True)
    (root / link).symlink_to(outside)
    with pytest.raises(StorageUnavailable, match="links"):
        await summaries.load(called(root))
    with pytest.raises(StorageUnavailable, match="links"):
        await summaries.save(called(root), FIRST)
    assert json.loads(outside.read_bytes()) == [foreign("A")]


async def test_two_discussions_have_two_summaries(summaries, root):
    await summaries.save(called(root, "a/b"), FIRST)
    await summaries.save(called(root, "A/b"), SECOND)
    assert [await summaries.load(called(root, id)) for id in ("a/b", "A/b")] == [FIRST, SECOND]
