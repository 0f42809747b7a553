"""Work that must survive the process: written down before it starts, gone when it is done."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from mnemoir.core.ids import JobId

JobState = Literal["PENDING", "RUNNING", "SUCCEEDED", "FAILED"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One piece of work. `payload` and `result` are JSON; `attempts` counts starts."""

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

    Jobs of one `queue` run one after the other: none is due while an earlier one has not ended. "" is no queue.
    """

    async def put(self, job_id: JobId, kind: str, payload: Mapping[str, Any], *, queue: str = "") -> None:
        """Write the job down; durable on return. An id already there is left as it is."""

    async def claim(self, now: datetime) -> Job | None:
        """Mark the oldest job that is due as RUNNING and give it; None when none is due."""

    async def next_due(self) -> datetime | None:
        """When the earliest PENDING job is due; None when none waits, or all wait for a RUNNING one."""

    async def waiting(self, queue: str, *, limit: int) -> list[Job]:
        """The newest jobs of the queue that have not ended, oldest first."""

    async def kept(self, queue: str) -> list[Job]:
        """The jobs of the queue, oldest first; those that ended too, as long as anything is kept of them."""

    async def remove(self, job_ids: Sequence[JobId]) -> None:
        """Forget these, with payloads and results, but for those that are RUNNING."""

    async def succeed(self, job_id: JobId, result: Mapping[str, Any]) -> None:
        """The job is done; its result is kept for a week, its payload is not."""

    async def retry(self, job_id: JobId, *, at: datetime, error: str) -> None:
        """Put it back, due at `at`."""

    async def fail(self, job_id: JobId, error: str) -> None:
        """Give it up; payload and error are kept for a week, to be looked at."""

    async def resume(self) -> int:
        """At start: put back what was RUNNING when the process ended; how many."""

    async def get(self, job_id: JobId) -> Job | None:
        """The job, whatever its state."""

    async def tally(self) -> list[JobTally]:
        """Of each kind that has any, those that wait, run or were given up within the week; by kind."""
