"""Workflow locks in the database file that a user of a config tree has for them.

What this process holds it knows by itself; the rows tell other programs, and this one after a crash: a row of another
instance is dropped when the file is first opened, and any row when its time is over. Times in the file are local
ones, as its format has it, so twice a year they are an hour off; what is held here does not depend on them.
"""

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import structlog

from mnemoir.core.clock import Clock, utc_now
from mnemoir.core.errors import StorageUnavailable
from mnemoir.ports.workflow_locks import WorkflowLocks
from mnemoir.storage.sql.engine import FileEngine, Sql
from mnemoir.storage.sql.queries import queries

T = TypeVar("T")
Place = tuple[Path, str]  # a file, and the name of a lock in it
_log = structlog.get_logger(__name__)
_QUERIES = queries("locks/workflow_locks")
_EXPIRY = timedelta(minutes=10)
_RENEWED_EVERY_S = 180.0
_LONGEST_NAME = 500
_DIGEST_CHARACTERS = 64


class SqlWorkflowLocks:
    """`instance` names this run of the program: a new one each time it starts."""

    def __init__(
        self,
        instance: str,
        open_file: Callable[[Path], FileEngine],
        clock: Clock = utc_now,
        *,
        renewed_every_s: float = _RENEWED_EVERY_S,
    ) -> None:
        self._instance = instance
        self._open_file = open_file
        self._clock = clock
        self._renewed_every_s = renewed_every_s
        self._held: dict[Place, str] = {}  # the run that holds it
        self._files: dict[Path, FileEngine] = {}  # touched by the thread alone
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="workflow-locks")
        self._renewing: asyncio.Task[None] | None = None

    async def acquire(self, database: Path, lock: str, *, run: str) -> bool:
        """Take the lock; False while it is held. A name may be of any length and hold anything."""
        name = _fitting(lock)
        place = (database, name)
        if place in self._held:
            return False
        self._held[place] = run  # before the first wait: nobody else here gets between
        try:
            taken = await self._in_thread(lambda: self._take(database, name, run))
        except BaseException as exc:
            del self._held[place]
            if isinstance(exc, asyncio.CancelledError):  # the thread may take it all the same
                self._thread.submit(self._drop, [place], run)
            raise
        if not taken:
            del self._held[place]
        elif self._renewing is None:
            self._renewing = asyncio.create_task(self._renew_on(), name="renew workflow locks")
        return taken

    async def release(self, database: Path, *, run: str) -> None:
        """Let go of every lock of the run, in whichever file it is."""
        places = [place for place, holder in self._held.items() if holder == run]
        for place in places:
            del self._held[place]
        if places:
            await self._in_thread(lambda: self._drop(places, run))

    async def renew(self) -> None:
        """Push the expiry of everything that is held on. Raises StorageUnavailable."""
        held = dict(self._held)
        await self._in_thread(lambda: self._push_on(held))

    async def aclose(self) -> None:
        """Release all and close the files. May be called again."""
        if self._renewing is not None:
            self._renewing.cancel()
        with suppress(StorageUnavailable):  # the rows expire, and the next instance drops them
            for run in set(self._held.values()):
                await self.release(Path(), run=run)
        await asyncio.to_thread(self._close)

    async def _renew_on(self) -> None:
        while True:
            await asyncio.sleep(self._renewed_every_s)
            try:
                await self.renew()
            except StorageUnavailable as exc:
                _log.warning("workflow locks not renewed", error=exc.message)

    def _take(self, database: Path, lock: str, run: str) -> bool:
        def take(sql: Sql) -> bool:
            values = {"instance": self._instance, "lock": lock}
            sql.run(_QUERIES["drop_dead_lock"], **values, now=self._time())
            return sql.run(_QUERIES["take_lock"], **values, run=run, until=self._time(_EXPIRY)) == 1

        return self._file(database).write(take)

    def _drop(self, places: Sequence[Place], run: str) -> None:
        for database, lock in places:
            values = {"instance": self._instance, "run": run, "lock": lock}
            self._change(database, "release_lock", values)

    def _push_on(self, held: Mapping[Place, str]) -> None:
        for (database, lock), run in held.items():
            values = {"instance": self._instance, "run": run, "lock": lock, "until": self._time(_EXPIRY)}
            self._change(database, "renew_lock", values)

    def _change(self, database: Path, query: str, values: Mapping[str, str]) -> None:
        self._file(database).write(lambda sql: sql.run(_QUERIES[query], **values))

    def _file(self, database: Path) -> FileEngine:
        """The file, made when there is none, and at first without what other instances left in it."""
        if database not in self._files:
            file = self._open_file(database)
            file.write(self._begin)
            self._files[database] = file
        return self._files[database]

    def _begin(self, sql: Sql) -> None:
        sql.run(_QUERIES["create_table"])
        sql.run(_QUERIES["drop_foreign_locks"], instance=self._instance)

    def _close(self) -> None:
        self._thread.shutdown()
        while self._files:
            self._files.popitem()[1].close()

    def _time(self, later: timedelta = timedelta()) -> str:
        return (self._clock() + later).astimezone().strftime("%Y-%m-%d %H:%M:%S.%f")

    async def _in_thread(self, work: Callable[[], T]) -> T:
        try:
            outcome = asyncio.get_running_loop().run_in_executor(self._thread, work)
        except RuntimeError as exc:  # the thread was told to end
            raise StorageUnavailable("The workflow locks are closed: the program is stopping.") from exc
        return await asyncio.shield(outcome)  # what the thread was given it does, whoever leaves meanwhile


def _fitting(lock: str) -> str:
    """The name as text that a row can hold; one that is too long ends in a hash of all of it."""
    name = lock.encode("utf-8", "backslashreplace").decode()
    if len(name) <= _LONGEST_NAME:
        return name
    return name[: _LONGEST_NAME - _DIGEST_CHARACTERS] + hashlib.sha256(name.encode()).hexdigest()


_: type[WorkflowLocks] = SqlWorkflowLocks  # checked, never run
