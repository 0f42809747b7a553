"""Jobs in the database. They are few, so each look is one small query."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from mnemoir.core.clock import Clock, to_text, utc_now
from mnemoir.core.ids import JobId
from mnemoir.ports.jobs import Job, JobQueue, JobTally
from mnemoir.storage.sql.engine import Engine, Sql
from mnemoir.storage.sql.queries import queries
from mnemoir.storage.sql.rows import as_json, from_json

_QUERIES = queries("jobs")
_ENDED_KEPT = timedelta(days=7)


class SqlJobQueue:
    """`db` is the caller's."""

    def __init__(self, db: Engine, clock: Clock = utc_now) -> None:
        self._db = db
        self._clock = clock

    async def put(self, job_id: JobId, kind: str, payload: Mapping[str, Any], *, queue: str = "") -> None:
        """Write the job down, due at once. An id already there is left as it is."""
        due_at = self._clock().timestamp()
        await self._write("put_job", id=job_id, kind=kind, queue=queue, payload=as_json(payload), due_at=due_at)

    async def claim(self, now: datetime) -> Job | None:
        """Mark the oldest job that is due as RUNNING and give it; None when none is due."""

        values: dict[str, float | str] = {"due_at": now.timestamp(), "now": to_text(now)}
        row = await self._db.write(None, lambda sql: sql.row(_QUERIES["claim_job"], **values))
        return None if row is None else _job(*row)

    async def next_due(self) -> datetime | None:
        """When the earliest PENDING job is due; None when none waits, or all wait for a RUNNING one."""
        (due_at,) = await self._db.read(None, lambda sql: sql.row(_QUERIES["next_due"]))
        return None if due_at is None else datetime.fromtimestamp(due_at, UTC)

    async def waiting(self, queue: str, *, limit: int) -> list[Job]:
        """The newest jobs of the queue that have not ended, oldest first."""
        rows = await self._db.read(None, lambda sql: sql.rows(_QUERIES["jobs_of_queue"], queue=queue, limit=limit))
        return [_job(*row) for row in reversed(rows)]

    async def kept(self, queue: str) -> list[Job]:
        """The jobs of the queue, ended ones too, oldest first."""
        rows = await self._db.read(None, lambda sql: sql.rows(_QUERIES["kept_jobs"], queue=queue))
        return [_job(*row) for row in rows]

    async def remove(self, job_ids: Sequence[JobId]) -> None:
        """Forget these, with payloads and results, but for those that are RUNNING."""

        def work(sql: Sql) -> None:
            for job_id in job_ids:
                sql.run(_QUERIES["remove_job"], id=job_id)

        await self._db.write(None, work)

    async def succeed(self, job_id: JobId, result: Mapping[str, Any]) -> None:
        """The job is done; its result is kept for a week, its payload is not."""
        await self._end("succeed_job", job_id, result=as_json(result))

    async def retry(self, job_id: JobId, *, at: datetime, error: str) -> None:
        """Put it back, due at `at`."""
        await self._write("retry_job", id=job_id, due_at=at.timestamp(), error=error)

    async def fail(self, job_id: JobId, error: str) -> None:
        """Give it up; payload and error are kept for a week, to be looked at."""
        await self._end("fail_job", job_id, error=error)

    async def resume(self) -> int:
        """At start: put back what was RUNNING when the process ended; how many."""
        return await self._write("resume_jobs")

    async def get(self, job_id: JobId) -> Job | None:
        """The job, whatever its state."""
        row = await self._db.read(None, lambda sql: sql.row(_QUERIES["job"], id=job_id))
        return None if row is None else _job(*row)

    async def tally(self) -> list[JobTally]:
        """Of each kind that has any, those that wait, run or were given up within the week; by kind."""
        rows = await self._db.read(None, lambda sql: sql.rows(_QUERIES["tally_jobs"]))
        return [
            JobTally(kind=kind, waiting=waiting, running=running, failed=failed)
            for kind, waiting, running, failed in rows
        ]

    async def _end(self, query: str, job_id: JobId, **values: str) -> None:
        """End a job, and forget those that ended long ago."""
        now = self._clock()

        def work(sql: Sql) -> None:
            sql.run(_QUERIES["drop_ended_jobs"], before=(now - _ENDED_KEPT).timestamp())
            sql.run(_QUERIES[query], id=job_id, ended_at=now.timestamp(), now=to_text(now), **values)

        await self._db.write(None, work)

    async def _write(self, query: str, **values: Any) -> int:
        """Run one query; how many rows it changed."""
        now = to_text(self._clock())
        return await self._db.write(None, lambda sql: sql.run(_QUERIES[query], now=now, **values))


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
