"""How work reaches the database: together, each piece for itself, and never half."""

import asyncio
import threading
from dataclasses import replace

import pytest

from mnemoir.core.errors import InvalidRequest, StorageUnavailable
from mnemoir.storage.sql import SqlMemoryStore
from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sqlite import open_database
from tests.contracts.words import ALL, ASKED, MIRA, fact, keep, message, texts


def hold(database, gate: threading.Event) -> asyncio.Task:
    """Occupies the writer, so that what follows waits and goes together."""
    return asyncio.ensure_future(database.write(None, lambda _: gate.wait(10)))


def insert(key: str):
    def work(sql: Sql) -> str:
        sql.run("INSERT INTO project_settings (tenant, project) VALUES ('t', :key)", key=key)
        return key

    return work


async def settings(database) -> list[str]:
    query = "SELECT project FROM project_settings ORDER BY project"
    projects: list[str] = await database.read(None, lambda sql: [name for (name,) in sql.rows(query)])
    return projects


async def test_work_that_waits_is_committed_together(database):
    gate = threading.Event()
    statements: list[str] = []

    def keep(cursor, statement, bindings) -> bool:
        statements.append(statement)
        return True

    def trace(sql) -> None:
        sql._connection.exec_trace = keep

    await database.write(None, trace)
    blocker = hold(database, gate)
    waiting = [asyncio.ensure_future(database.write(None, insert(f"{n}"))) for n in range(5)]
    await asyncio.sleep(0)
    gate.set()
    assert await asyncio.gather(*waiting) == ["0", "1", "2", "3", "4"]
    await blocker
    assert sum(sql.startswith("INSERT") or "\nINSERT" in sql for sql in statements) == 5
    # the tracing itself, the blocker, which may have had company, and all that waited behind it
    assert statements.count("COMMIT") <= 3


async def test_a_piece_that_fails_is_undone_alone_and_hears_its_own_error(database):
    def fails(sql: Sql) -> None:
        insert("half")(sql)
        raise InvalidRequest("no")

    gate = threading.Event()
    blocker = hold(database, gate)
    waiting = [
        asyncio.ensure_future(database.write(None, work)) for work in (insert("a"), fails, insert("b"), insert("a"))
    ]
    await asyncio.sleep(0)
    gate.set()
    await blocker
    a, failed, b, twice = await asyncio.gather(*waiting, return_exceptions=True)
    assert (a, b) == ("a", "b")
    assert isinstance(failed, InvalidRequest)
    assert isinstance(twice, StorageUnavailable)
    assert "UNIQUE" in str(twice)
    assert await settings(database) == ["a", "b"]


async def test_cancelled_work_that_has_not_begun_is_not_done(database):
    gate = threading.Event()
    blocker = hold(database, gate)
    waiting = asyncio.ensure_future(database.write(None, insert("late")))
    await asyncio.sleep(0)
    waiting.cancel()
    gate.set()
    await blocker
    await database.write(None, insert("next"))
    assert await settings(database) == ["next"]


async def test_a_reader_cannot_write_and_sees_one_state(database):
    with pytest.raises(StorageUnavailable, match="readonly"):
        await database.read(None, insert("x"))
    loop = asyncio.get_running_loop()

    def look(sql: Sql) -> tuple[int, int]:
        count = "SELECT count(*) FROM project_settings"
        (before,) = sql.row(count)
        asyncio.run_coroutine_threadsafe(database.write(None, insert("new")), loop).result(10)
        return before, sql.row(count)[0]

    assert await database.read(None, look) == (0, 0)
    assert await settings(database) == ["new"]


async def test_closing_finishes_what_is_queued_and_refuses_what_comes_later(path):
    database = open_database(path)
    waiting = [asyncio.ensure_future(database.write(None, insert(f"{n}"))) for n in range(50)]
    await asyncio.sleep(0)
    await database.aclose()
    await database.aclose()
    assert len(await asyncio.gather(*waiting)) == 50
    for late in (database.write(None, insert("x")), database.read(None, lambda _: None)):
        with pytest.raises(StorageUnavailable, match="closed"):
            await late
    database = open_database(path)
    assert len(await settings(database)) == 50
    await database.aclose()


@pytest.mark.slow
async def test_sixteen_threads_save_while_a_reader_pages(database, store):
    saves, threads = 200, 16
    failed: list[BaseException] = []

    def save_all(number: int) -> None:
        async def save() -> None:
            for n in range(saves):
                await store.commit(MIRA, [message(f"{number} {n}")], ASKED)

        try:
            asyncio.run(save())
        except BaseException as exc:
            failed.append(exc)
            raise

    running = [threading.Thread(target=save_all, args=(number,)) for number in range(threads)]
    for thread in running:
        thread.start()
    counts = []
    while any(thread.is_alive() for thread in running):
        page = await store.page(MIRA, ALL, limit=1000)
        assert len({memory.id for memory in page}) == len(page)
        counts.append(len(page))
    assert (failed, counts) == ([], sorted(counts))
    pages = [await store.page(MIRA, ALL, limit=1000, offset=start) for start in range(0, saves * threads, 1000)]
    stored = [memory.text for page in pages for memory in page]
    assert sorted(stored) == sorted(f"{t} {n}" for t in range(threads) for n in range(saves))
    assert await database.check_integrity() == []


@pytest.mark.slow
async def test_eight_writers_and_eight_readers_of_several_users_meet_no_error(database, store):
    users = [replace(MIRA, user=f"user {n}") for n in range(4)]

    async def write(number: int) -> None:
        scope = users[number % 4]
        for n in range(40):
            (stored,) = await keep(store, fact(f"{number} {n}", scope=scope), scope=scope)
            if n % 4 == 0:
                await store.delete(scope, stored.id)

    async def read(number: int) -> None:
        scope = users[number % 4]
        for _ in range(40):
            live, rows = await store.reading(lambda view: (view.live(scope), view.rows_since(scope, -1)))
            assert [row.seq for row in rows] == list(live)
            await store.page(scope, ALL, limit=50)

    await asyncio.gather(*(write(n) for n in range(8)), *(read(n) for n in range(8)))
    assert [await store.count(scope, ALL) for scope in users] == [60] * 4


async def test_a_number_of_any_size_in_metadata_is_kept(store):
    (stored,) = await keep(store, fact("Likes tea", metadata={"n": 12345678901234567890123}))
    assert await store.get(MIRA, stored.id) == stored


async def test_both_memories_of_a_store_over_one_database_are_one(database, store):
    await keep(store, fact("Likes tea"))
    assert await texts(SqlMemoryStore(database)) == ["Likes tea"]
