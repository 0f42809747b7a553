"""Leases as rows of the table for workflow locks in a config tree's format.

This process keeps its own leases in memory; the rows inform other programs, and this program after a crash. A row is
deleted when its time is over, and one of this program's instances as soon as that is gone, which holds a file beside
the database for each of its leases. Of other programs nothing is known. Times in the file are local times by its
format, so twice a year they are an hour wrong; leases of this process do not depend on them.
"""

import hashlib
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Protocol, TypeVar

from mnemoir.core.clock import Clock, utc_now
from mnemoir.ports.leases import TTL_S, WAIT_S, Lease, Leases
from mnemoir.storage.disk_files import file_errors
from mnemoir.storage.file_lock import patiently
from mnemoir.storage.held_files import HeldFiles
from mnemoir.storage.locks.in_process import InProcessLock
from mnemoir.storage.sql.engine import FileEngine, Sql, file_state, queries

T = TypeVar("T")
_QUERIES = queries("locks/workflow_locks")
_LONGEST_NAME = 500
_DIGEST_CHARACTERS = 64
_OURS = "mnemoir-"  # begins the names of this program's instances


class LockFile(FileEngine, Protocol):
    """A file that other programs write, too."""

    def rewrite(self) -> None:
        """Write the file anew, as others may have deleted from it without overwriting."""


class RowLeases:
    """Leases in the file at `database`, which is opened for each change and created with the first.

    `instance` names this run of the program, a new name at each start. A key may be of any length and contain any
    characters.
    """

    def __init__(
        self, instance: str, open_file: Callable[[Path], LockFile], database: Path, clock: Clock = utc_now
    ) -> None:
        self._instance = f"{_OURS}{instance}"
        self._open_file = open_file
        self._database = database
        self._clock = clock
        self._own = InProcessLock()
        self._holds = HeldFiles(database)
        self._wiped: object = None  # the state of the file when it was left without rows

    def acquire(self, key: str, ttl: float = TTL_S, wait: float = WAIT_S) -> Lease | None:
        """Take the lease of `key` for `ttl` seconds; None when others held it for all of `wait` seconds."""
        return patiently(lambda: self._take(_fitting(key), ttl), wait)

    def renew(self, lease: Lease, ttl: float = TTL_S) -> bool:
        """Extend the lease to `ttl` seconds from now; False when it has ended."""
        values = {"run": lease.secret, "lock": lease.key, "until": self._time(ttl)}
        return self._own.renew(lease, ttl) and self._change_row("renew_lock", values)

    def release(self, lease: Lease) -> bool:
        """Release the lease and delete its row; False when it had ended."""
        try:
            values = {"run": lease.secret, "lock": lease.key}
            return self._own.release(lease) and self._change_row("release_lock", values)
        finally:
            self._let_go(lease)

    def wipe(self) -> None:
        """Delete rows that have ended, then write the file anew, for what others deleted from it.

        A file without rows that nobody wrote since is left as it is.
        """
        if self._wiped is not None and file_state(self._database) == self._wiped:
            return

        def drop(sql: Sql) -> int:
            sql.run(_QUERIES["drop_ended_locks"], now=self._time())
            return int(sql.value(_QUERIES["count_locks"]))

        left = self._write(drop)
        with closing(self._open_file(self._database)) as file:
            file.rewrite()
        with file_errors(self._database):
            self._holds.remove_left()
        self._wiped = None if left else file_state(self._database)

    def _take(self, name: str, ttl: float) -> Lease | None:
        own = self._own.acquire(name, ttl, wait=0)
        if own is None:
            return None
        values = {"instance": self._instance, "lock": name}

        def take(sql: Sql) -> list[tuple[int]]:
            sql.run(_QUERIES["drop_dead_lock"], **values, now=self._time())
            for instance, run in sql.rows(_QUERIES["holders_of_lock"], **values):
                if _is_ours(instance) and not self._holds.is_held(str(run)):
                    sql.run(_QUERIES["drop_left_lock"], lock=name, instance=instance, run=run)
                    self._holds.remove_left()
            taken = sql.rows(_QUERIES["take_lock"], **values, run=own.secret, until=self._time(ttl))
            if taken:
                self._holds.hold(own.secret)
            return taken

        rows: list[tuple[int]] = []
        try:
            with file_errors(self._database):
                rows = self._write(take)
        finally:
            if not rows:
                self._own.release(own)
                self._let_go(own)
        return Lease(name, own.secret, rows[0][0]) if rows else None

    def _change_row(self, query: str, values: dict[str, str]) -> bool:
        return bool(self._write(lambda sql: sql.run(_QUERIES[query], instance=self._instance, **values)))

    def _write(self, work: Callable[[Sql], T]) -> T:
        def run_in_table(sql: Sql) -> T:
            sql.run(_QUERIES["create_table"])
            return work(sql)

        with closing(self._open_file(self._database)) as file:
            return file.write(run_in_table)

    def _let_go(self, lease: Lease) -> None:
        with file_errors(self._database):
            self._holds.let_go(lease.secret)

    def _time(self, later_s: float = 0) -> str:
        return (self._clock() + timedelta(seconds=later_s)).astimezone().strftime("%Y-%m-%d %H:%M:%S.%f")


def _is_ours(instance: object) -> bool:
    return isinstance(instance, str) and instance.startswith(_OURS)


def _fitting(key: str) -> str:
    """The key as text for a row; the end of a key that is too long is replaced by a hash of the whole key."""
    name = key.encode("utf-8", "backslashreplace").decode()
    if len(name) <= _LONGEST_NAME:
        return name
    return name[: _LONGEST_NAME - _DIGEST_CHARACTERS] + hashlib.sha256(name.encode()).hexdigest()


_: type[Leases] = RowLeases  # checked, never run
