"""Discussions as a whole: who may make memories, what there is, and that nothing stays after a removal."""

import asyncio
import fcntl
import signal
import subprocess
import sys
from contextlib import AsyncExitStack, closing, contextmanager
from pathlib import Path

import apsw
import pytest

from mnemoir.core.discussion_id import directory_name
from mnemoir.core.discussions import BlockChanges, Discussion, RollingSummary
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.discussions.chunk_ledger import FileChunkLedger
from mnemoir.storage.discussions.files import FileDiscussionFiles
from mnemoir.storage.discussions.record_store import SqliteRecordStore
from mnemoir.storage.discussions.rolling_summaries import FileRollingSummaries
from mnemoir.storage.discussions.timestamps import FileTimestamps
from tests.narrowing import present
from tests.storage.discussions.ledger_kit import array, called, foreign, put, source
from tests.storage.discussions.record_words import record

_CHECKOUT = Path(__file__).parents[3]
_HOLDER = """
import asyncio, sys
from pathlib import Path
from mnemoir.core.discussions import Discussion
from mnemoir.storage.discussions.files import FileDiscussionFiles

async def hold():
    async with FileDiscussionFiles().making(Discussion(root=Path(sys.argv[1]), id="d1")) as is_mine:
        print(is_mine, flush=True)
        await asyncio.to_thread(sys.stdin.read)

asyncio.run(hold())
"""
_DYING_WRITER = """
import apsw, os, sys
connection = apsw.Connection(sys.argv[1])
connection.execute("PRAGMA cache_size = 1; BEGIN")
for n in range(2000):
    connection.execute("INSERT INTO memories VALUES (NULL, 'd1', ?, '', '')", ("x" * 500,))
os.kill(os.getpid(), 9)
"""
SECRET = "the secret of the kettle"


@pytest.fixture
def root(tmp_path):
    return tmp_path / "DiscussionIds"


@pytest.fixture
def files():
    return FileDiscussionFiles()


@contextmanager
def another_process_making(root):
    command = [sys.executable, "-c", _HOLDER, str(root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=_CHECKOUT) as process:
        assert present(process.stdout).readline() == b"True\n"
        yield process
        process.kill()


def put_records(file, id, *texts):
    file.parent.mkdir(parents=True, exist_ok=True)
    with closing(apsw.Connection(str(file))) as connection:
        connection.execute("CREATE TABLE memories (id INTEGER PRIMARY KEY, discussion_id TEXT, memory_text TEXT)")
        connection.executemany(
            "INSERT INTO memories (discussion_id, memory_text) VALUES (?, ?)", [(id, text) for text in texts]
        )


async def test_one_at_a_time_makes_memories_of_a_discussion_and_others_do_not_wait(files, root):
    async with AsyncExitStack() as stack:
        asked = [called(root), called(root), called(root, "d2"), called(root / "another user")]
        got = [await stack.enter_async_context(FileDiscussionFiles().making(discussion)) for discussion in asked]
        assert got == [True, False, True, True]
    async with files.making(called(root)) as again:
        assert again


async def test_the_patient_get_their_turn(files, root):
    turns = []

    async def take(name):
        async with files.making(called(root), patience_s=60) as is_mine:
            turns.append((name, is_mine))
            await asyncio.sleep(0)
            turns.append((name, is_mine))

    await asyncio.gather(*(take(name) for name in range(5)))
    assert turns[::2] == turns[1::2]
    assert {is_mine for _, is_mine in turns} == {True}


async def test_the_right_is_given_back_when_the_work_fails_or_is_cancelled(files, root):
    with pytest.raises(LookupError):
        async with files.making(called(root)):
            raise LookupError
    started = asyncio.Event()

    async def work():
        async with files.making(called(root), patience_s=60):
            started.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await started.wait()
    waiting = asyncio.create_task(work())
    await asyncio.sleep(0)
    for cancelled in (waiting, task):
        cancelled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cancelled
    async with files.making(called(root), patience_s=60) as again:
        assert again


async def test_another_process_keeps_us_out_until_it_dies(files, root):
    with another_process_making(root) as process:
        async with files.making(called(root)) as is_mine:
            assert not is_mine
        process.kill()
        async with files.making(called(root), patience_s=60) as is_mine:
            assert is_mine


async def test_a_lock_that_was_removed_before_it_was_taken_is_no_lock(files, root, monkeypatch):
    """Whoever removes a discussion takes the lock file away, and the next one would lock a new file."""
    flock = fcntl.flock
    removed: list[Path] = []

    def flock_too_late(file, operation):
        if not removed:
            removed.append(root / "d1.lock")
            removed[0].unlink()
        flock(file, operation)

    monkeypatch.setattr(fcntl, "flock", flock_too_late)
    async with files.making(called(root)) as first, files.making(called(root)) as second:
        assert (first, second) == (True, False)
        assert (root / "d1.lock").stat().st_size == 0


async def test_a_root_that_cannot_be_made_is_told(files, root):
    root.write_text("a file where the folder should be")
    with pytest.raises(StorageUnavailable, match=r"d1\.lock could not be locked"):
        async with files.making(called(root)):
            pass


async def test_every_discussion_is_listed_whatever_program_kept_it(files, root, tmp_path):
    legacy = tmp_path / "Public"
    ledger = FileChunkLedger()
    made = [await ledger.append(called(root, "../ours"), text, source(text)) for text in "abc"]
    await ledger.change(called(root, "../ours"), BlockChanges(stale=frozenset({made[0].id})))
    await FileRollingSummaries().save(called(root, "s/1"), RollingSummary(text="s", hash="h"))
    put(root, "nested/memories.json", array(foreign("A"), foreign("B")))
    put(root, "nested/chat_summary.json", "[]")
    put(root, "flat_memories.json", array(foreign("A")))
    put(root, "flat_chat_summary.json", array(foreign("S")))
    put_records(root / "nested" / "vector_memory.db", "nested", "x", "y")
    put_records(root / f"{directory_name('r:1')}_vector_memory.db", "r:1", "x")
    put_records(legacy / "old_vector_memory.db", "old", "x", "y", "z")
    put(legacy, "old_memories.json", array(foreign("not of a discussion here")))
    async with FileTimestamps().changing(called(root, "times only")) as times:
        times["a"] = "(Friday, 2026-11-20 12:00:00)"
    async with files.making(called(root, "locked only")):
        listed = await files.discussions_in(root, legacy)
    put(root, "unknown/notes.txt", "no discussion")
    assert await files.discussions_in(root, legacy) == listed
    assert [await files.entry(Discussion(root=root, id=row.id, legacy=legacy)) for row in listed] == listed
    assert await files.entry(Discussion(root=root, id="none", legacy=legacy)) is None
    assert [(row.id, row.chunk_summaries, row.records, row.has_summary) for row in listed] == [
        ("../ours", 2, 0, False),
        ("flat", 1, 0, True),
        ("nested", 2, 2, False),
        ("old", 0, 3, False),
        ("r:1", 0, 1, False),
        ("s/1", 0, 0, True),
        ("times only", 0, 0, False),
    ]
    nested = next(row for row in listed if row.id == "nested")
    assert nested.bytes == sum(file.stat().st_size for file in (root / "nested").iterdir())


async def test_a_root_that_is_not_there_has_no_discussions_and_is_not_made(files, root):
    assert await files.discussions_in(root, root / "legacy") == []
    assert not root.exists()


async def test_damaged_files_do_not_keep_a_discussion_from_the_list(files, root):
    put(root, "d1_memories.jsonl", "{]\n{}\n")
    put(root, "d1_summary.jsonl", "[")
    put(root, "d1_vector_memory.db", b"no database" * 1000)
    put(root, "d2/vector_memory.db", b"")
    listed = await files.discussions_in(root)
    assert [(row.id, row.chunk_summaries, row.records, row.has_summary) for row in listed] == [
        ("d1", 0, 0, False),
        ("d2", 0, 0, False),
    ]


async def test_records_are_counted_while_they_are_being_written(files, root):
    put_records(root / "d1_vector_memory.db", "d1", "x")
    with closing(apsw.Connection(str(root / "d1_vector_memory.db"))) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        listing = asyncio.create_task(files.discussions_in(root))
        done, _ = await asyncio.wait([listing], timeout=0.1)
        assert not done
        writer.execute("COMMIT")
    assert [row.records for row in await listing] == [1]


async def test_records_are_counted_where_the_root_is_a_link(files, root, tmp_path):
    put_records(tmp_path / "real" / "d1_vector_memory.db", "d1", "x")
    root.symlink_to(tmp_path / "real")
    assert [row.records for row in await files.discussions_in(root)] == [1]


async def test_records_are_counted_after_their_writer_was_killed(files, root):
    file = root / "d1_vector_memory.db"
    store = SqliteRecordStore()
    await store.append(called(root), [record("x")], source("a"))
    await store.aclose()
    killed = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", _DYING_WRITER, file], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert [row.records for row in await files.discussions_in(root)] == [1]


async def test_a_folder_of_older_databases_that_cannot_be_read_does_not_keep_the_others_from_the_list(files, root):
    put(root, "d1_memories.json", array(foreign("A")))
    assert [row.id for row in await files.discussions_in(root, root / "d1_memories.json")] == ["d1"]


async def test_an_id_inside_a_file_that_is_not_that_of_its_name_is_not_believed(files, root):
    put(root, f"{directory_name('a/b')}_memories.jsonl", '{"text_block": "x", "discussion": "victim"}\n')
    assert [row.id for row in await files.discussions_in(root)] == [directory_name("a/b")]


async def test_a_list_is_of_the_files_as_they_are_now(files, root):
    ledger = FileChunkLedger()
    for count in (1, 2, 3):
        await ledger.append(called(root), "A", source("a"))
        assert [row.chunk_summaries for row in await files.discussions_in(root)] == [count]


async def test_links_are_not_listed_and_not_removed_through(files, root, tmp_path):
    outside = put(tmp_path, "outside/memories.json", array(foreign("A")))
    root.mkdir()
    (root / "d1").symlink_to(outside.parent)
    (root / "d2_memories.json").symlink_to(outside)
    assert await files.discussions_in(root) == []
    with pytest.raises(StorageUnavailable, match="links"):
        await files.remove(called(root))
    assert await files.remove(called(root, "d2"))
    assert [outside.exists(), (root / "d2_memories.json").is_symlink()] == [True, False]


@pytest.mark.parametrize("id", ["d1", "../d1", "x_memories.json", "x\0"])
async def test_nothing_of_a_removed_discussion_is_left_and_others_stay(files, root, tmp_path, id):
    legacy = tmp_path / "Public"
    discussion, name = Discussion(root=root, id=id, legacy=legacy), directory_name(id)
    kept = put(root, f"{name}0_memories.json", array(foreign("kept")))
    await FileChunkLedger().append(discussion, SECRET, source(SECRET))
    await FileRollingSummaries().save(discussion, RollingSummary(text=SECRET, hash="h"))
    for file in ("memories.json", "chat_summary.json", "state_document.md", "timestamps.json", "vector_memory.db"):
        for companion in ("", ".tmp", ".lock", "-wal", "-shm", "-journal"):
            put(root, f"{name}/{file}{companion}", SECRET)
    for ending in ("_memories.json", "_chat_summary.json", "_timestamps.json", "_stale.jsonl", "_vector_memory.db"):
        put(root, name + ending, SECRET)
    put(root, f"{name}_memories.jsonl.tmp", SECRET)
    put_records(legacy / f"{name}_vector_memory.db", id, SECRET)
    async with files.making(discussion):
        assert await files.exists(discussion)
        assert await files.remove(discussion)
        assert not await files.remove(discussion)
    assert not await files.exists(discussion)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [kept]
    assert not (root / name).exists()


async def test_files_that_nobody_is_known_to_write_stay_in_their_folder(files, root):
    put(root, "d1/memories.json", "[]")
    notes = put(root, "d1/notes.txt", "mine")
    assert await files.remove(called(root))
    assert [path for path in root.rglob("*") if path.is_file()] == [notes]


async def test_a_discussion_of_nothing_but_a_lock_does_not_exist(files, root):
    async with files.making(called(root)):
        assert not await files.exists(called(root))
        assert not await files.remove(called(root))
    assert list(root.iterdir()) == []
