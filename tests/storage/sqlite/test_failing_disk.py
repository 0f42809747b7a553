"""A disk that fills up or breaks: an honest error, the old data whole, and the next write works."""

import apsw
import pytest

from mnemoir.core.errors import StorageUnavailable
from mnemoir.core.memories import Change
from mnemoir.memory.facts.write.undoing import Undoing
from mnemoir.ports.memory_store import Receipt
from mnemoir.search.indexing import Indexing
from mnemoir.storage.sql import SqlMemoryStore
from mnemoir.storage.sqlite import open_database
from tests.contracts.words import ALL, ASKED, DEMO, MIRA, fact, keep, message, remove, rewrite, texts
from tests.failing_calls import failing_calls
from tests.search.hashed_words import HashedWords
from tests.storage.sqlite.faulty_disk import Disk, faulty_disk

ERRORS = pytest.mark.parametrize("error", [apsw.FullError, apsw.IOError])


@pytest.fixture
def disk():
    with faulty_disk() as disk:
        yield disk


@pytest.fixture
async def database(disk: Disk, path):
    opened = open_database(path)
    yield opened
    await opened.aclose()


def empty_log(path):
    """Without this the database does it behind the commit that reaches a thousand pages, as a step of its own."""
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


@ERRORS
@failing_calls
async def test_a_commit_that_fails_at_any_write_or_sync_changes_nothing_and_the_next_works(
    disk, database, path, error, failing
):
    store = SqlMemoryStore(database)
    (tea, milk, _) = await keep(store, fact("Likes tea 0"), fact("Likes milk"), message("Hi"))
    with disk.noting() as calls:
        changes: list[Change] = [rewrite(milk, "Likes cocoa"), fact("Likes gin")]
        await store.commit(MIRA, changes, ASKED, receipt=Receipt(key="first", request_hash="h"))
    kept = ["Hi", tea.text, "Likes cocoa", "Likes gin"]
    for attempt in failing(disk, calls, error):
        empty_log(path)
        n = attempt.number
        changes = [rewrite(tea, f"Likes tea {n}"), fact(f"Likes rum {n}")]
        with attempt:
            await store.commit(MIRA, changes, ASKED, receipt=Receipt(key=f"{n}", request_hash="h"))
        if attempt.struck:
            assert str(path) in attempt.told
            assert sorted(await texts(store)) == sorted(kept)
            assert await store.redeem(MIRA, f"{n}") is None
            await keep(store, fact(f"again {n}"))
            kept.append(f"again {n}")
    assert await database.check_integrity() == []
    await database.aclose()
    again = open_database(path)
    assert f"Likes tea {n}" in await texts(SqlMemoryStore(again))
    assert await again.check_integrity() == []
    await again.aclose()


@failing_calls
async def test_an_undo_that_fails_at_any_write_or_sync_undoes_nothing_and_the_next_works(
    disk, database, path, failing
):
    store, undoing = SqlMemoryStore(database), Undoing(SqlMemoryStore(database), Indexing(HashedWords()))
    (tea, milk) = await keep(store, fact("Likes tea"), fact("Likes milk"))
    await store.commit(MIRA, [rewrite(tea, "Likes rum"), remove(milk), fact("Likes gin")], ASKED)
    after, before = ["Likes gin", "Likes rum"], ["Likes milk", "Likes tea"]

    async def undo():
        return await undoing.undo(DEMO, (await store.changes(MIRA, limit=1)).changes[0].id)

    with disk.noting() as calls:
        await undo()
    await undo()
    for attempt in failing(disk, calls, apsw.IOError):
        empty_log(path)
        with attempt:
            await undo()
        if attempt.struck:
            assert sorted(await texts(store)) == after
            await undo()
            assert sorted(await texts(store)) == before
            await undo()
    assert sorted(await texts(store)) == before
    assert await database.check_integrity() == []


@ERRORS
@failing_calls
async def test_a_delete_of_everything_that_fails_deletes_nothing_or_leaves_only_erasing_to_be_done(
    disk, database, error, failing
):
    store = SqlMemoryStore(database)
    said = [message(f"Said {n}") for n in range(50)]
    await keep(store, *said)
    with disk.noting() as calls:
        await store.delete_all(MIRA)
    await keep(store, *said)
    for attempt in failing(disk, calls, error):
        with attempt:
            deleted = await store.delete_all(MIRA)
        if attempt.struck:
            assert attempt.told
            if await store.count(MIRA, ALL) != 50:
                assert await store.count(MIRA, ALL) == 0
                await store.erase()
                await keep(store, *said)
    assert (deleted, await store.count(MIRA, ALL)) == (50, 0)


async def test_a_full_disk_is_called_that(disk, database):
    disk.arm(1, apsw.FullError)
    with pytest.raises(StorageUnavailable, match="the disk is full"):
        await keep(SqlMemoryStore(database), fact("Likes tea"))
    disk.disarm()


async def test_a_write_is_acknowledged_only_after_it_was_synced(disk, database):
    store = SqlMemoryStore(database)
    for n in range(5):
        disk.arm(0, apsw.IOError)
        await keep(store, message(f"Said {n}"))
        assert disk.calls[-1] == "sync mnemoir.db-wal"
        assert "write mnemoir.db-wal" in disk.calls


@ERRORS
@failing_calls
async def test_a_beginning_that_fails_at_any_write_leaves_nothing_and_the_next_start_works(
    disk, tmp_path, error, failing
):
    with disk.noting() as calls:
        await open_database(tmp_path / "whole" / "mnemoir.db").aclose()
    for attempt in failing(disk, calls, error):
        path = tmp_path / f"{attempt.number}" / "mnemoir.db"
        with attempt:
            database = open_database(path)
        if attempt.struck:
            assert attempt.told
            database = open_database(path)
        assert await database.check_integrity() == []
        await database.aclose()
    assert attempt.number > 10
