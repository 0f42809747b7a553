"""Two programs that write to one database at once lose nothing, double nothing and get in nobody's way."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from mnemoir.core.ids import JobId
from mnemoir.core.memories import Memory
from mnemoir.ports.memory_store import Receipt
from mnemoir.storage.sql import SqlJobQueue, SqlMemoryStore
from tests.contracts.words import ALL, ASKED, MIRA, SetClock, entry, fact, rewrite, texts
from tests.postgres_server import PostgresServer, servers

pytest.importorskip("psycopg", reason="the package psycopg is not installed")
from mnemoir.storage.postgres.engine import PostgresEngine, open_postgres

CLOCK = SetClock()


@pytest.fixture
async def engines(postgres: PostgresServer, tmp_path: Path) -> AsyncIterator[list[PostgresEngine]]:
    """Two engines over one new database, as two programs have them."""
    dsn = servers.database_of(postgres.version, tmp_path)
    async with AsyncExitStack() as opened:
        both = [await asyncio.to_thread(open_postgres, dsn) for _ in range(2)]
        for engine in both:
            opened.push_async_callback(engine.aclose)
        yield both


@pytest.mark.slow
async def test_commits_of_eight_users_at_once_all_succeed(engines):
    stores = [SqlMemoryStore(engine, CLOCK) for engine in engines]
    users = [replace(MIRA, user=f"user-{n}") for n in range(8)]

    async def write(n, user):
        await stores[n % 2].commit(user, [fact(f"Likes tea {n}", scope=user)], ASKED)

    await asyncio.gather(*(write(n, user) for n in range(40) for user in users))
    for user in users:
        assert len(await texts(stores[0], user)) == 40


@pytest.mark.slow
async def test_commits_of_one_user_at_once_run_one_after_the_other(engines):
    stores = [SqlMemoryStore(engine, CLOCK) for engine in engines]
    adds = [fact(f"Likes tea {n}") for n in range(160)]
    await asyncio.gather(*(stores[n % 2].commit(MIRA, [add], ASKED) for n, add in enumerate(adds)))
    assert sorted(await texts(stores[0])) == sorted(add.memory.text for add in adds)
    events = [await stores[1].history(MIRA, add.memory.id) for add in adds]
    assert [[event.new_text for event in told] for told in events] == [[add.memory.text] for add in adds]


async def test_a_request_that_comes_four_times_at_once_is_applied_once(engines):
    stores = [SqlMemoryStore(engine, CLOCK) for engine in engines]
    users = [replace(MIRA, user=f"new-{n}") for n in range(6)]  # of whom the database knows nothing yet

    async def ask(n, user, key):
        change = fact(f"Said {key}, try {n}", scope=user)
        return await stores[n % 2].commit(user, [change], ASKED, receipt=Receipt(key=key, request_hash=key))

    asked = [(user, f"k{key}") for user in users for key in range(5)]
    answers = await asyncio.gather(*(ask(n, *each) for each in asked for n in range(4)))
    for user in users:
        assert await stores[0].count(user, ALL) == 5
    given = Counter(applied.memory.id for (applied,) in answers)
    assert set(given.values()) == {4}


@pytest.mark.slow
async def test_each_line_of_jobs_has_one_head_whoever_puts_and_ends_them(engines):
    queues = [SqlJobQueue(engine, CLOCK) for engine in engines]
    lines = [f"line-{n}" for n in range(40)]
    await asyncio.gather(
        *(queues[n % 2].put(JobId(f"{line}-{n}"), "remember", {}, queue=line) for n in range(6) for line in lines)
    )
    seen = Counter[str]()

    async def work(name, queue):
        while (job := await queue.claim(name, 60)) is not None:
            line = job.id.rpartition("-")[0]
            seen[line] += 1
            assert await queue.succeed(job, {})

    for _ in range(6):  # a worker may find nothing while another ends the head of the last line
        await asyncio.gather(*(work(f"worker-{n}", queues[n % 2]) for n in range(6)))
    assert seen == dict.fromkeys(lines, 6)


@pytest.mark.slow
async def test_a_job_is_claimed_by_one_worker_only(engines):
    queues = [SqlJobQueue(engine, CLOCK) for engine in engines]
    await asyncio.gather(*(queues[n % 2].put(JobId(f"job-{n}"), "remember", {}) for n in range(237)))
    claimed = Counter[str]()

    async def work(name, queue):
        while jobs := (await queue.claim_several(name, 60, 3))[0]:
            claimed.update(job.id for job in jobs)

    for _ in range(2):  # those that another transaction held were passed over
        await asyncio.gather(*(work(f"worker-{n}", queues[n % 2]) for n in range(6)))
    assert claimed == {f"job-{n}": 1 for n in range(237)}


@pytest.mark.slow
async def test_vectors_made_behind_the_requests_meet_no_commit_and_no_changed_text(engines):
    stores = [SqlMemoryStore(engine, CLOCK) for engine in engines]
    told: list[Memory] = []

    async def tell():
        for n in range(60):
            (applied,) = await stores[0].commit(MIRA, [fact(f"Likes tea {n}", model=None)], ASKED)
            told.append(applied.memory)
            if n % 3 == 0:
                await stores[0].commit(MIRA, [rewrite(applied.memory, f"Likes rum {n}")], ASKED)

    async def embed():
        while len(told) < 60 or await stores[1].without_vector("m1", limit=8):
            waiting = await stores[1].without_vector("m1", limit=8)
            await stores[1].put_vectors("m1", [(each, entry(each.text)) for each in waiting])

    await asyncio.gather(tell(), embed())
    rows = await stores[0].reading(lambda view: view.rows_since(MIRA, -1))
    texts_by_seq = await stores[0].reading(lambda view: view.memories(MIRA, [row.seq for row in rows]))
    assert {row.entry.vector for row in rows} == {entry(memory.text).vector for memory in texts_by_seq.values()}
    assert len(rows) == 60


async def test_a_lease_holds_against_a_worker_whose_clock_is_an_hour_ahead(engines):
    ahead = SetClock()
    ahead.move(hours=1)
    queues = [SqlJobQueue(engine, clock) for engine, clock in zip(engines, (CLOCK, ahead), strict=True)]
    await queues[0].put(JobId("j1"), "tea", {})
    claimed = await queues[0].claim("slow", 60)
    assert await queues[1].reclaim() == 0
    assert await queues[1].beat("fast", [JobId("j1")], 60) == []
    assert claimed is not None
    assert await queues[0].succeed(claimed, {})
