"""Jobs in the database. They are few, so each look is one small query."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import apsw

from mnemoir.core.clock import Clock, to_text, utc_now
from mnemoir.core.ids import JobId
from mnemoir.ports.jobs import Job, JobQueue, JobTally
from mnemoir.storage.sqlite.database import Database
from mnemoir.storage.sqlite.queries import queries
from mnemoir.storage.sqlite.rows import as_json, from_json

_QUERIES = queries("jobs")
_ENDED_KEPT = timedelta(days=7)


class SqliteJobQueue:
    """`db` is the caller's."""

    def __init__(self, db: Database, clock: Clock = utc_now) -> None:
        self._db = db
        self._clock = clock

    async def put(self, job_id: JobId, kind: str, payload: Mapping[str, Any], *, queue: str = "") -> None:
        """Write the job down, due at once. An id already there is left as it is."""
        due_at = self._clock().timestamp()
        await self._write("put_job", id=job_id, kind=kind, queue=queue, payload=as_json(payload), due_at=due_at)

    async def claim(self, now: datetime) -> Job | None:
        """Mark the oldest job that is due as RUNNING and give it; None when none is due."""

        def work(connection: apsw.Connection) -> Any:
            values = {"due_at": now.timestamp(), "now": to_text(now)}
            return connection.execute(_QUERIES["claim_job"], values).fetchone()

        row = await self._db.write(work)
        return None if row is None else _job(*row)

    async def next_due(self) -> datetime | None:
        """When the earliest PENDING job is due; None when none waits, or all wait for a RUNNING one."""
        due_at = await self._db.read(lambda connection: connection.execute(_QUERIES["next_due"]).get)
        return None if due_at is None else datetime.fromtimestamp(due_at, UTC)

    async def waiting(self, queue: str, *, limit: int) -> list[Job]:
        """The newest jobs of the queue that have not ended, oldest first."""
        values = {"queue": queue, "limit": limit}
        rows = await self._db.read(
            lambda connection: connection.execute(_QUERIES["jobs_of_queue"], values).fetchall()
        )
        return [_job(*row) for row in reversed(rows)]

    async def kept(self, queue: str) -> list[Job]:
        """The jobs of the queue, ended ones too, oldest first."""
        rows: list[Any] = await self._db.read(
            lambda connection: connection.execute(_QUERIES["kept_jobs"], {"queue": queue}).fetchall()
        )
        return [_job(*row) for row in rows]

    async def remove(self, job_ids: Sequence[JobId]) -> None:
        """Forget these, with payloads and results, but for those that are RUNNING."""

        def work(connection: apsw.Connection) -> None:
            for job_id in job_ids:
                connection.execute(_QUERIES["remove_job"], {"id": job_id})

        await self._db.write(work)

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
        row = await self._db.read(lambda connection: connection.execute(_QUERIES["job"], {"id": job_id}).fetchone())
        return None if row is None else _job(*row)

    async def tally(self) -> list[JobTally]:
        """Of each kind that has any, those that wait, run or were given up within the week; by kind."""
        rows: list[Any] = await self._db.read(
            lambda connection: connection.execute(_QUERIES["tally_jobs"]).fetchall()
        )
        return [
            JobTally(kind=kind, waiting=waiting, running=running, failed=failed)
            for kind, waiting, running, failed in rows
        ]

    async def _end(self, query: str, job_id: JobId, **values: str) -> None:
        """End a job, and forget those that ended long ago."""
        now = self._clock()

        def work(connection: apsw.Connection) -> None:
            connection.execute(_QUERIES["drop_ended_jobs"], {"before": (now - _ENDED_KEPT).timestamp()})
            ended = {"id": job_id, "ended_at": now.timestamp(), "now": to_text(now), **values}
            connection.execute(_QUERIES[query], ended)

        await self._db.write(work)

    async def _write(self, query: str, **values: Any) -> int:
        """Run one query; how many rows it changed."""
        now = to_text(self._clock())

        def work(connection: apsw.Connection) -> int:
            connection.execute(_QUERIES[query], {"now": now, **values})
            return connection.changes()

        return await self._db.write(work)


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


_: type[JobQueue] = SqliteJobQueue  # checked, never run
