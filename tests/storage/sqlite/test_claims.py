"""A claim looks at the heads of queues alone, however many jobs wait behind them."""

import pytest

from mnemoir.core.ids import JobId
from mnemoir.storage.sql import SqlJobQueue
from mnemoir.storage.sql.job_queue import put_job
from tests.contracts.words import NOW, SetClock
from tests.narrowing import present


def put_many(queue: str, count: int):
    def work(sql) -> None:
        for number in range(count):
            put_job(sql, JobId(f"evt_{queue}_{number}"), "remember", {}, queue=queue, now=NOW)

    return work


async def steps_of(database, work) -> int:
    """How many instructions of SQLite `work` takes on the writing connection."""
    counted = [0]

    def count() -> bool:
        counted[0] += 1
        return False

    def handler(callback):
        return lambda sql: sql._connection.set_progress_handler(callback, 1)

    await database.write(None, handler(count))
    await work()
    await database.write(None, handler(None))
    return counted[0]


async def life_of_a_job(jobs: SqlJobQueue) -> None:
    job = present(await jobs.claim("one", 60))
    await jobs.beat("one", [job.id], 60)
    await jobs.reclaim()
    await jobs.succeed(job, {})


@pytest.mark.parametrize("queue", ["mira", ""])
async def test_a_job_takes_as_many_steps_with_thousands_behind_it_as_with_two(database, queue):
    jobs = SqlJobQueue(database)
    await database.write(None, put_many(queue, 3))
    await life_of_a_job(jobs)
    few = await steps_of(database, lambda: life_of_a_job(jobs))
    await database.write(None, put_many("noah", 5_000))
    await database.write(None, put_many(queue + "_", 5_000))
    many = await steps_of(database, lambda: life_of_a_job(jobs))
    assert 0 < many <= few * 1.5


async def test_jobs_that_wait_for_their_time_are_not_looked_at(database):
    clock = SetClock()
    jobs = SqlJobQueue(database, clock)
    await jobs.put(JobId("evt_first"), "remember", {})
    few = await steps_of(database, lambda: life_of_a_job(jobs))
    for number in range(300):
        await jobs.put(JobId(f"evt_{number}"), "remember", {}, queue=f"user {number}")
        await jobs.retry(
            present(await jobs.claim("one", 60)), at=clock.now.replace(year=2030), error="the model is down"
        )
    await jobs.put(JobId("evt_last"), "remember", {})
    many = await steps_of(database, lambda: life_of_a_job(jobs))
    assert 0 < many <= few * 1.5
