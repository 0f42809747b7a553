"""Work that is stored elsewhere and done by jobs of the queue, such as making the vectors that rows lack."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import structlog

from mnemoir.core.errors import Conflict, StorageUnavailable
from mnemoir.memory.background import Background
from mnemoir.ports.jobs import Job

_log = structlog.get_logger(__name__)
_PATIENCE_S = 60.0


class NotedWork:
    """Has a job do the `work` whenever `noted` is set and `is_needed` says so; one job at a time.

    A job holds nothing but the name of a model; one for another model than `model` does nothing.
    """

    def __init__(
        self,
        background: Background,
        kind: str,
        noted: asyncio.Event,
        is_needed: Callable[[], Awaitable[bool]],
        work: Callable[[], Awaitable[None]],
        *,
        model: str,
    ) -> None:
        self.queue = f"{kind}:{model}"
        self._background = background
        self._kind = kind
        self._noted = noted
        self._is_needed = is_needed
        self._work = work
        self._model = model
        self._task: asyncio.Task[None] | None = None
        background.handle(kind, self._do)

    def start(self, first: Callable[[], Awaitable[None]] | None = None) -> None:
        """Do `first`, and then wait for `noted`."""
        self._task = asyncio.create_task(self._run(first), name=f"noted work: {self._kind}")

    async def aclose(self) -> None:
        """Request no more jobs."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self, first: Callable[[], Awaitable[None]] | None) -> None:
        if first is not None:
            await first()
        while True:
            await self._noted.wait()
            self._noted.clear()
            try:
                if await self._is_needed():
                    await self._request()
            except (StorageUnavailable, Conflict) as exc:
                _log.warning("no job requested", kind=self._kind, code=exc.code)

    async def _request(self) -> None:
        """Queue a job, unless one waits. A postponed job is replaced, as there is a reason to try again now."""
        waiting = [job for job in await self._background.waiting(self.queue, limit=2) if job.state == "PENDING"]
        if any(map(_was_put_back, waiting)):
            await self._background.withdraw(self.queue, _was_put_back, patience_s=_PATIENCE_S)
            waiting = [job for job in waiting if not _was_put_back(job)]
        if not waiting:
            await self._background.put(self._kind, {"model": self._model}, queue=self.queue)

    async def _do(self, job: Job) -> Mapping[str, Any]:
        if job.payload["model"] == self._model:
            await self._work()
        return {}


def _was_put_back(job: Job) -> bool:
    return job.state == "PENDING" and job.attempts > 0
