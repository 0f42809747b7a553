"""Background work: durable jobs, processed in order within a queue and started again after a crash.

A job is stored before any caller relies on it and removed only when it is done. While it runs it is leased to this
worker, which renews the lease; a job whose lease expired, or whose end could not be stored, is put back. A temporary
failure (the model is down, the disk is full) puts the job back with growing delays; a permanent one marks the job as
failed and keeps it for inspection.
"""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import structlog

from mnemoir.core.clock import Clock, from_text, utc_now
from mnemoir.core.errors import (
    Conflict,
    InvalidRequest,
    MnemoirError,
    ProviderInvalidOutput,
    ProviderRefused,
    QuotaExceeded,
    StorageUnavailable,
    places_of,
)
from mnemoir.core.ids import JobId, new_job_id
from mnemoir.ports.jobs import Job, JobQueue

Handler = Callable[[Job], Awaitable[Mapping[str, Any]]]

_log = structlog.get_logger(__name__)
_FIRST_WAIT_S = 1.0
_LONGEST_WAIT_S = 300.0
_KEPT_TRYING = timedelta(days=7)  # a longer outage is treated as permanent
_KEPT_FOR_A_BUDGET = timedelta(days=40)  # one of a month is whole again by then
_TRIES_AT_NONSENSE = 3  # a model that cannot make sense of a turn must not hold up the user's next ones
_STORAGE_WAIT_S = 5.0
_LONGEST_SLEEP_S = 3600.0
_LEASE_S = 60.0
_BEATS_A_LEASE = 3
_OTHERS_LOOKED_AT_S = 0.1  # poll: no signal arrives when a job of another worker ends
_UNWRITTEN = "It was stopped, or how it ended could not be written down."


class Background:
    """Processes the queue, up to `at_once` jobs at a time, from `start` to `aclose`.

    One task looks for jobs, so that a job that is put costs the database one look, however many could run.
    """

    def __init__(
        self,
        jobs: JobQueue,
        handlers: Mapping[str, Handler],
        *,
        at_once: int = 4,
        first_wait_s: float = _FIRST_WAIT_S,
        lease_s: float = _LEASE_S,
        clock: Clock = utc_now,
    ) -> None:
        self._jobs = jobs
        self._handlers = dict(handlers)
        self._at_once = at_once
        self._first_wait_s = first_wait_s
        self._lease_s = lease_s
        self._clock = clock
        self._worker = uuid.uuid4().hex
        self._woken = jobs.claimable
        self._place_free = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._runs: set[asyncio.Task[None]] = set()
        self._running: dict[JobId, asyncio.Event] = {}
        self._unwritten: dict[JobId, Job] = {}  # leased to this worker and ended, but the end is not stored

    def handle(self, kind: str, handler: Handler) -> None:
        """Register the handler for jobs of `kind`; call before `start`."""
        self._handlers[kind] = handler

    async def start(self) -> None:
        """Put back jobs that a crash interrupted, and start processing."""
        await self._reclaim()
        self._tasks = [
            asyncio.create_task(self._claim_on(), name="background claims"),
            asyncio.create_task(self._beat_on(), name="background leases"),
        ]

    async def beat(self) -> None:
        """Renew the leases of running jobs; put back jobs whose end is not stored or whose lease expired.

        Raises StorageUnavailable.
        """
        await self._put_back_unwritten()
        running = list(self._running)
        held = await self._jobs.beat(self._worker, running, self._lease_s)
        for job_id in set(running).difference(held) & self._running.keys():
            _log.warning("job lost to another worker", job=job_id)
        await self._reclaim()

    async def put(
        self, kind: str, payload: Mapping[str, Any], *, queue: str = "", job_id: JobId | None = None
    ) -> JobId:
        """Store a job and wake a worker. Durable on return. The jobs of a queue run in order."""
        job_id = job_id or new_job_id()
        await self._jobs.put(job_id, kind, payload, queue=queue)
        return job_id

    async def revive(self, job_id: JobId) -> bool:
        """Try a job again that was given up. False where there is none of that id."""
        return await self._jobs.revive(job_id)

    async def drop_ended(self) -> None:
        """Delete the jobs that ended more than a week ago. Raises StorageUnavailable."""
        await self._jobs.drop_ended()

    async def waiting(self, queue: str, *, limit: int) -> list[Job]:
        """The newest jobs of the queue that have not ended, oldest first."""
        return await self._jobs.waiting(queue, limit=limit)

    async def withdraw(self, queue: str, unwanted: Callable[[Job], bool], *, patience_s: float) -> None:
        """Remove all `unwanted` jobs of the queue; wait for those that are running.

        Raises Conflict when one runs for longer than `patience_s`; the others are removed even then.
        """
        try:
            async with asyncio.timeout(patience_s):
                await self._put_back_unwritten()
                while found := [job for job in await self._jobs.stored_jobs(queue) if unwanted(job)]:
                    await self._jobs.remove([job.id for job in found])  # jobs taken by a worker stay
                    own = [self._running[job.id] for job in found if job.id in self._running]
                    for ended in own:
                        await ended.wait()
                    await self._put_back_unwritten()
                    if not own and all(job.state == "RUNNING" for job in found):
                        await asyncio.sleep(_OTHERS_LOOKED_AT_S)
        except TimeoutError as exc:
            raise Conflict("Memories are being made of what was said, at this moment. Try again later.") from exc

    async def aclose(self) -> None:
        """Stop at once; running jobs are put back, at the next start if they cannot be stored now."""
        await _cancel(self._tasks)
        await _cancel(self._runs)
        self._tasks = []
        with suppress(StorageUnavailable):
            await self._put_back_unwritten()

    async def _claim_on(self) -> None:
        while True:
            try:
                await self._claim_jobs()
            except StorageUnavailable as exc:
                await _wait_for_storage(exc)

    async def _claim_jobs(self) -> None:
        """Start the jobs that are due, as far as there are free places; wait until there may be more to start."""
        self._place_free.clear()
        places = self._at_once - len(self._runs)
        if places == 0:
            await self._place_free.wait()
            return
        self._woken.clear()
        jobs, due = await self._jobs.claim_several(self._worker, self._lease_s, places)
        for job in jobs:
            self._start(job)
        if len(jobs) < places:
            await self._sleep(due)

    def _start(self, job: Job) -> None:
        run = asyncio.create_task(self._work(job), name=f"background job {job.id}")
        self._runs.add(run)
        run.add_done_callback(self._end)

    def _end(self, run: asyncio.Task[None]) -> None:
        self._runs.discard(run)
        self._place_free.set()

    async def _beat_on(self) -> None:
        while True:
            await asyncio.sleep(self._lease_s / _BEATS_A_LEASE)
            try:
                await self.beat()
            except StorageUnavailable as exc:
                _log.warning("leases of jobs not renewed", error=exc.message)

    async def _reclaim(self) -> None:
        if put_back := await self._jobs.reclaim():
            _log.info("jobs resumed", count=put_back)

    async def _put_back_unwritten(self) -> None:
        for job in list(self._unwritten.values()):
            await self._jobs.retry(job, at=self._clock(), error=_UNWRITTEN)
            del self._unwritten[job.id]

    async def _sleep(self, due: datetime | None) -> None:
        """Wait until a job is claimable or the next one is due."""
        wait_s = _LONGEST_SLEEP_S if due is None else max(0.0, (due - self._clock()).total_seconds())
        try:
            async with asyncio.timeout(min(wait_s, _LONGEST_SLEEP_S)):
                await self._woken.wait()
        except TimeoutError:
            return

    async def _work(self, job: Job) -> None:
        try:
            await self._run(job)
        except StorageUnavailable as exc:
            await _wait_for_storage(exc)  # the place stays taken meanwhile

    async def _run(self, job: Job) -> None:
        ended = self._running[job.id] = asyncio.Event()
        try:
            await self._handle(job)
        except (StorageUnavailable, asyncio.CancelledError):
            self._unwritten[job.id] = job
            raise
        finally:
            del self._running[job.id]
            ended.set()

    async def _handle(self, job: Job) -> None:
        try:
            handler = self._handlers.get(job.kind)
            if handler is None:
                raise InvalidRequest(f"No handler for jobs of kind {job.kind!r}.")
            if not await self._jobs.succeed(job, await handler(job)):
                _log.warning("job ended after its lease", job=job.id, kind=job.kind)
        except MnemoirError as exc:
            await (self._give_up(job, exc) if is_final(job, exc) else self._put_back(job, exc))
        except Exception as exc:  # noqa: BLE001 - one broken job must not end the worker for all others
            log_fault(exc, job)
            await self._jobs.fail(job, f"{type(exc).__name__}: {exc}")

    async def _give_up(self, job: Job, exc: MnemoirError) -> None:
        _log.error("job given up", job=job.id, kind=job.kind, code=exc.code, attempts=job.attempts)
        await self._jobs.fail(job, exc.message)

    async def _put_back(self, job: Job, exc: MnemoirError) -> None:
        now = self._clock()
        began = from_text(job.created_at)
        waits_for_budget = isinstance(exc, QuotaExceeded) and exc.resets_at is not None
        if began is not None and now - began > (_KEPT_FOR_A_BUDGET if waits_for_budget else _KEPT_TRYING):
            await self._give_up(job, exc)
            return
        wait_s = min(_LONGEST_WAIT_S, self._first_wait_s * 2 ** min(job.attempts - 1, 12))
        _log.warning("job put back", job=job.id, kind=job.kind, attempts=job.attempts, wait_s=wait_s)
        await self._jobs.retry(job, at=now + timedelta(seconds=wait_s), error=exc.message)


async def _cancel(tasks: Iterable[asyncio.Task[None]]) -> None:
    ending = list(tasks)
    for task in ending:
        task.cancel()
    await asyncio.gather(*ending, return_exceptions=True)


async def _wait_for_storage(exc: StorageUnavailable) -> None:
    _log.error("job queue unavailable", error=exc.message)
    await asyncio.sleep(_STORAGE_WAIT_S)


def log_fault(exc: Exception, job: Job) -> None:
    """Log an internal error with its place; its text only at debug level, since it may quote a user."""
    _log.error("job broke", job=job.id, kind=job.kind, error=type(exc).__name__, where=places_of(exc))
    _log.debug("job broke", job=job.id, error=str(exc))


def is_final(job: Job, exc: MnemoirError) -> bool:
    """True when retrying is useless. A wrong key or a full quota is not final: an administrator can fix it."""
    if isinstance(exc, ProviderInvalidOutput):
        return job.attempts >= _TRIES_AT_NONSENSE
    if isinstance(exc, ProviderRefused):
        return exc.code not in ("llm_auth_failed", "llm_rate_limited")
    return isinstance(exc, InvalidRequest)
