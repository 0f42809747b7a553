"""The durable job queue: work that must survive a restart is stored before it starts and removed when done."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from mnemoir.core.ids import JobId

ADD_LATER = "add"  # the kind of jobs that add memories
JobState = Literal["PENDING", "RUNNING", "SUCCEEDED", "FAILED"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One job. `payload` and `result` are JSON; times are as in `core.clock`.

    `attempts` counts starts. It also serves as the fence of a lease: each lease of a job has another number.
    """

    id: JobId
    kind: str
    payload: Mapping[str, Any]
    state: JobState = "PENDING"
    attempts: int = 0
    created_at: str
    updated_at: str
    result: Mapping[str, Any] | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTally:
    """The number of jobs of one kind that have not succeeded. `waiting` includes jobs to be retried later."""

    kind: str
    waiting: int
    running: int
    failed: int


class JobQueue(Protocol):
    """A durable queue, in the order of entry. All methods raise StorageUnavailable.

    Jobs of one `queue` run one at a time: none is due before all earlier ones have ended. A job with the queue ""
    waits for no other. A running job is leased to its worker, which renews the lease by `beat`; when the lease
    expires, the next worker may take the job.
    """

    claimable: asyncio.Event
    """Set when this process made a job claimable, or set the time at which one is due; a worker clears it."""

    async def put(self, job_id: JobId, kind: str, payload: Mapping[str, Any], *, queue: str = "") -> None:
        """Store the job; durable on return. A job with that id already in the queue stays as it is."""

    async def claim(self, worker: str, lease_s: float) -> Job | None:
        """Lease the oldest due job to `worker` for `lease_s` seconds and set it RUNNING; None when none is due."""

    async def claim_several(self, worker: str, lease_s: float, most: int) -> tuple[list[Job], datetime | None]:
        """The same of up to `most` due jobs, oldest first.

        When there are fewer, with the time at which the first PENDING job that waits for no other is due; None
        without one.
        """

    async def beat(self, worker: str, job_ids: Sequence[JobId], lease_s: float) -> list[JobId]:
        """Extend the worker's leases of these jobs to `lease_s` seconds from now; the ids it still holds."""

    async def reclaim(self) -> int:
        """Set jobs with expired leases to PENDING again, and return their number.

        Where only one process can have the queue open, leases of an earlier process count as expired too.
        """

    async def waiting(self, queue: str, *, limit: int) -> list[Job]:
        """The newest `limit` jobs of the queue that have not ended, oldest first."""

    async def stored_jobs(self, queue: str) -> list[Job]:
        """All jobs of the queue that are still stored, ended ones included, oldest first."""

    async def remove(self, job_ids: Sequence[JobId]) -> None:
        """Delete these jobs with payloads and results, except RUNNING ones."""

    async def succeed(self, job: Job, result: Mapping[str, Any]) -> bool:
        """Mark the job as succeeded. Its result is kept for a week, its payload is deleted.

        `job` is the value that `claim` returned. False, with nothing changed, when its lease has expired and the job
        was set back.
        """

    async def retry(self, job: Job, *, at: datetime, error: str) -> bool:
        """Set the job back to PENDING, due at `at`. False as for `done`."""

    async def fail(self, job: Job, error: str) -> bool:
        """Mark the job as failed; payload and error are kept for a week, to be inspected. False as for `done`."""

    async def drop_ended(self) -> None:
        """Delete the jobs that ended more than a week ago, with results and errors."""

    async def failed_jobs(self, *, limit: int) -> list[Job]:
        """The newest `limit` jobs that failed within the last week, newest first."""

    async def revive(self, job_id: JobId) -> bool:
        """Set a FAILED job to PENDING, due now and before later ones of its queue; False for any other."""

    async def get(self, job_id: JobId) -> Job | None:
        """The job, in any state; None for an unknown id."""

    async def tally(self) -> list[JobTally]:
        """Counts by kind, in order of kind, of the jobs that wait, run, or failed within the last week."""
