"""What may go wrong with a file of records: it is damaged, foreign, a link, or its writer dies."""

import asyncio
import random
import signal
import subprocess
import sys
from collections import Counter
from functools import partial

import apsw
import pytest

from mnemoir.core.discussions import BlockChanges, Discussion
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.discussions.record_store import SqliteRecordStore
from tests.failing_calls import failing_calls
from tests.storage.discussions.record_words import asked, connected, file_of, record, source, their_file_of_2026
from tests.storage.sqlite.faulty_disk import faulty_disk

KILLS = 10
DIES = """
import apsw, os, sys
connection = apsw.Connection(sys.argv[1])
connection.execute("PRAGMA cache_size = 1; BEGIN")
for n in range(2000):
    connection.execute("INSERT INTO memories VALUES (NULL, 'tea', ?, '', '')", ("x" * 500,))
os.kill(os.getpid(), 9)
"""
ERRORS = pytest.mark.parametrize("error", [apsw.FullError, apsw.IOError])


@pytest.fixture
def tea(tmp_path):
    return Discussion(root=tmp_path / "root", id="tea")


@pytest.fixture
async def store():
    store = SqliteRecordStore()
    yield store
    await store.aclose()


def program(discussion, name, count):
    return subprocess.Popen(
        [sys.executable, "-m", "tests.storage.discussions.record_program", discussion.root, name, f"{count}"],
        stdout=subprocess.PIPE,
        text=True,
    )


async def texts(store, discussion):
    return {one.text for one in await store.search(discussion, ["tea", "rum"], limit=100_000)}


async def refused(store, discussion, match):
    """Every call names the file and the cause, and leaves the file as it is."""
    before, made = file_of(discussion).read_bytes(), Discussion(root=discussion.root, id="made")
    await store.append(made, [record("new tea")], source("new"))
    calls = [
        lambda: store.begin(discussion),
        lambda: store.blocks(discussion),
        lambda: store.search(discussion, ["tea"], limit=5),
        lambda: store.newest(discussion, limit=5),
        lambda: store.append(discussion, [record("tea")], source("more")),
        lambda: store.rows(discussion).reading(lambda view: view.live(None)),
        lambda: store.put_in_place(discussion, made),
    ]
    for call in calls:
        with pytest.raises(StorageUnavailable, match=match) as raised:
            await call()
        assert "tea_vector_memory.db" in str(raised.value)
    assert file_of(discussion).read_bytes() == before


@pytest.mark.slow
async def test_ten_kills_lose_nothing_acknowledged_and_leave_no_half_chunk(store, tea):
    rng, printed = random.Random(5), []
    for round_ in range(KILLS):
        writer = program(tea, f"round {round_}", 10_000)
        printed += [writer.stdout.readline().strip() for _ in range(rng.randint(1, 12))]
        writer.kill()
        rest, _ = writer.communicate()
        printed += [line.strip() for line in rest.splitlines(keepends=True) if line.endswith("\n")]
        hashes = [block.hash.removeprefix("hash of ") for block in await store.blocks(tea)]
        stored = Counter(text.rpartition(" ")[0] for text in await texts(store, tea))
        assert set(printed) <= set(hashes)
        assert stored == dict.fromkeys(hashes, 2)
        assert asked(file_of(tea), "PRAGMA integrity_check") == [("ok",)]
        assert asked(file_of(tea), "INSERT INTO memories_fts (memories_fts) VALUES ('integrity-check')") == []
        ((tracker,),) = asked(file_of(tea), "SELECT last_checked_message_hash FROM vector_memory_tracker")
        assert tracker == f"hash of {hashes[-1]}"


async def test_a_reader_undoes_what_a_killed_writer_left_half_done(store, tea):
    await store.append(tea, [record("tea")], source("one"))
    before = file_of(tea).read_bytes()
    killed = await asyncio.to_thread(partial(subprocess.run, [sys.executable, "-c", DIES, file_of(tea)], check=False))
    assert killed.returncode == -signal.SIGKILL
    assert file_of(tea).read_bytes() != before
    assert await texts(store, tea) == {"tea"}
    assert file_of(tea).read_bytes() == before


@pytest.mark.slow
@pytest.mark.costly("it runs programs")
async def test_two_programs_write_one_file(store, tea):
    writers = [program(tea, f"program {n}", 15) for n in range(2)]
    assert [writer.communicate() and writer.returncode for writer in writers] == [0, 0]
    assert len(await store.blocks(tea)) == 30
    assert len(await texts(store, tea)) == 60
    assert asked(file_of(tea), "SELECT count(*) FROM vector_memory_hash_log") == [(30,)]


@ERRORS
@failing_calls
async def test_a_write_that_fails_anywhere_changes_nothing_and_the_next_works(tmp_path, error, failing):
    tea, whole = (Discussion(root=tmp_path, id=id) for id in ("tea", "whole"))
    with faulty_disk() as disk:
        store = SqliteRecordStore()
        first = {to: await store.append(to, [record("first tea")], source("first")) for to in (tea, whole)}
        writes = (
            lambda to: store.append(to, [record("new tea"), record("new rum")], source("new")),
            lambda to: store.change(to, BlockChanges(stale=frozenset([first[to]]))),
        )
        for write in writes:
            with disk.noting() as calls:
                await write(whole)
            for attempt in failing(disk, calls, error):
                before = await texts(store, tea), await store.blocks(tea)
                with attempt:
                    await write(tea)
                if attempt.struck:
                    assert str(file_of(tea)) in attempt.told
                    assert (await texts(store, tea), await store.blocks(tea)) == before
        assert await texts(store, tea) == {"new tea", "new rum"}
        assert asked(file_of(tea), "PRAGMA integrity_check") == [("ok",)]
        await store.aclose()


@ERRORS
@failing_calls
async def test_a_file_that_could_not_be_begun_is_begun_the_next_time(tmp_path, error, failing):
    tea = Discussion(root=tmp_path, id="tea")
    with faulty_disk() as disk:
        store = SqliteRecordStore()
        with disk.noting() as calls:
            await store.begin(Discussion(root=tmp_path, id="whole"))
        for attempt in failing(disk, calls, error):
            with attempt:
                await store.begin(tea)
            if attempt.struck:
                assert attempt.told
                assert await store.blocks(tea) == []
        await store.append(tea, [record("tea")], source("one"))
        assert await texts(store, tea) == {"tea"}
        await store.aclose()


async def test_a_truncated_file_is_refused_and_left_as_it_is(store, tea):
    await store.append(tea, [record(f"tea {n} " + "x" * 200) for n in range(200)], source("one"))
    whole = file_of(tea).read_bytes()
    for part in range(1, 20):
        file_of(tea).unlink()
        file_of(tea).write_bytes(whole[: len(whole) * part // 20])
        await refused(store, tea, "damaged|holds no records")


@pytest.mark.parametrize("content", [b"x", b"no database " * 100, b"SQLite format 3\0", b"\0" * 5000])
async def test_a_file_that_is_no_database_is_refused(store, tea, content):
    tea.root.mkdir()
    file_of(tea).write_bytes(content)
    await refused(store, tea, "damaged")


@pytest.mark.parametrize(
    "tables",
    [
        "CREATE TABLE notes (x)",
        "CREATE TABLE memories (id INTEGER PRIMARY KEY, text)",
        "CREATE TABLE memories (id INTEGER PRIMARY KEY, discussion_id, memory_text, date_added, metadata_json)",
        "CREATE TABLE memories (id INTEGER PRIMARY KEY, discussion_id, memory_text, date_added, metadata_json);"
        "CREATE TABLE memories_fts (title, summary, entities, key_phrases, memory_text_unweighted)",
    ],
)
async def test_the_database_of_another_program_is_refused(store, tea, tables):
    tea.root.mkdir()
    asked(file_of(tea), tables)
    await refused(store, tea, "holds no records of a discussion")


async def test_the_file_of_a_newer_mnemoir_is_refused(store, tea):
    await store.append(tea, [record("tea")], source("one"))
    asked(file_of(tea), "UPDATE mnemoir_state SET schema = 2")
    await SqliteRecordStore.aclose(store)
    await refused(SqliteRecordStore(), tea, "newer Mnemoir")


async def test_links_are_not_followed(store, tea, tmp_path):
    outside = Discussion(root=tmp_path / "outside", id="tea")
    await store.append(outside, [record("secret tea")], source("one"))
    tea.root.mkdir()
    file_of(tea).symlink_to(file_of(outside))
    await refused(store, tea, "is a link")
    file_of(tea).unlink()
    their_file_of_2026(tmp_path / "elsewhere" / "vector_memory.db", ["secret tea"], [])
    (tea.root / "tea").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageUnavailable, match="lies behind one"):
        await store.search(tea, ["tea"], limit=5)


async def test_the_root_itself_may_be_a_link(store, tea, tmp_path):
    (tmp_path / "real").mkdir()
    tea.root.symlink_to(tmp_path / "real")
    await store.append(tea, [record("tea")], source("one"))
    assert await texts(store, tea) == {"tea"}


async def test_a_folder_that_cannot_be_made_is_named(store, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageUnavailable, match="tea_vector_memory"):
        await store.begin(Discussion(root=tmp_path / "file" / "root", id="tea"))


async def test_a_writer_waits_for_another_programs_write(store, tea):
    await store.append(tea, [record("tea")], source("one"))
    other = connected(file_of(tea))
    other.execute("BEGIN IMMEDIATE")
    assert await texts(store, tea) == {"tea"}
    append = asyncio.create_task(store.append(tea, [record("rum")], source("two")))
    done, _ = await asyncio.wait([append], timeout=0.1)
    assert not done
    other.execute("COMMIT")
    other.close()
    await append
    assert await texts(store, tea) == {"tea", "rum"}


@pytest.mark.parametrize(
    "damage",
    ["digests = '['", "digests = '7'", "source = '{'", "source = '[7]'", "source = '[{}]'", "source = x'ff'"],
)
async def test_a_chunk_that_is_not_what_was_written_is_damage(store, tea, damage):
    await store.append(tea, [record("tea")], source("one"))
    asked(file_of(tea), "UPDATE mnemoir_chunks SET " + damage)  # noqa: S608 - the words are those above
    with pytest.raises(StorageUnavailable, match=r"tea_vector_memory\.db is damaged"):
        await (store.blocks(tea) if "digests" in damage else store.sources(tea))
