"""The file of sessions: shared by threads and processes, tried again when it is busy, set aside when it is damaged.

Each piece of work is one transaction and may be run again, whole. The file is only ever opened by SQLite: closing
another descriptor of it would give up every lock this process has on it.
"""

import os
import random
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar

import apsw
import structlog

from mnemoir.conversations.sessions import StorageBusyError
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.conversations.session_connections import BUSY_MS, Connections, Damaged, Opened
from mnemoir.storage.conversations.setting_aside import set_aside
from mnemoir.storage.sqlite.data_file import beside
from mnemoir.storage.sqlite.failures import damaged, storage_errors

T = TypeVar("T")
Work = Callable[[apsw.Connection], T]
OnCorruption = Literal["set_aside", "raise"]

_log = structlog.get_logger(__name__)
_WAITS_S = (0.05, 0.1, 0.2, 0.4)  # between five tries, each a quarter shorter or longer
_LOG_BUSY_MS = 200
_BUSY = (apsw.BusyError, apsw.LockedError)
_READ, _WRITE = "BEGIN", "BEGIN IMMEDIATE"


class SessionFile:
    """Thread-safe; all methods block and raise StorageUnavailable, or StorageBusyError when others hold the file."""

    def __init__(self, path: Path, *, synced: bool = False, on_corruption: OnCorruption = "set_aside") -> None:
        """`synced`: what is saved also outlives a loss of power, not only the end of the process."""
        self.path = path
        self._on_corruption = on_corruption
        self._connections = Connections(Path(os.path.abspath(path)), synced=synced)  # whatever the folder later
        self.read(lambda connection: None)
        if self._has_log():  # what was deleted when the last user of the file died is still in it
            self.empty_log()

    def read(self, work: Work[T]) -> T:
        """What `work` gives over one snapshot."""
        return self._run(partial(self._once, work, _READ))

    def write(self, work: Work[T]) -> T:
        """What `work` gives, in one transaction; nothing of it is written when it raises."""
        return self._run(partial(self._once, work, _WRITE))

    def empty_log(self) -> None:
        """Cut the write-ahead log to nothing, so that what was deleted is in no byte of it.

        While others read, or when the disk refuses, the log stays for now; the next call, or the last one to close
        the file, does it then.
        """

        def work() -> None:
            with self._connections.one() as opened:
                opened.connection.set_busy_timeout(_LOG_BUSY_MS)
                opened.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                opened.connection.set_busy_timeout(BUSY_MS)

        try:
            self._run(work)
        except StorageUnavailable as exc:  # what was asked for is done and committed
            _log.warning("write-ahead log not emptied", file=str(self.path), cause=exc.message)

    def close(self) -> None:
        """Let go of the file; nothing is read or written afterwards. Calling it twice is harmless."""
        self._connections.close()

    def _has_log(self) -> bool:
        try:
            return beside(self.path, "-wal").stat().st_size > 0
        except OSError:
            return False

    def _run(self, attempt: Callable[[], T]) -> T:
        with storage_errors(self.path, OSError):
            try:
                return self._tried(attempt)
            except Damaged as exc:
                self._set_aside(exc)
            try:
                return self._tried(attempt)
            except Damaged as exc:
                raise damaged(self.path, str(exc)) from exc

    def _tried(self, attempt: Callable[[], T]) -> T:
        for wait_s in _WAITS_S:
            with suppress(*_BUSY):
                return attempt()
            time.sleep(wait_s * random.uniform(0.75, 1.25))
        try:
            return attempt()
        except _BUSY as exc:
            raise StorageBusyError(
                f"{self.path} is busy: others held it through {len(_WAITS_S) + 1} tries ({exc}). Try again, and look "
                "for a program that keeps a transaction open."
            ) from exc

    def _once(self, work: Work[T], begin: str) -> T:
        with self._connections.one() as opened:
            return _in_transaction(opened, work, begin)

    def _set_aside(self, damage: Damaged) -> None:
        if self._on_corruption == "raise":
            raise damaged(self.path, str(damage)) from damage
        kept_as = set_aside(self._connections.path, damage.identity)
        if kept_as is not None:
            _log.error("session file damaged", file=str(self.path), cause=str(damage), kept_as=kept_as.name)


def _in_transaction(opened: Opened, work: Work[T], begin: str) -> T:
    connection = opened.connection
    connection.execute(begin)
    try:
        outcome = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        with suppress(apsw.Error):  # the failure that led here is raised; a transaction is over even so
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        raise
    return outcome
