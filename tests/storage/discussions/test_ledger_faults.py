"""Torn lines, damage, sudden death and failing disks: what was acknowledged stays, and the next call works."""

import errno
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from mnemoir.core.discussions import BlockChanges
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.discussions.chunk_ledger import FileChunkLedger
from mnemoir.storage.discussions.files import FileDiscussionFiles
from tests.failing_calls import attempts
from tests.faulty_files import FaultyFiles, files_up_to
from tests.narrowing import present
from tests.storage.discussions.ledger_kit import ARRAYS, array, called, foreign, lines, put, source, texts

_CHECKOUT = Path(__file__).parents[3]


@pytest.fixture
def root(tmp_path):
    return tmp_path / "DiscussionIds"


async def two_in(root):
    ledger = FileChunkLedger()
    for text in ("one", "zwei é"):
        await ledger.append(called(root), text, source(text))
    return (root / "d1_memories.jsonl").read_bytes()


@pytest.mark.slow
async def test_a_line_torn_at_any_byte_is_ignored_by_readers_and_cut_off_by_the_next_writer(root):
    whole = await two_in(root)
    first = whole.index(b"\n") + 1
    for end in range(first, len(whole)):
        file = put(root, "d1_memories.jsonl", whole[:end])
        kept = ["one", "zwei é"] if end == len(whole) - 1 else ["one"]
        ledger = FileChunkLedger()
        assert [chunk.text for chunk in await ledger.newest(called(root), 5)] == kept
        assert await texts(ledger, called(root)) == kept
        with capture_logs() as logged:
            await ledger.append(called(root), "next", source("n"))
        assert await texts(FileChunkLedger(), called(root)) == [*kept, "next"]
        assert len(file.read_bytes().splitlines()) == len(kept) + 1
        assert [line["log_level"] for line in logged] == (["warning"] if first < end < len(whole) - 1 else [])


@pytest.mark.parametrize("torn", [b"\0" * 500, b'{"text_block":"half', b'{"a"' + b"\0" * 9, b"{\xc3"])
async def test_what_a_power_cut_leaves_at_the_end_is_no_entry(root, torn):
    whole = await two_in(root)
    put(root, "d1_memories.jsonl", whole + torn)
    ledger = FileChunkLedger()
    assert await texts(ledger, called(root)) == ["one", "zwei é"]
    await ledger.change(called(root), BlockChanges(placed={(await ledger.blocks(called(root)))[0].key: ("x" * 16,)}))
    assert await texts(ledger, called(root)) == ["one", "zwei é"]


DAMAGED = [
    *(("d1_memories.jsonl", text) for text in ["{]\n{}\n", "{}\nnot json", '{"a": "b"\n', "[1, 2", "\0\n", '"a\n']),
    *(
        (place, text)
        for place in ARRAYS[:2]
        for text in ["{", '{"a": 1}', '[{"text_block"', "nothing", "[" * 100_000]
    ),
]


@pytest.mark.parametrize(("place", "content"), DAMAGED)
async def test_a_damaged_ledger_is_refused_and_left_as_it_is(root, place, content):
    file, ledger, d1 = put(root, place, content), FileChunkLedger(), called(root)
    calls = [
        lambda: ledger.all(d1),
        lambda: ledger.newest(d1, 3),
        lambda: ledger.sources(d1),
        lambda: ledger.append(d1, "A", source("a")),
        lambda: ledger.change(d1, BlockChanges(stale=frozenset({"x"}))),
    ]
    for call in calls:
        with pytest.raises(StorageUnavailable, match=f"{place} is damaged"):
            await call()
    assert await ledger.begin(d1)
    assert file.read_text() == content
    assert [path for path in root.rglob("*") if path.is_file()] == [file]


async def test_an_entry_too_deep_to_be_written_again_leaves_the_ledger_as_it_is(root):
    deep = "[" * 1010 + "]" * 1010
    file = put(root, "d1_memories.jsonl", f'{{"text_block": "A", "deep": {deep}}}\n')
    before, d1, ledger = file.read_bytes(), called(root), FileChunkLedger()
    (block,) = await ledger.blocks(d1)
    for call in (
        lambda: ledger.append(d1, "B", source("b"), before=block.key),
        lambda: ledger.change(d1, BlockChanges(stale=frozenset({block.key}))),
    ):
        with pytest.raises(StorageUnavailable, match="nested too deeply"):
            await call()
    assert file.read_bytes() == before


async def append(ledger, d1, blocks):
    await ledger.append(d1, "C", source("c"))


async def insert(ledger, d1, blocks):
    await ledger.append(d1, "C", source("c"), before=blocks[1])


async def mark(ledger, d1, blocks):
    await ledger.change(d1, BlockChanges(stale=frozenset(blocks[:1]), placed={blocks[1]: ("x" * 16,)}))


async def turn(ledger, d1, blocks):
    await ledger.change(d1, BlockChanges(stale=frozenset(blocks[:1]), revived=frozenset(blocks[1:])))


async def put_in_place(ledger, d1, blocks):
    await ledger.put_in_place(d1, called(d1.root, "made"))


async def state_of(root):
    chunks = await FileChunkLedger().all(called(root))
    return [(chunk.text, chunk.stale_since is not None, tuple(chunk.digests)) for chunk in chunks]


async def begun(root, place, change):
    """A ledger of two entries, the second of them stale where one is to turn, another ledger apart, and the keys."""
    (root / "d1_stale.jsonl").unlink(missing_ok=True)
    put(root, place, (array if place.endswith(".json") else lines)(foreign("A"), foreign("B")))
    put(root, "made_memories.jsonl", lines(foreign("N")))
    ledger = FileChunkLedger()
    blocks = [block.key for block in await ledger.blocks(called(root))]
    if change is turn:
        await ledger.change(called(root), BlockChanges(stale=frozenset(blocks[1:])))
    return ledger, blocks


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EMFILE])
@pytest.mark.parametrize("place", ["d1_memories.jsonl", "d1/memories.json"])
@pytest.mark.parametrize("change", [append, insert, mark, turn, put_in_place])
async def test_a_failure_at_any_step_leaves_all_of_a_change_or_nothing(root, monkeypatch, error, place, change):
    system, d1 = FaultyFiles(monkeypatch), called(root)
    ledger, blocks = await begun(root, place, change)
    before = await state_of(root)
    await change(ledger, d1, blocks)
    done = await state_of(root)
    for attempt in attempts(system, itertools.count(1), error, least=10):
        ledger, blocks = await begun(root, place, change)
        with attempt:
            await change(ledger, d1, blocks)
        after = await state_of(root)
        assert after in (before, done)
        assert await texts(ledger, d1) == [text for text, *_ in after]
        if after == before:
            await change(ledger, d1, blocks)
            assert await state_of(root) == done


async def test_file_and_folder_are_on_the_disk_before_a_summary_is_acknowledged(root, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.fstat(file).st_ino))
    ledger, file = FileChunkLedger(), root / "d1_memories.jsonl"
    await ledger.append(called(root), "first", source("1"))
    assert synced == [file.stat().st_ino, root.stat().st_ino]
    await ledger.append(called(root), "second", source("2"))
    assert synced[2:] == [file.stat().st_ino]


async def test_a_line_that_fails_half_way_is_taken_back(root):
    before = await two_in(root)
    ledger = FileChunkLedger()
    with files_up_to(len(before) + 100), pytest.raises(StorageUnavailable, match="could not be written"):
        await ledger.append(called(root), "x" * 5000, source("x"))
    assert (root / "d1_memories.jsonl").read_bytes() == before
    await ledger.append(called(root), "next", source("n"))
    assert await texts(ledger, called(root)) == ["one", "zwei é", "next"]


@pytest.mark.slow
async def test_a_removal_that_fails_anywhere_can_be_done_again(root, monkeypatch):
    system, files = FaultyFiles(monkeypatch), FileDiscussionFiles()
    for attempt in attempts(system, itertools.count(1), errno.EIO, least=10):
        await two_in(root)
        put(root, "d1/memories.json", "[]")
        with attempt:
            await files.remove(called(root))
        await files.remove(called(root))
        assert list(root.iterdir()) == []


async def test_what_a_killed_writer_left_beside_the_ledger_goes_with_the_next_line(root):
    await two_in(root)
    put(root, "d1_memories.jsonl.tmp", "half of a")
    await FileChunkLedger().append(called(root), "next", source("n"))
    assert [path.name for path in root.iterdir()] == ["d1_memories.jsonl"]


@pytest.mark.parametrize("steps", [1, 2, 3])
async def test_an_array_whose_writer_died_between_two_files_is_the_old_one_or_the_new_one(root, steps):
    """The file aside is written before the array and tidied after it; an entry in both is the array's."""
    put(root, "d1_memories.json", array(*map(foreign, "ABC")))
    d1, ledger = called(root), FileChunkLedger()
    keys = [block.key for block in await ledger.blocks(d1)]
    await ledger.change(d1, BlockChanges(stale=frozenset(keys[:1])))
    old = {path.name: path.read_bytes() for path in root.iterdir()}
    await ledger.change(d1, BlockChanges(stale=frozenset(keys[1:2]), revived=frozenset(keys[:1])))
    new = {path.name: path.read_bytes() for path in root.iterdir()}
    between = old["d1_stale.jsonl"] + new["d1_stale.jsonl"]
    put(root, "d1_stale.jsonl", new["d1_stale.jsonl"] if steps == 3 else between)
    put(root, "d1_memories.json", old["d1_memories.json"] if steps == 1 else new["d1_memories.json"])
    stale = [chunk.text for chunk in await FileChunkLedger().all(d1) if chunk.stale_since is not None]
    assert await texts(FileChunkLedger(), d1) == ["A", "B", "C"]
    assert stale == (["A"] if steps == 1 else ["B"])


@pytest.mark.slow
def test_ten_sudden_deaths_lose_nothing_that_was_acknowledged(root):
    acknowledged = []
    for deaths in range(10):
        command = [sys.executable, "-m", "tests.storage.discussions.ledger_program", str(root)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=_CHECKOUT) as process:
            acknowledged += [present(process.stdout).readline().strip() for _ in range(deaths + 1)]
            process.kill()
            acknowledged += [line.strip() for line in present(process.stdout) if line.endswith("\n")]
    content = (root / "d1_memories.jsonl").read_bytes()
    whole = [json.loads(line) for line in content.splitlines(keepends=True) if line.endswith(b"\n")]
    found = [value["text_block"].split(" text")[0].strip() for value in whole]
    assert set(acknowledged) <= set(found)
    assert len(found) == len(set(found))
