"""Work that must survive the process: written down before it starts, gone when it is done."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from mnemoir.core.ids import JobId

JobState = Literal["PENDING", "RUNNING", "SUCCEEDED", "FAILED"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One piece of work. `payload` and `result` are JSON.

    `attempts` counts starts, so it is also the fence of a lease: it tells one lease of the job from the next.
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
    """How many jobs of a kind have not succeeded. `waiting` includes those put back until later."""

    kind: str
    waiting: int
    running: int
    failed: int


class JobQueue(Protocol):
    """Durable and ordered by entry. Raises StorageUnavailable.

    Jobs of one `queue` run one after the other: none is due while an earlier one has not ended. "" is no queue. A job
    that runs is leased to its worker, who beats as long as it works; who stops to beat loses it to the next.
    """

    async def put(self, job_id: JobId, kind: str, payload: Mapping[str, Any], *, queue: str = "") -> None:
        """Write the job down; durable on return. An id already there is left as it is."""

    async def claim(self, worker: str, lease_s: float) -> Job | None:
        """Lease the oldest job that is due to `worker` for `lease_s` seconds, RUNNING; None when none is due."""

    async def beat(self, worker: str, job_ids: Sequence[JobId], lease_s: float) -> list[JobId]:
        """Let the worker's leases of these jobs last `lease_s` seconds from now; those that it still has."""

    async def reclaim(self) -> int:
        """Put back every job whose lease has ended; how many. A lease ends at its time.

        Where one process alone can have the queue open, a lease ends with its process as well.
        """

    async def next_due(self) -> datetime | None:
        """When the earliest PENDING job is due that need not wait for another; None when there is none."""

    async def waiting(self, queue: str, *, limit: int) -> list[Job]:
        """The newest jobs of the queue that have not ended, oldest first."""

    async def kept(self, queue: str) -> list[Job]:
        """The jobs of the queue, oldest first; those that ended too, as long as anything is kept of them."""

    async def remove(self, job_ids: Sequence[JobId]) -> None:
        """Forget these, with payloads and results, but for those that are RUNNING."""

    async def done(self, job: Job, result: Mapping[str, Any]) -> bool:
        """The job is done; its result is kept for a week, its payload is not.

        `job` is what `claim` gave. False, with nothing changed, when its lease has ended and the job was put back.
        """

    async def retry(self, job: Job, *, at: datetime, error: str) -> bool:
        """Put it back, due at `at`. False as for `done`."""

    async def fail(self, job: Job, error: str) -> bool:
        """Give it up; payload and error are kept for a week, to be looked at. False as for `done`."""

    async def get(self, job_id: JobId) -> Job | None:
        """The job, whatever its state."""

    async def tally(self) -> list[JobTally]:
        """Of each kind that has any, those that wait, run or were given up within the week; by kind."""
