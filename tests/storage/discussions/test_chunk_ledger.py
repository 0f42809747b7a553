"""Chunk summaries in files: in order, exactly as they were, in the form in which they were found."""

import json
import stat
from datetime import UTC, datetime

import pytest

from mnemoir.core.discussions import BlockChanges
from mnemoir.storage.discussions.chunk_ledger import FileChunkLedger
from mnemoir.storage.discussions.ledger_file import LedgerFile
from tests.storage.discussions.ledger_kit import called, digest, foreign, keys, lines, live, put, source, texts

NOON = "2026-03-04T12:00:00.000Z"
HOSTILE = ["../x", "/etc/x", "x\0", "..", "", "é" * 300, "CON", "x.", "\u202ex", "\ud800", "%41", "d1.jsonl"]


@pytest.fixture
def root(tmp_path):
    return tmp_path / "DiscussionIds"


@pytest.fixture
def ledger():
    return FileChunkLedger(clock=lambda: datetime(2026, 3, 4, 12, tzinfo=UTC))


async def test_looking_makes_nothing(ledger, root):
    d1 = called(root)
    looked = [await ledger.blocks(d1), await ledger.all(d1), await ledger.newest(d1, 3), await ledger.sources(d1)]
    assert [len(found) for found in looked] == [0, 0, 0, 0]
    assert not root.exists()


async def test_beginning_makes_a_private_empty_file_once(ledger, root):
    assert [await ledger.begin(called(root)), await ledger.begin(called(root))] == [False, True]
    file = root / "d1_memories.jsonl"
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (b"", 0o600)


async def test_a_summary_is_one_line_with_all_that_is_known_of_its_chunk(ledger, root):
    chunk = await ledger.append(called(root), "Tea at noon.", source("a", "b"))
    (line,) = (root / "d1_memories.jsonl").read_text().splitlines()
    assert json.loads(line) == {
        "text_block": "Tea at noon.",
        "hash": digest("b"),
        "id": chunk.id,
        "number": 1,
        "created_at": NOON,
        "messages": [digest("a")[:16], digest("b")[:16]],
        "source": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}],
    }
    assert await FileChunkLedger().all(called(root)) == (chunk,)


async def test_summaries_stand_in_the_order_of_the_conversation_and_numbers_in_that_of_writing(ledger, root):
    d1 = called(root)
    await ledger.append(d1, "one", source("1"))
    three = await ledger.append(d1, "three", source("3"))
    await ledger.append(d1, "two", source("2"), before=three.id)
    await ledger.append(d1, "four", source("4"), before="unknown")
    found = [(chunk.text, chunk.number) for chunk in await ledger.all(d1)]
    assert found == [("one", 1), ("two", 3), ("three", 2), ("four", 4)]
    sources = await ledger.sources(d1)
    assert [message.text for messages in sources.values() for message in messages] == ["1", "2", "3", "4"]


async def test_the_newest_are_those_that_are_not_stale(ledger, root):
    d1 = called(root)
    made = [await ledger.append(d1, text, source(text)) for text in "abcde"]
    await ledger.change(d1, BlockChanges(stale=frozenset({made[3].id})))
    for store in (ledger, FileChunkLedger()):
        assert [chunk.text for chunk in await store.newest(d1, 3)] == ["b", "c", "e"]
        assert [chunk.text for chunk in await store.newest(d1, 9)] == ["a", "b", "c", "e"]
        assert list(await store.newest(d1, 0)) == []


async def test_the_newest_of_a_long_ledger_are_found_whatever_the_length_of_its_lines(ledger, root):
    d1 = called(root)
    for text in ("small", "x" * 300_000, "y" * 70_000, "last"):
        await ledger.append(d1, text, source(text))
    assert [len(chunk.text) for chunk in await ledger.newest(d1, 4)] == [5, 300_000, 70_000, 4]


async def test_a_chunk_goes_stale_and_comes_back(ledger, root):
    d1 = called(root)
    made = [await ledger.append(d1, text, source(text)) for text in "ab"]
    await ledger.change(d1, BlockChanges(stale=frozenset({made[0].id, "unknown"})))
    assert [chunk.stale_since for chunk in await ledger.all(d1)] == [NOON, None]
    assert [block.is_stale for block in await ledger.blocks(d1)] == [True, False]
    await ledger.change(d1, BlockChanges(revived=frozenset({made[0].id})))
    assert await ledger.all(d1) == tuple(made)


async def test_changes_of_nothing_make_no_file(ledger, root):
    await ledger.change(called(root), BlockChanges(stale=frozenset({"x"})))
    assert not root.exists()


async def test_a_copied_line_is_a_block_of_its_own(ledger, root):
    await ledger.append(called(root), "A", source("a"))
    file = root / "d1_memories.jsonl"
    file.write_bytes(file.read_bytes() * 2)
    blocks = keys(await ledger.blocks(called(root)))
    assert len(set(blocks)) == 2
    await ledger.change(called(root), BlockChanges(stale=frozenset(blocks[1:])))
    assert await live(ledger, called(root)) == ["A"]


async def test_a_ledger_made_apart_takes_the_place_of_the_old_one(ledger, root):
    d1, made = called(root), called(root, "d1/rebuilt")
    await ledger.append(d1, "old", source("o"))
    await ledger.append(made, "new", source("n"))
    await ledger.put_in_place(d1, made)
    assert await texts(ledger, d1) == ["new"]
    assert [path.name for path in root.iterdir()] == ["d1_memories.jsonl"]
    assert "discussion" not in json.loads((root / "d1_memories.jsonl").read_text())


async def test_a_change_by_another_process_is_seen_at_once(ledger, root):
    d1 = called(root)
    await ledger.append(d1, "A", source("a"))
    assert await texts(ledger, d1) == ["A"]
    await FileChunkLedger().append(d1, "B", source("b"))
    assert await texts(ledger, d1) == ["A", "B"]
    (root / "d1_memories.jsonl").unlink()
    assert await texts(ledger, d1) == []


@pytest.mark.parametrize("id", HOSTILE)
async def test_a_hostile_id_has_its_ledger_inside_the_root_and_tells_its_name(ledger, root, tmp_path, id):
    chunk = await ledger.append(called(root, id), "A", source("a"))
    assert await FileChunkLedger().all(called(root, id)) == (chunk,)
    assert [path.name for path in tmp_path.iterdir()] == ["DiscussionIds"]
    (file,) = root.iterdir()
    assert json.loads(file.read_text())["discussion"] == id


async def test_ids_that_differ_by_case_share_nothing(ledger, root):
    ids = ["a", "A", "é", "e\u0301"]
    for id in ids:
        await ledger.append(called(root, id), id, source(id))
    assert [await texts(ledger, called(root, id)) for id in ids] == [[id] for id in ids]


async def test_a_summary_without_a_text_is_a_place_to_who_wrote_it_and_to_all_others(ledger, root):
    made = await ledger.append(called(root), "", source("a"))
    assert not made.is_read
    assert list(await ledger.all(called(root))) == list(await FileChunkLedger().all(called(root))) == [made]


def test_a_ledger_that_somebody_else_made_meanwhile_is_not_emptied(root):
    late = LedgerFile(root, "d1")
    content = lines(foreign("A"))
    file = put(root, "d1_memories.jsonl", content)
    late.create()
    assert file.read_text() == content
