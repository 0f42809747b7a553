"""CPU cost of adding, claiming and finishing a job, with few and with many waiting jobs."""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median

from bench.report import ms, table
from mnemoir.core.clock import utc_now
from mnemoir.core.ids import JobId
from mnemoir.storage.sql import SqlJobQueue
from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sql.job_queue import put_job
from mnemoir.storage.sqlite import open_database

WAITING = (0, 20_000)
TIMED = 200
LEASE_S = 60.0


async def measure(waiting: int, path: Path) -> list[str]:
    """One row: CPU of adding, claiming and ending a job while the first of one user's `waiting` jobs runs."""
    database = open_database(path)
    jobs = SqlJobQueue(database)

    def line_up(sql: Sql) -> None:
        for number in range(waiting):
            put_job(sql, JobId(f"evt_behind_{number}"), "remember", {}, queue="one user", now=utc_now())

    async def put(number: int) -> None:
        await jobs.put(JobId(f"evt_{number}"), "remember", {"n": number}, queue=f"user {number}")

    async def work_off(number: int) -> None:
        job = await jobs.claim("bench", LEASE_S)
        assert job is not None, number
        await jobs.succeed(job, {})

    await database.write(None, line_up)
    if waiting:
        await jobs.claim("bench", LEASE_S)
    puts, ends = await _cpu(put), await _cpu(work_off)
    await database.aclose()
    return [f"{waiting:,} behind the first of another user", ms(puts), ms(ends)]


async def _cpu(step: Callable[[int], Awaitable[None]]) -> float:
    """The median CPU seconds of a step, over all threads."""
    took = []
    for number in range(TIMED):
        started = time.process_time()
        await step(number)
        took.append(time.process_time() - started)
    return median(took)


def run() -> None:
    """Print all rows, each measured on a new database."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [asyncio.run(measure(waiting, Path(folder) / f"{waiting}" / "mnemoir.db")) for waiting in WAITING]
    table("jobs (processor time, medians)", ["waiting", "put", "claim and end"], rows)
