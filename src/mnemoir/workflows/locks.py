"""Locks held by workflow runs: leases that are acquired without waiting, and renewed until the run ends.

One thread does all work on the leases, in the order of the calls.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Protocol, TypeVar

import structlog

from mnemoir.core.errors import StorageUnavailable
from mnemoir.ports.leases import Lease, Leases

T = TypeVar("T")
_TTL_S = 600.0
_RENEWED_EVERY_S = 180.0
_log = structlog.get_logger(__name__)


class LeasesOfUser(Leases, Protocol):
    """The leases in a user's database file."""

    def wipe(self) -> None:
        """Delete what is left of ended leases, so that no byte of them stays in the file."""


class WorkflowLocks:
    """The workflow locks of all users. `open_leases` opens the leases in a user's database file."""

    def __init__(
        self, open_leases: Callable[[Path], LeasesOfUser], *, renewed_every_s: float = _RENEWED_EVERY_S
    ) -> None:
        self._open_leases = open_leases
        self._renewed_every_s = renewed_every_s
        self._leases: dict[Path, LeasesOfUser] = {}
        self._held: dict[str, list[tuple[Leases, Lease]]] = {}  # by run
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="workflow-locks")
        self._renewing: asyncio.Task[None] | None = None

    async def acquire(self, database: Path, lock: str, *, run: str) -> bool:
        """Acquire the lock for a workflow run; False if any run, including the same one, holds it.

        Held locks are renewed until they are released. Raises StorageUnavailable.
        """
        leases = self._leases_in(database)
        taking = self._submit(lambda: leases.acquire(lock, _TTL_S, 0))
        try:
            lease = await asyncio.shield(asyncio.wrap_future(taking))
        except asyncio.CancelledError:
            self._submit(lambda: _give_back(leases, taking))  # the thread may still acquire the cancelled lock
            raise
        if lease is None:
            return False
        self._held.setdefault(run, []).append((leases, lease))
        if self._renewing is None:
            self._renewing = asyncio.create_task(self._renew_on(), name="renew workflow locks")
        return True

    async def release(self, *, run: str) -> None:
        """Release all locks of the run, if it holds any. Raises StorageUnavailable."""
        held = self._held.pop(run, [])
        if held:
            await self._in_thread(lambda: [leases.release(lease) for leases, lease in held])

    async def wipe(self, database: Path) -> None:
        """Leave no byte of ended locks in a file that is there. Raises StorageUnavailable."""
        await self._in_thread(self._leases_in(database).wipe)

    async def renew(self) -> None:
        """Renew all held leases. Raises StorageUnavailable."""
        held = [one for of_run in self._held.values() for one in of_run]
        await self._in_thread(lambda: [leases.renew(lease, _TTL_S) for leases, lease in held])

    async def aclose(self) -> None:
        """Release all locks. May be called again."""
        if self._renewing is not None:
            self._renewing.cancel()
        with suppress(StorageUnavailable):  # the leases expire, and the next instance drops them
            for run in list(self._held):
                await self.release(run=run)
        await asyncio.to_thread(self._thread.shutdown)

    def _leases_in(self, database: Path) -> LeasesOfUser:
        if database not in self._leases:
            self._leases[database] = self._open_leases(database)
        return self._leases[database]

    async def _renew_on(self) -> None:
        while True:
            await asyncio.sleep(self._renewed_every_s)
            try:
                await self.renew()
            except StorageUnavailable as exc:
                _log.warning("workflow locks not renewed", error=exc.message)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.shield(asyncio.wrap_future(self._submit(work)))  # done even if its caller leaves

    def _submit(self, work: Callable[[], T]) -> Future[T]:
        try:
            return self._thread.submit(work)
        except RuntimeError as exc:  # the executor is shut down
            raise StorageUnavailable("The workflow locks are closed: the program is stopping.") from exc


def _give_back(leases: Leases, taking: Future[Lease | None]) -> None:
    if taking.exception() is None and (lease := taking.result()) is not None:
        leases.release(lease)
