"""Forgotten chunk summaries: nothing of them is left in any file, and their places stay."""

import json
from datetime import UTC, datetime

import pytest

from mnemoir.core.discussions import BlockChanges
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.discussions.chunk_ledger import FileChunkLedger
from mnemoir.storage.discussions.files import FileDiscussionFiles
from tests.storage.discussions.ledger_kit import ARRAYS, array, called, digest, foreign, keys, put, source, texts

NOON = "2026-03-04T12:00:00.000Z"


@pytest.fixture
def root(tmp_path):
    return tmp_path / "DiscussionIds"


@pytest.fixture
def ledger():
    return FileChunkLedger(clock=lambda: datetime(2026, 3, 4, 12, tzinfo=UTC))


async def three(ledger, discussion):
    return [
        await ledger.append(
            discussion, f"About {name}.", source(f"We said {name}.", f"And {name}."), made_by="Main (m)"
        )
        for name in ("apples", "xylophones", "plums")
    ]


def files_with(root, words):
    return [file.name for file in root.rglob("*") if file.is_file() and words.encode() in file.read_bytes()]


async def test_nothing_of_a_forgotten_summary_is_left_but_its_place(ledger, root):
    d1 = called(root)
    _, second, _ = await three(ledger, d1)
    before = await ledger.blocks(d1)
    assert files_with(root, "xylophones") == ["d1_memories.jsonl"]
    assert await ledger.forget(d1, second.id)
    assert files_with(root, "xylophones") == []
    line = json.loads((root / "d1_memories.jsonl").read_text().splitlines()[1])
    assert line == {
        "text_block": "",
        "hash": digest("And xylophones."),
        "id": second.id,
        "number": 2,
        "created_at": NOON,
        "messages": list(before[1].digests),
        "forgotten_at": NOON,
    }
    after = await ledger.blocks(d1)
    assert [(block.key, block.digests) for block in after] == [(block.key, block.digests) for block in before]
    assert [block.is_forgotten for block in after] == [False, True, False]


async def test_a_forgotten_summary_is_not_read_listed_or_traced(ledger, root):
    d1 = called(root)
    first, second, third = await three(ledger, d1)
    await ledger.forget(d1, second.id)
    assert [chunk.text for chunk in await ledger.newest(d1, 2)] == ["About apples.", "About plums."]
    assert list(await ledger.sources(d1)) == [first.id, third.id]
    assert [chunk.is_read for chunk in await ledger.all(d1)] == [True, False, True]
    assert (await FileDiscussionFiles().discussions_in(root))[0].chunk_summaries == 2
    assert [chunk.made_by for chunk in await FileChunkLedger().all(d1)] == ["Main (m)", "", "Main (m)"]


async def test_what_is_not_there_or_was_forgotten_before_is_told(ledger, root):
    d1 = called(root)
    assert not await ledger.forget(d1, "chunk_x")
    assert not root.exists()
    first, *_ = await three(ledger, d1)
    assert not await ledger.forget(d1, "chunk_x")
    assert [await ledger.forget(d1, first.id), await ledger.forget(d1, first.id)] == [True, False]


async def test_a_forgotten_summary_goes_stale_and_comes_back_forgotten(ledger, root):
    d1 = called(root)
    first, *_ = await three(ledger, d1)
    await ledger.forget(d1, first.id)
    for changes in (BlockChanges(stale=frozenset([first.id])), BlockChanges(revived=frozenset([first.id]))):
        await ledger.change(d1, changes)
        [block, *_] = await ledger.blocks(d1)
        assert (block.is_stale, block.is_forgotten) == (bool(changes.stale), True)


async def test_numbers_go_on_behind_a_forgotten_summary(ledger, root):
    d1 = called(root)
    *_, third = await three(ledger, d1)
    await ledger.forget(d1, third.id)
    assert (await ledger.append(d1, "About pears.", source("pears"))).number == 4


@pytest.mark.parametrize("place", ARRAYS)
async def test_an_older_server_still_finds_the_place_in_its_array(ledger, root, place):
    d1 = called(root)
    values = [foreign("first"), foreign("xylophones", notes="on xylophones"), foreign("last")]
    file = put(root, place, array(*values))
    await ledger.forget(d1, keys(await ledger.blocks(d1))[1])
    read = json.loads(file.read_text())
    assert [value["hash"] for value in read] == [digest("first"), digest("xylophones"), digest("last")]
    assert [value["text_block"] for value in read] == ["first", "", "last"]
    assert files_with(root, "on xylophones") == []


async def test_a_place_without_a_text_stays_forgotten_when_an_older_server_rewrites_the_array(ledger, root):
    d1 = called(root)
    file = put(root, "d1_memories.json", array(foreign("first"), foreign("last")))
    await ledger.forget(d1, keys(await ledger.blocks(d1))[0])
    read = json.loads(file.read_text())
    file.write_text(array(*({name: value[name] for name in ("text_block", "hash")} for value in read)))
    assert [block.is_forgotten for block in await ledger.blocks(d1)] == [True, False]


async def test_a_stale_summary_beside_an_array_is_forgotten_too(ledger, root):
    d1 = called(root)
    put(root, "d1_memories.json", array(foreign("xylophones"), foreign("last")))
    [first, _] = keys(await ledger.blocks(d1))
    await ledger.change(d1, BlockChanges(stale=frozenset([first])))
    assert files_with(root, "xylophones") == ["d1_stale.jsonl"]
    await ledger.forget(d1, first)
    assert files_with(root, "xylophones") == []
    assert await texts(ledger, d1) == ["", "last"]


async def test_a_half_written_line_goes_with_the_forgotten_one(ledger, root):
    d1 = called(root)
    first, *_ = await three(ledger, d1)
    with (root / "d1_memories.jsonl").open("ab") as file:
        file.write(b'{"text_block": "About xylophones again')
    await ledger.forget(d1, first.id)
    assert files_with(root, "xylophones again") == []


async def test_in_a_damaged_file_nothing_is_forgotten_or_changed(ledger, root):
    d1 = called(root)
    file = put(root, "d1_memories.json", '[{"text_block": ')
    with pytest.raises(StorageUnavailable, match="d1_memories"):
        await ledger.forget(d1, "chunk_x")
    assert file.read_text() == '[{"text_block": '
