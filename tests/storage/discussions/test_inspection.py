"""Looking for files that are not whole: each is named with the cause, nothing else is, and nothing is written."""

import asyncio
import signal
import subprocess
import sys

import apsw
import pytest

from mnemoir.core.discussion_id import directory_name
from mnemoir.core.discussions import Discussion, RollingSummary
from mnemoir.storage.discussions.chunk_ledger import FileChunkLedger
from mnemoir.storage.discussions.files import FileDiscussionFiles
from mnemoir.storage.discussions.record_store import SqliteRecordStore
from mnemoir.storage.discussions.rolling_summaries import FileRollingSummaries
from mnemoir.storage.discussions.timestamps import FileTimestamps
from tests.storage.discussions.ledger_kit import array, called, foreign, lines, put, source
from tests.storage.discussions.record_words import connected, record, their_file_of_2025

DIES = """
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
async def records():
    store = SqliteRecordStore()
    yield store
    await store.aclose()


async def problems(root, legacy=None):
    """As told; and every file is byte for byte what and where it was."""
    before = contents(root.parent)
    told = await FileDiscussionFiles().problems(root, legacy)
    assert contents(root.parent) == before
    return told


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def test_sound_files_of_all_kinds_are_no_problem(root, records, tmp_path):
    for id in ("d1", "a/b"):
        await FileChunkLedger().append(called(root, id), "A", source("a"))
        await FileRollingSummaries().save(called(root, id), RollingSummary(text="s", hash="h"))
        await records.append(called(root, id), [record("tea")], source("a"))
        async with FileTimestamps().changing(called(root, id)) as times:
            times["a"] = "(Friday, 2026-11-20 12:00:00)"
    put(root, "theirs/memories.json", array(foreign("A")))
    put(root, "theirs/chat_summary.json", "[]")
    put(root, "searched/vector_memory.db", b"")
    put(root, "times_timestamps.json", b'\xef\xbb\xbf{"a": 1}')
    put(root, "torn_memories.jsonl", lines(foreign("A")) + '{"text_block": "unfini')
    their_file_of_2025(tmp_path / "old_vector_memory.db", ["tea"], "h")
    assert await problems(root, tmp_path) == []


@pytest.mark.parametrize(
    ("place", "content", "cause"),
    [
        ("d1_memories.jsonl", f'{{"{SECRET}\n{{}}\n', "line 1 is no JSON"),
        ("d1_memories.json", "{}", "not an array"),
        ("d1/memories.json", f'[{{"{SECRET}', "is damaged"),
        ("d1_stale.jsonl", "nothing\n", "is damaged"),
        ("d1_summary.jsonl", "[", "is damaged"),
        ("d1/chat_summary.json", "{", "is damaged"),
        ("d1/timestamps.json", "[]", "not an object"),
        ("d1_timestamps.json", '{"a', "is damaged"),
        ("d1_vector_memory.db", b"short", "too short"),
        ("d1/vector_memory.db", SECRET * 1000, "file is not a database"),
        (f"{directory_name('a/b')}_memories.jsonl", "\0\n", "is damaged"),
    ],
)
async def test_a_damaged_file_is_named_with_the_cause_and_without_its_words(root, place, content, cause):
    put(root, "sound_memories.json", array(foreign("A")))
    put(root, place, content)
    (told,) = await problems(root)
    assert told.startswith(f"{root / place} ")
    assert cause in told
    assert SECRET not in told


async def test_every_page_of_a_database_is_looked_at(root, records):
    discussion = called(root)
    await records.append(discussion, [record(f"tea {n} " + "x" * 400) for n in range(60)], source("a"))
    await records.aclose()
    file = root / "d1_vector_memory.db"
    whole = file.read_bytes()
    page = whole.rindex(b"tea 30 ") // 4096 * 4096
    file.write_bytes(whole[:page] + b"\xff" * 4096 + whole[page + 4096 :])
    (told,) = await problems(root)
    assert told.startswith(f"{file} ")


async def test_a_database_of_another_program_or_a_newer_one_is_named(root, records):
    root.mkdir()
    with apsw.Connection(str(root / "other_vector_memory.db")) as connection:
        connection.execute("CREATE TABLE songs (name TEXT)")
    await records.append(called(root, "newer"), [record("tea")], source("a"))
    connection = connected(root / "newer_vector_memory.db")
    connection.execute("UPDATE mnemoir_state SET schema = 1000")
    connection.close()
    newer, other = await problems(root)
    assert newer.startswith(f"{root / 'newer_vector_memory.db'} was written by a newer Mnemoir")
    assert other.startswith(f"{root / 'other_vector_memory.db'} holds no records")


async def test_what_a_killed_writer_left_is_told_until_it_is_undone(root, records):
    await records.append(called(root), [record("tea")], source("a"))
    file = root / "d1_vector_memory.db"
    killed = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", DIES, file], check=False)
    assert killed.returncode == -signal.SIGKILL
    (told,) = await problems(root)
    assert told.startswith(f"{file}: a killed writer left it half written.")
    assert len(await records.search(called(root), ["tea"], limit=5)) == 1
    assert await problems(root) == []


async def test_links_in_place_of_files_are_named_and_the_root_may_be_one(root, tmp_path, records):
    root.mkdir()
    outside = put(tmp_path, "outside.json", "[]")
    (root / "d1_memories.json").symlink_to(outside)
    (root / "d2_vector_memory.db").symlink_to(outside)
    await records.append(called(root, "d3"), [record("tea")], source("a"))
    link = tmp_path / "link"
    link.symlink_to(root)
    told = await problems(link)
    assert [one.partition(" ")[0] for one in told] == [
        str(root / name) for name in ("d1_memories.json", "d2_vector_memory.db")
    ]


async def test_files_and_folders_that_are_no_discussion_s_are_not_looked_at(root, tmp_path):
    for place in ("notes.json", "d1/notes.json", "d1/state_document.md", "a:b_memories.json", "d1.lock"):
        put(root, place, "{")
    put(root, "d2_memories.json/memories.json", "[]")
    put(tmp_path, "old_memories.json", "{")
    assert await problems(root, tmp_path) == []


async def test_older_databases_beside_the_configuration_are_looked_at(root, tmp_path):
    file = put(tmp_path, "old_vector_memory.db", b"no database" * 1000)
    (told,) = await problems(root, tmp_path)
    assert told.startswith(f"{file} ")
    assert not root.exists()


async def test_a_folder_that_cannot_be_listed_is_named(root):
    root.write_text("a file where the folder should be")
    (told,) = await problems(root)
    assert str(root) in told


async def test_a_link_in_place_of_the_older_folder_s_file_is_named(root, tmp_path):
    (tmp_path / "old_vector_memory.db").symlink_to(tmp_path / "nowhere")
    (told,) = await problems(root, tmp_path)
    assert told.startswith(f"{tmp_path / 'old_vector_memory.db'} is a link")
    assert not await FileDiscussionFiles().exists(Discussion(root=root, id="other", legacy=tmp_path))
