"""The job queue in the database: columns hold a job's worker and state, and each change of state is a small query.

The jobs of one queue run one after another. The transaction that ends or removes the first job releases the next, so
the cost of a claim does not depend on the number of jobs that wait for their turn.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Any

from mnemoir.core.clock import Clock, to_text, utc_now
from mnemoir.core.ids import JobId
from mnemoir.core.text import without_zeros
from mnemoir.ports.jobs import Job, JobQueue, JobTally
from mnemoir.storage.sql.engine import Engine, Sql, Value, queries
from mnemoir.storage.sql.rows import as_json, from_json

_QUERIES = queries("jobs")
_ENDED_KEPT = timedelta(days=7)


def put_job(
    sql: Sql, job_id: JobId, kind: str, payload: Mapping[str, Any], *, queue: str = "", now: datetime
) -> bool:
    """Store a job in the transaction of its subject, due at once; True when it is claimable.

    An existing id is left unchanged.
    """
    _hold(sql, queue)
    waits_for = sql.value(
        _QUERIES["put_job"],
        id=job_id,
        kind=kind,
        queue=queue,
        payload=as_json(payload),
        due_at=now.timestamp(),
        now=to_text(now),
    )
    return bool(waits_for == "worker")


class SqlJobQueue:
    """`db` is the caller's."""

    def __init__(self, db: Engine, clock: Clock = utc_now) -> None:
        self.claimable = asyncio.Event()
        self._db = db
        self._clock = clock

    async def put(self, job_id: JobId, kind: str, payload: Mapping[str, Any], *, queue: str = "") -> None:
        """Store the job, due at once. An existing id is left unchanged."""
        now = self._clock()
        self._wake_if(
            await self._db.write(None, lambda sql: put_job(sql, job_id, kind, payload, queue=queue, now=now))
        )

    async def claim(self, worker: str, lease_s: float) -> Job | None:
        """Lease the oldest job that is due to `worker`; None when none is due."""
        return next(iter((await self.claim_several(worker, lease_s, 1))[0]), None)

    async def claim_several(self, worker: str, lease_s: float, most: int) -> tuple[list[Job], datetime | None]:
        """Lease up to `most` jobs that are due, the oldest, in their order; with fewer, when the next one is due."""
        now = self._clock()

        def claim_oldest(sql: Sql) -> tuple[list[Any], float | None]:
            sql.run(_QUERIES["make_due_claimable"], at=now.timestamp())
            lease: dict[str, Value] = {"worker": self._worker_name(worker), "at": now.timestamp(), "lease_s": lease_s}
            rows = sql.rows(_QUERIES["claim_jobs"], **lease, most=most, now=to_text(now))
            return rows, sql.value(_QUERIES["next_due"]) if len(rows) < most else None

        rows, due_at = await self._db.write(None, claim_oldest)
        return [_job(*row) for *row, _ in sorted(rows, key=itemgetter(-1))], _instant(due_at)

    async def beat(self, worker: str, job_ids: Sequence[JobId], lease_s: float) -> list[JobId]:
        """Extend the worker's leases of these jobs to `lease_s` seconds from now; the jobs that it still has."""
        lease: dict[str, Value] = {
            "worker": self._worker_name(worker),
            "at": self._clock().timestamp(),
            "lease_s": lease_s,
        }

        def extend_leases(sql: Sql) -> list[JobId]:
            return [job_id for job_id in job_ids if sql.run(_QUERIES["extend_lease"], id=job_id, **lease)]

        return await self._db.write(None, extend_leases) if job_ids else []

    async def reclaim(self) -> int:
        """Put back every job whose lease has ended; how many. A lease ends with its process, if that is known."""
        now, incarnation = self._clock(), self._db.incarnation

        def put_back_jobs(sql: Sql) -> int:
            put_back = sql.run(_QUERIES["put_back_lapsed"], at=now.timestamp(), now=to_text(now))
            if incarnation is not None:
                put_back += sql.run(_QUERIES["put_back_of_ended"], incarnation=incarnation, now=to_text(now))
            return put_back

        put_back = await self._db.write(None, put_back_jobs)
        self._wake_if(put_back > 0)
        return put_back

    async def waiting(self, queue: str, *, limit: int) -> list[Job]:
        """The newest jobs of the queue that have not ended, oldest first."""
        rows = await self._db.read(None, lambda sql: sql.rows(_QUERIES["jobs_of_queue"], queue=queue, limit=limit))
        return [_job(*row) for row in reversed(rows)]

    async def stored_jobs(self, queue: str) -> list[Job]:
        """The jobs of the queue, ended ones too, oldest first."""
        rows = await self._db.read(None, lambda sql: sql.rows(_QUERIES["kept_jobs"], queue=queue))
        return [_job(*row) for row in rows]

    async def remove(self, job_ids: Sequence[JobId]) -> None:
        """Delete these jobs, with payloads and results, except those that are RUNNING."""

        def remove_each(sql: Sql) -> bool:
            released = [_move_on(sql, sql.row(_QUERIES["remove_job"], id=job_id)) for job_id in job_ids]
            return any(released)

        self._wake_if(await self._db.write(None, remove_each))

    async def succeed(self, job: Job, result: Mapping[str, Any]) -> bool:
        """End the job; its result is kept for a week, its payload is not. False when another has the lease."""
        return await self._end("succeed_job", job, result=as_json(result))

    async def retry(self, job: Job, *, at: datetime, error: str) -> bool:
        """Put the job back, due at `at`. False when another has the lease."""
        values: dict[str, Value] = {"id": job.id, "attempts": job.attempts}
        values |= {"due_at": at.timestamp(), "error": without_zeros(error), "now": to_text(self._clock())}
        is_back = await self._db.write(None, lambda sql: sql.run(_QUERIES["retry_job"], **values) == 1)
        self._wake_if(is_back)
        return is_back

    async def fail(self, job: Job, error: str) -> bool:
        """Give the job up; payload and error are kept for a week to inspect. False when another has the lease."""
        return await self._end("fail_job", job, error=without_zeros(error))

    async def failed_jobs(self, *, limit: int) -> list[Job]:
        """The jobs that were given up within the week, newest first."""
        rows = await self._db.read(None, lambda sql: sql.rows(_QUERIES["failed_jobs"], limit=limit))
        return [_job(*row) for row in rows]

    async def revive(self, job_id: JobId) -> bool:
        """Put a job that was given up back, due at once. False for one that is unknown or in another state."""
        now = self._clock()
        values: dict[str, Value] = {"id": job_id, "due_at": now.timestamp(), "now": to_text(now)}

        def put_back(sql: Sql) -> bool:
            _hold(sql, sql.value(_QUERIES["queue_of_job"], id=job_id))
            return sql.run(_QUERIES["revive_job"], **values) == 1

        is_back = await self._db.write(None, put_back)
        self._wake_if(is_back)
        return is_back

    async def drop_ended(self) -> None:
        """Delete the jobs that ended more than a week ago, with results and errors."""
        before = (self._clock() - _ENDED_KEPT).timestamp()
        await self._db.write(None, lambda sql: sql.run(_QUERIES["drop_ended_jobs"], before=before))

    async def get(self, job_id: JobId) -> Job | None:
        """The job of that id, in any state; None without one."""
        row = await self._db.read(None, lambda sql: sql.row(_QUERIES["job"], id=job_id))
        return None if row is None else _job(*row)

    async def tally(self) -> list[JobTally]:
        """The jobs of each kind that wait, run or were given up within the week, by kind; empty kinds left out."""
        rows = await self._db.read(None, lambda sql: sql.rows(_QUERIES["tally_jobs"]))
        return [
            JobTally(kind=kind, waiting=waiting, running=running, failed=failed)
            for kind, waiting, running, failed in rows
        ]

    async def _end(self, query: str, job: Job, **values: str) -> bool:
        """End a leased job."""
        now = self._clock()

        def end_job(sql: Sql) -> tuple[bool, bool]:
            lease: dict[str, Value] = {"id": job.id, "attempts": job.attempts}
            ended = sql.row(_QUERIES[query], **lease, ended_at=now.timestamp(), now=to_text(now), **values)
            return ended is not None, _move_on(sql, ended)

        is_ended, is_next_claimable = await self._db.write(None, end_job)
        self._wake_if(is_next_claimable)
        return is_ended

    def _wake_if(self, is_claimable: bool) -> None:
        if is_claimable:
            self.claimable.set()

    def _worker_name(self, worker: str) -> str:
        """The worker's name in rows, prefixed by the opening of the database if no other process can have it open."""
        return f"{self._db.incarnation or ''}/{worker}"


def _instant(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _move_on(sql: Sql, ended: Any) -> bool:
    """Release the next job of the queue; True when there is one. `ended` is (queue,), or None when no job left it."""
    if ended is None or not ended[0]:
        return False
    _hold(sql, ended[0])
    return bool(sql.run(_QUERIES["next_of_queue"], queue=ended[0]))


def _hold(sql: Sql, queue: str | None) -> None:
    """Let nobody else put or end a job of the queue until the transaction ends: it would get two heads, or none."""
    if queue:
        sql.hold(f"queue\n{queue}")


def _job(
    job_id: str,
    kind: str,
    payload: str,
    state: Any,  # one of JobState: the table checks it
    attempts: int,
    created_at: str,
    updated_at: str,
    result: str | None,
    error: str | None,
) -> Job:
    return Job(
        id=JobId(job_id),
        kind=kind,
        payload=from_json(payload),
        state=state,
        attempts=attempts,
        created_at=created_at,
        updated_at=updated_at,
        result=None if result is None else from_json(result),
        error=error,
    )


_: type[JobQueue] = SqlJobQueue  # checked, never run
