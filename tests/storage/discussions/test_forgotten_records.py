"""Forgotten chunks of records: no byte of them is left in the file, and the places stay, for other programs too."""

from dataclasses import replace

import pytest

from mnemoir.core.discussions import BlockChanges, Discussion, SourceMessage
from mnemoir.core.scope import Scope
from mnemoir.storage.discussions.record_store import SqliteRecordStore
from tests.contracts.words import SetClock, entry
from tests.storage.discussions.record_words import asked, connected, file_of, record, source, their_file_of_2026

ANN = Scope(project="default", user="ann")


@pytest.fixture
def tea(tmp_path):
    return Discussion(root=tmp_path / "discussions", id="tea")


@pytest.fixture
async def store():
    store = SqliteRecordStore(SetClock())
    yield store
    await store.aclose()


async def two(store, discussion):
    """A chunk that is to stay, and one that is to go; its words stand nowhere else."""
    first = await store.append(discussion, [record("Ann has a kettle.")], source("a"), made_by="Main (m)")
    new = [
        record(f"Ann plays the xylophone {number}.", title="Xylophone", sentiment="xylophonic")
        for number in range(20)
    ]
    chunk = replace(source("b", "c"), messages=(SourceMessage(role="user", text="I play the xylophone."),))
    return first, await store.append(discussion, new, chunk, made_by="Main (m)")


def files_with(discussion, words):
    folder = discussion.root
    return [file.name for file in folder.iterdir() if words.encode().lower() in file.read_bytes().lower()]


async def test_no_byte_of_forgotten_records_is_left(store, tea):
    _, second = await two(store, tea)
    with_words = connected(file_of(tea))
    with_words.execute("INSERT INTO memory_embeddings SELECT id, 'theirs', 1, x'00' FROM memories")
    with_words.close()
    assert files_with(tea, "xylophon") == ["tea_vector_memory.db"]
    assert await store.forget(tea, second)
    assert files_with(tea, "xylophon") == []
    assert asked(file_of(tea), "SELECT count(*) FROM memories") == [(1,)]
    assert asked(file_of(tea), "SELECT count(*) FROM memory_embeddings") == [(1,)]


async def test_forgotten_records_are_found_in_no_way(store, tea):
    first, second = await two(store, tea)
    await store.forget(tea, second)
    assert await store.search(tea, ["xylophone", "plays"], limit=9) == []
    assert [one.chunk for one in await store.newest(tea, limit=9)] == [first]
    assert [one.made_by for one in await store.newest(tea, limit=9)] == ["Main (m)"]
    assert list(await store.sources(tea)) == [first]
    assert await store.rows(tea).reading(lambda rows: rows.live(ANN)) == [1]
    assert asked(file_of(tea), "SELECT count(*) FROM memories_fts WHERE memories_fts MATCH 'xylophone'") == [(0,)]


async def test_a_forgotten_chunk_stays_a_place_for_all_programs(store, tea):
    _, second = await two(store, tea)
    before = asked(file_of(tea), "SELECT * FROM vector_memory_tracker")
    await store.forget(tea, second)
    assert [(block.is_forgotten, len(block.digests)) for block in await store.blocks(tea)] == [(False, 1), (True, 2)]
    assert asked(file_of(tea), "SELECT * FROM vector_memory_tracker") == before
    assert asked(file_of(tea), "SELECT message_hash FROM vector_memory_hash_log ORDER BY id DESC LIMIT 1") == [
        ("hash of c",)
    ]


async def test_a_search_that_was_kept_ready_hears_of_what_was_forgotten(store, tea):
    _, second = await two(store, tea)
    before = await store.rows(tea).reading(lambda rows: rows.revision(ANN))
    await store.forget(tea, second)
    after = await store.rows(tea).reading(lambda rows: rows.revision(ANN))
    assert (after.epoch, after.removals - before.removals) == (before.epoch, 20)


async def test_a_number_that_was_forgotten_is_another_record_when_it_is_given_again(store, tea):
    _, second = await two(store, tea)
    before = await store.rows(tea).reading(lambda rows: rows.revision(ANN))
    await store.forget(tea, second)
    new = record("Ann sold it.")
    await store.append(tea, [new], source("d"))
    rows = await store.rows(tea).reading(lambda rows: rows.rows_since(ANN, before.changes))
    assert [row.seq for row in rows] == [2]
    assert [one.text for one in await store.newest(tea, limit=1)] == ["Ann sold it."]


async def test_a_stale_chunk_can_be_forgotten_and_comes_back_as_a_place(store, tea):
    _, second = await two(store, tea)
    await store.change(tea, BlockChanges(stale=frozenset([second])))
    assert await store.forget(tea, second)
    await store.change(tea, BlockChanges(revived=frozenset([second])))
    assert [(block.is_stale, block.is_forgotten) for block in await store.blocks(tea)] == [
        (False, False),
        (False, True),
    ]
    assert await store.search(tea, ["xylophone"], limit=9) == []


async def test_what_is_not_there_or_was_forgotten_before_is_told(store, tea):
    assert not await store.forget(tea, "none")
    assert not tea.root.exists()
    first, _ = await two(store, tea)
    assert [await store.forget(tea, key) for key in ("none", first, first)] == [False, True, False]


async def test_what_another_program_logged_is_no_chunk_to_forget(store, tea):
    tea.root.mkdir()
    their_file_of_2026(file_of(tea), ["Mira has a kettle."], ["h1"])
    [block] = await store.blocks(tea)
    assert not await store.forget(tea, block.key)
    assert [one.text for one in await store.newest(tea, limit=9)] == ["Mira has a kettle."]


async def test_index_entries_go_too(store, tea):
    new = record("Ann has a kettle.")
    key = await store.append(tea, [replace(new, entry=entry("Ann has a kettle."))], source("a"))
    assert asked(file_of(tea), "SELECT count(*) FROM mnemoir_entries") == [(1,)]
    await store.forget(tea, key)
    assert asked(file_of(tea), "SELECT count(*) FROM mnemoir_entries") == [(0,)]
