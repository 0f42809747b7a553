"""Records of a discussion: kept with their chunks, in the order of the conversation, beside those of others."""

import asyncio
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import mnemoir.storage.discussions
from mnemoir.core.discussions import BlockChanges, Discussion, SourceMessage
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.discussions.record_schema import blank
from mnemoir.storage.discussions.record_store import SqliteRecordStore
from mnemoir.storage.sql.engine import queries
from tests.contracts.words import SetClock, entry
from tests.storage.discussions.record_words import (
    asked,
    connected,
    file_of,
    log_as_theirs,
    record,
    remember_as_theirs,
    source,
    their_file_of_2025,
    their_file_of_2026,
)

SUBJECTS = ("records/records", "records/search", "records/schema")


@pytest.fixture
def tea(tmp_path):
    return Discussion(root=tmp_path / "discussions", id="tea")


@pytest.fixture
async def store():
    store = SqliteRecordStore(SetClock())
    yield store
    await store.aclose()


async def hashes(store, discussion):
    return [block.hash.removeprefix("hash of ") for block in await store.blocks(discussion)]


async def found(store, discussion, *keywords):
    return sorted(one.text for one in await store.search(discussion, keywords, limit=100))


def logged(discussion):
    path = file_of(discussion)
    ((tracker,),) = asked(path, "SELECT last_checked_message_hash FROM vector_memory_tracker") or [(None,)]
    return tracker, [row[0] for row in asked(path, "SELECT message_hash FROM vector_memory_hash_log ORDER BY id")]


async def test_a_read_makes_nothing(store, tea):
    assert await store.blocks(tea) == []
    assert await store.sources(tea) == {}
    assert await store.search(tea, ["tea"], limit=5) == []
    assert await store.newest(tea, limit=5) == []
    assert await store.without_entry(tea, "m1", limit=5) == []
    assert not tea.root.exists()


async def test_a_change_of_records_that_are_not_there_any_more_makes_no_file(store, tea):
    made = replace(record("Likes tea"), entry=entry("Likes tea"))
    await store.put_entries(tea, {1: made})
    await store.change(tea, BlockChanges(stale=frozenset(["gone"])))
    assert not tea.root.exists()


async def test_a_file_is_begun_once_and_is_private(store, tea):
    assert [await store.begin(tea), await store.begin(tea)] == [False, True]
    assert file_of(tea).stat().st_mode & 0o777 == 0o600
    assert await store.blocks(tea) == []


async def test_a_record_comes_back_with_all_its_members(store, tea):
    metadata: dict[str, Any] = {
        "title": "Tea",
        "summary": "Likes tea",
        "entities": ["Mira"],
        "key_phrases": ["hot"],
        "mood": {"a": 1},
    }
    key = await store.append(tea, [record(**metadata)], source("one"))
    (one,) = await store.search(tea, ["tea"], limit=5)
    assert (one.id, one.text, one.created_at, one.chunk) == (1, "Likes tea", "2026-01-21T10:30:00+00:00", key)
    assert one.metadata == metadata


async def test_rows_are_those_that_other_programs_write(store, tea):
    await store.append(
        tea, [record("Likes tea", "A", entities=['the "Cat"', "Mira"], key_phrases="one, two", x="é")], source("one")
    )
    assert asked(file_of(tea), "SELECT id, discussion_id, memory_text, date_added, metadata_json FROM memories") == [
        (
            1,
            "tea",
            "Likes tea",
            "2026-01-21T10:30:00+00:00",
            '{"title": "A", "summary": "Likes tea", "entities": ["the \\"Cat\\"", "Mira"], '
            '"key_phrases": "one, two", "x": "\\u00e9"}',
        )
    ]
    assert asked(file_of(tea), "SELECT rowid, * FROM memories_fts") == [
        (1, "A", "Likes tea", "the Cat Mira", "one, two", "Likes tea")
    ]
    assert asked(file_of(tea), "PRAGMA journal_mode") == [("delete",)]
    assert logged(tea) == ("hash of one", ["hash of one"])


async def test_a_chunk_without_records_is_done_too(store, tea):
    key = await store.append(tea, [], source("one", "two"))
    (block,) = await store.blocks(tea)
    assert (block.key, block.hash, block.digests) == (key, "hash of two", ("digest of one", "digest of two"))
    assert await store.sources(tea) == {
        key: (SourceMessage(role="user", text="said one"), SourceMessage(role="user", text="said two"))
    }


async def test_a_chunk_goes_in_front_of_another_and_an_unknown_one_means_the_end(store, tea):
    last = await store.append(tea, [], source("last"))
    await store.append(tea, [], source("first"), before=last)
    await store.append(tea, [], source("end"), before="unknown")
    assert await hashes(store, tea) == ["first", "last", "end"]
    assert next(iter((await store.sources(tea)).values()))[0].text == "said first"


async def test_chunks_put_in_front_of_one_always_find_room(store, tea):
    last = await store.append(tea, [], source("last"))
    for number in range(130):
        await store.append(tea, [], source(f"{number}"), before=last)
    assert await hashes(store, tea) == [*map(str, range(130)), "last"]
    assert logged(tea) == ("hash of last", ["hash of last"])


async def test_room_is_found_beside_chunks_of_other_programs_too(store, tea):
    their_file_of_2026(file_of(tea), [], ["hash of a", "hash of c", "hash of d"])
    for number in range(70):
        await store.append(tea, [], source(f"{number}"), before="log:2")
    assert await hashes(store, tea) == ["a", *map(str, range(70)), "c", "d"]


async def test_records_of_a_stale_chunk_are_found_by_nobody_until_it_is_revived(store, tea):
    kept = await store.append(tea, [record("Likes tea")], source("one"))
    gone = await store.append(tea, [record("Likes rum"), record("Likes gin")], source("two"))
    await store.change(tea, BlockChanges(stale=frozenset([gone])))
    assert [(block.key, block.is_stale) for block in await store.blocks(tea)] == [(kept, False), (gone, True)]
    assert await found(store, tea, "likes") == [one.text for one in await store.newest(tea, limit=9)] == ["Likes tea"]
    assert asked(file_of(tea), "SELECT count(*) FROM memories") == [(3,)]
    assert asked(file_of(tea), "SELECT rowid FROM memories_fts WHERE memories_fts MATCH 'likes'") == [(1,)]
    assert logged(tea) == ("hash of one", ["hash of one"])
    await store.change(tea, BlockChanges(revived=frozenset([gone])))
    assert await found(store, tea, "likes") == ["Likes gin", "Likes rum", "Likes tea"]
    assert logged(tea) == ("hash of two", ["hash of one", "hash of two"])


async def test_a_chunk_is_marked_and_revived_once(store, tea):
    key = await store.append(tea, [record("Likes tea")], source("one"))
    for changes in (BlockChanges(stale=frozenset([key])), BlockChanges(revived=frozenset([key]))):
        await store.change(tea, changes)
        await store.change(tea, changes)
    await store.change(tea, BlockChanges(stale=frozenset(["unknown"]), placed={"unknown": ["x"]}))
    assert await found(store, tea, "tea") == ["Likes tea"]
    assert asked(file_of(tea), "SELECT count(*) FROM memories_fts") == [(1,)]


async def test_when_all_is_stale_other_programs_see_nothing_done(store, tea):
    key = await store.append(tea, [record("Likes tea")], source("one"))
    await store.change(tea, BlockChanges(stale=frozenset([key])))
    assert logged(tea) == (None, [])


async def test_a_file_of_2025_is_read_as_it_is(store, tea):
    their_file_of_2025(file_of(tea), ["Sailed to Crete"], "hash of theirs")
    before = file_of(tea).read_bytes()
    assert await hashes(store, tea) == ["theirs"]
    assert await found(store, tea, "sail") == ["Sailed to Crete"]
    (one,) = await store.newest(tea, limit=5)
    assert (one.metadata["title"], one.chunk) == ("Theirs", None)
    assert [one.id for one in await store.without_entry(tea, "m1", limit=5)] == [1]
    assert file_of(tea).read_bytes() == before


async def test_a_file_of_2025_is_continued_and_still_theirs(store, tea):
    their_file_of_2025(file_of(tea), ["Sailed to Crete"], "hash of theirs")
    (before,) = await store.blocks(tea)
    assert await store.begin(tea)
    assert await store.blocks(tea) == [before]
    await store.append(tea, [record("Likes tea")], source("ours"))
    assert await hashes(store, tea) == ["theirs", "ours"]
    assert logged(tea) == ("hash of ours", ["hash of theirs", "hash of ours"])
    connection = connected(file_of(tea))
    remember_as_theirs(connection, "Sailed home")
    connection.execute("UPDATE vector_memory_tracker SET last_checked_message_hash = 'hash of later'")
    connection.close()
    assert await found(store, tea, "sail", "tea") == ["Likes tea", "Sailed home", "Sailed to Crete"]
    assert await hashes(store, tea) == ["theirs", "ours", "later"]
    await store.append(tea, [], source("last"))
    assert await hashes(store, tea) == ["theirs", "ours", "later", "last"]


async def test_a_file_of_2026_is_continued_and_still_theirs(store, tea):
    their_file_of_2026(file_of(tea), ["Sailed to Crete"], ["hash of a", "hash of b"])
    await store.append(tea, [record("Likes tea")], source("ours"))
    connection = connected(file_of(tea))
    remember_as_theirs(connection, "Sailed home")
    log_as_theirs(connection, "hash of c")
    connection.close()
    assert await hashes(store, tea) == ["a", "b", "ours", "c"]
    assert await found(store, tea, "sail", "tea") == ["Likes tea", "Sailed home", "Sailed to Crete"]
    await store.begin(tea)
    assert await hashes(store, tea) == ["a", "b", "ours", "c"]


async def test_what_another_program_logged_becomes_a_chunk_when_it_is_placed(store, tea):
    their_file_of_2026(file_of(tea), ["Sailed to Crete"], ["hash of a", "hash of b", "hash of c"])
    a, b, c = [block.key for block in await store.blocks(tea)]
    await store.append(tea, [], source("between"), before=b)
    await store.change(tea, BlockChanges(placed={b: ["x", "y"]}, stale=frozenset([c])))
    read = [(block.key, block.hash, block.digests, block.is_stale) for block in await store.blocks(tea)]
    assert [read[0], *read[2:]] == [
        (a, "hash of a", (), False),
        (b, "hash of b", ("x", "y"), False),
        (c, "hash of c", (), True),
    ]
    assert read[1][1] == "hash of between"
    assert logged(tea) == ("hash of b", ["hash of a", "hash of b"])
    assert await found(store, tea, "sail") == ["Sailed to Crete"]


async def test_the_file_that_is_there_is_used(store, tmp_path):
    root, legacy = tmp_path / "root", tmp_path / "legacy"
    places = {"one": root / "one" / "vector_memory.db", "two": root / "two_vector_memory.db"}
    places["three"] = legacy / "three_vector_memory.db"
    for id_, path in places.items():
        their_file_of_2026(path, [f"Sailed to {id_}"], [])
        discussion = Discussion(root=root, id=id_, legacy=legacy)
        await store.append(discussion, [record("Likes tea")], source("one"))
        assert await found(store, discussion, "sailed", "tea") == ["Likes tea", f"Sailed to {id_}"]
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == set(places.values())


async def test_an_empty_file_that_another_program_left_behind_is_begun(store, tea):
    tea.root.mkdir()
    file_of(tea).touch()
    assert await store.search(tea, ["tea"], limit=5) == []
    assert await store.begin(tea) is False
    await store.append(tea, [record("Likes tea")], source("one"))
    assert await found(store, tea, "tea") == ["Likes tea"]


async def test_pages_come_newest_first(store, tea):
    await store.append(tea, [record(f"Tea {n}") for n in range(5)], source("one"))
    first = await store.newest(tea, limit=2)
    second = await store.newest(tea, limit=9, before=first[-1].id)
    assert [[one.text for one in page] for page in (first, second)] == [
        ["Tea 4", "Tea 3"],
        ["Tea 2", "Tea 1", "Tea 0"],
    ]


@pytest.mark.parametrize("id_", ["a'; DROP TABLE memories; --", "%2e", "CON", "x" * 300, "\ud800", "é", "..."])
async def test_any_id_has_a_file_of_its_own(store, tmp_path, id_):
    discussion = Discussion(root=tmp_path, id=id_)
    await store.append(discussion, [record("Likes tea")], source("one"))
    assert await found(store, discussion, "tea") == ["Likes tea"]
    assert await found(store, Discussion(root=tmp_path, id=f"{id_}x"), "tea") == []
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("text", ["a\0b", "\ud800 half", "😀", "x" * 100_000, "{agent1Output} %s", ""])
async def test_any_text_is_kept(store, tea, text):
    chunk = replace(source("one"), messages=(SourceMessage(role="user", text=text),))
    key = await store.append(tea, [record(text, entities=[text, 7, None, {"a": [text]}])], chunk)
    (one,) = await store.newest(tea, limit=5)
    assert one.metadata["summary"] == text
    assert (await store.sources(tea))[key][0].text == text
    await store.change(tea, BlockChanges(stale=frozenset([key])))
    await store.change(tea, BlockChanges(revived=frozenset([key])))
    assert len(await store.newest(tea, limit=5)) == 1


async def test_odd_metadata_of_other_programs_does_not_hide_a_record(store, tea):
    their_file_of_2026(file_of(tea), ["Sailed to Crete", "Sailed home"], [])
    for odd in (None, "no json", "[1]", "{}"):
        connection = connected(file_of(tea))
        connection.execute("UPDATE memories SET metadata_json = ? WHERE id = 1", (odd,))
        connection.close()
        assert [one.metadata["summary"] for one in await store.newest(tea, limit=5)] == [
            "Sailed home",
            "Sailed to Crete",
        ]


async def test_index_entries_are_put_and_asked_for_by_model(store, tea):
    await store.append(tea, [record("Tea 1"), record("Tea 2"), record("Tea 3")], source("one"))
    made = replace(record("Tea"), entry=entry("x"))
    await store.put_entries(tea, {1: made, 2: made, 99: made, 3: record("no entry")})
    assert [one.id for one in await store.without_entry(tea, "m1", limit=9)] == [3]
    assert [one.id for one in await store.without_entry(tea, "m2", limit=2)] == [1, 2]


@pytest.mark.slow
async def test_a_thousand_discussions_keep_few_files_open(store, tmp_path):
    their_file_of_2026(tmp_path / "model.db", ["Likes tea"], ["hash of a"])
    content = (tmp_path / "model.db").read_bytes()
    discussions = [Discussion(root=tmp_path / "all", id=f"d{n}") for n in range(1000)]
    (tmp_path / "all").mkdir()
    before = len(os.listdir("/proc/self/fd"))
    for discussion in discussions:
        file_of(discussion).write_bytes(content)
        assert await found(store, discussion, "tea") == ["Likes tea"]
    await asyncio.gather(*(found(store, discussion, "tea") for discussion in discussions[:200]))
    assert len(os.listdir("/proc/self/fd")) - before <= 20
    await store.aclose()
    assert len(os.listdir("/proc/self/fd")) <= before + 2  # the loop's own


async def test_readers_and_a_writer_do_not_disturb_each_other(store, tea):
    await store.begin(tea)

    async def write():
        for n in range(20):
            await store.append(tea, [record(f"Tea {n}"), record(f"Tea {n}")], source(f"{n}"))

    async def read():
        counts = [len(await store.search(tea, ["tea"], limit=100)) for _ in range(20)]
        assert counts == sorted(counts)
        assert all(count % 2 == 0 for count in counts)

    await asyncio.gather(write(), *(read() for _ in range(4)))
    assert len(await store.search(tea, ["tea"], limit=100)) == 40


async def test_a_closed_store_says_so(store, tea):
    await store.append(tea, [record("Likes tea")], source("one"))
    await store.aclose()
    await store.aclose()
    with pytest.raises(StorageUnavailable, match="closed"):
        await store.search(tea, ["tea"], limit=5)
    with pytest.raises(StorageUnavailable, match="closed"):
        await store.begin(tea)


async def test_two_users_of_one_id_do_not_meet(store, tmp_path):
    mira, jon = Discussion(root=tmp_path / "mira", id="tea"), Discussion(root=tmp_path / "jon", id="tea")
    await store.append(mira, [record("Likes tea")], source("one"))
    assert (await found(store, jon, "tea"), await store.blocks(jon)) == ([], [])


@pytest.mark.parametrize("subject", SUBJECTS)
def test_every_query_of_records_fits_the_schema_says_what_it_gives_and_is_used(subject):
    connection = blank()
    folder = Path(mnemoir.storage.discussions.__file__).parent
    code = "\n".join(path.read_text() for path in folder.glob("record_*.py"))
    for name, query in queries(subject).items():
        assert query.startswith("-- ")
        assert f'"{name}"' in code
        if name not in ("tables", "triggers", "first_state", "attach"):
            connection.execute(f"EXPLAIN {query}", dict.fromkeys(re.findall(r":(\w+)", query)))
