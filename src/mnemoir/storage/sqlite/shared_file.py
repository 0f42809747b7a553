"""The blocking engine: transactions over one SQLite file that other threads and processes may have open too.

Each piece of work is one transaction and may run again as a whole: when the file is busy, and after damage was
repaired. Only SQLite opens the file, as closing another descriptor of it would release every lock that this process
has on it. No connection is carried across a fork.

A damaged file may be set aside: it is renamed, never repaired or deleted, and a new one takes its place. Folders are
locked while a file is opened or renamed, so that of several processes that find the damage one renames the file and
none renames the new one.
"""

import os
import random
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

import apsw

from mnemoir.core.atomic_file import sync_folder
from mnemoir.core.errors import StorageBusyError, StorageUnavailable
from mnemoir.storage.disk_files import beside, hold_folder_lock, prepare_folder
from mnemoir.storage.sql.engine import Damaged, LogAmounts, ScopedEngine, Sql
from mnemoir.storage.sqlite.transactions import (
    FOREIGN,
    OpenSql,
    SqliteSql,
    damage_error,
    storage_errors,
    transaction,
    unavailable,
)

Identity = tuple[int, int]  # device and inode
_MARK = ".corrupt-"
_SIDE_FILES = ("-wal", "-shm")
T = TypeVar("T")
Mend = Callable[[Path, Exception, Identity | None], None]
IN_MEMORY = Path(":memory:")
_DAMAGE = (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError, Damaged)
_FOREIGN = (*FOREIGN, OSError)
_BUSY = (apsw.BusyError, apsw.LockedError)
_LOG_BUSY_MS = 200


def identity_of(path: Path) -> Identity | None:
    """The identity of the file, another one after a replacement; None without a file. Raises OSError."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def set_aside(path: Path, identity: Identity | None) -> Path | None:
    """Rename the file of that identity and its side files; the new path, None when the file is gone or replaced."""
    with hold_folder_lock(path.parent):
        if identity_of(path) != identity:
            return None
        kept_as = beside(path, f"{_MARK}{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}")
        for suffix in ("", *_SIDE_FILES):
            if (file := beside(path, suffix)).exists():
                file.rename(beside(kept_as, suffix))
        sync_folder(path.parent)
        return kept_as


def is_set_aside(name: str) -> bool:
    """True for the name of a damaged file that was set aside, and for its side files."""
    return _MARK in name


def names_set_aside(path: Path) -> list[str]:
    """The names that damaged files of this path were given, oldest first; [] without any. Raises OSError."""
    found = (entry.name for entry in path.parent.iterdir() if entry.name.startswith(f"{path.name}{_MARK}"))
    return sorted(name for name in found if not name.endswith(_SIDE_FILES))


def last_taken_id(path: Path) -> int:
    """The number above which message ids of a new file begin: 0; after a damaged file, above all its possible ids.

    A vector store may still hold vectors under those ids.
    """
    return time.time_ns() // 1_000_000 if names_set_aside(path) else 0


@dataclass(frozen=True, slots=True, eq=False)
class _Opened:
    """A connection with the identity of its file, as the path may name another file later."""

    connection: apsw.Connection
    identity: Identity | None


class _DamageFound(Exception):
    """The file of that identity is damaged."""

    def __init__(self, cause: Exception, identity: Identity | None) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.identity = identity


class SharedFile:
    """Thread-safe: one connection for each working thread; up to `most_idle` idle connections stay open.

    `connect` opens the file, creates it if missing and migrates it; its folder exists and is locked meanwhile. `mend`
    is called with the error and the identity of the damaged file, when this object has no idle connection, and the
    work is then tried once more; it raises damage that it does not mend. Without `mend` damage is raised; with
    `mends_on_opening` so is damage found later. `waits_s` are pauses in seconds before further tries at a busy file,
    each varied by up to a quarter. `IN_MEMORY` in place of a path is for one thread at a time.
    """

    def __init__(
        self,
        path: Path,
        connect: Callable[[Path], apsw.Connection],
        *,
        mend: Mend | None = None,
        mends_on_opening: bool = False,
        waits_s: Sequence[float] = (),
        most_idle: int = 1,
        open_sql: OpenSql = SqliteSql,
    ) -> None:
        """Opens the file at once."""
        self.path = path
        self.name = str(path)
        self._file = None if path == IN_MEMORY else Path(os.path.abspath(path))  # before any chdir
        self._connect = connect
        self._open_sql = open_sql
        self._mend = mend
        self._waits_s = waits_s
        self._most_idle = most_idle
        self._idle: list[_Opened] = []
        self._lock = threading.Lock()
        self.writes = 0  # by this object so far, never less
        self._closed = False
        self._busy_ms = 0
        self._owes_log = False  # deleted text may be in it, which a reader kept there
        if self._file is not None:
            _EVERY.add(self)
        self._run(lambda connection: None)
        if mends_on_opening:
            self._mend = None

    def read(self, work: Callable[[Sql], T]) -> T:
        """The result of `work` over one snapshot."""
        return self._run(partial(self._within, work, reads=True))

    def write(self, work: Callable[[Sql], T]) -> T:
        """The result of `work` in one transaction, which is rolled back when it raises."""
        try:
            return self._run(partial(self._within, work, reads=False))
        finally:
            self.writes += 1

    def enter(self, sql: Sql) -> Sql:
        """The transaction itself: a file has one scope, or none."""
        return sql

    def count(self, sql: Sql, added: LogAmounts) -> None:
        """Nothing: the rows of a file are few enough to be counted."""

    def turn(self) -> None:
        """None: the file is one user's."""

    def epoch(self) -> str:
        """The identity of the file, another one after a replacement; "" without a file. Raises OSError."""
        identity = identity_of(self.path)
        return "" if identity is None else "{} {}".format(*identity)

    def empty_log(self) -> None:
        """Write the log back and truncate it: deleted content is then nowhere on disk.

        While others read, the log stays. The first of this object's readers and writers that ends behind them empties
        it, or the last close of the file.
        """
        self._run(partial(self._checkpoint, patience_ms=_LOG_BUSY_MS))

    def rewrite(self) -> None:
        """Write the file anew, as other programs may have deleted from it without overwriting; then empty the log."""
        self._run(lambda connection: connection.execute("VACUUM").fetchall())
        self.empty_log()

    def close(self) -> None:
        """Close idle connections now, and those in use when their work ends. May be called again."""
        with storage_errors(self.path):
            self._closed = True
            self.close_idle()

    def close_idle(self) -> None:
        """Close the connections that no thread is using."""
        with self._lock:
            while self._idle:
                self._idle.pop().connection.close()

    def renew_lock(self) -> None:
        """Replace the lock in a forked process: the thread that may have held it does not exist there."""
        self._lock = threading.Lock()

    def _checkpoint(self, connection: apsw.Connection, patience_ms: int) -> None:
        connection.set_busy_timeout(patience_ms)
        try:
            ((is_held, *_),) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            self._owes_log = bool(is_held)
        finally:
            connection.set_busy_timeout(self._busy_ms)

    def _run(self, work: Callable[[apsw.Connection], T]) -> T:
        try:
            outcome = self._run_and_mend(work)
        except _FOREIGN as exc:
            raise unavailable(self.path, exc) from exc
        if self._owes_log:
            with suppress(Exception):  # the work is done; the log is emptied behind another
                self._once(partial(self._checkpoint, patience_ms=0))
        return outcome

    def _run_and_mend(self, work: Callable[[apsw.Connection], T]) -> T:
        try:
            return self._run_with_retries(work)
        except _DamageFound as exc:
            if self._mend is None:
                raise exc.cause from None
            self.close_idle()
            self._mend(self._file or self.path, exc.cause, exc.identity)
        try:
            return self._run_with_retries(work)
        except _DamageFound as exc:
            raise damage_error(self.path, str(exc)) from exc.cause

    def _run_with_retries(self, work: Callable[[apsw.Connection], T]) -> T:
        for wait_s in self._waits_s:
            try:
                return self._once(work)
            except _BUSY:
                time.sleep(wait_s * random.uniform(0.75, 1.25))
        try:
            return self._once(work)
        except _BUSY as exc:
            tries = f" through {len(self._waits_s) + 1} tries" if self._waits_s else ""
            raise StorageBusyError(
                f"{self.path} is busy: others held it{tries} ({exc}). Try again, and look for a program that keeps a "
                "transaction open."
            ) from exc

    def _once(self, work: Callable[[apsw.Connection], T]) -> T:
        opened = self._take_connection()
        try:
            outcome = work(opened.connection)
        except _DAMAGE as exc:
            with suppress(apsw.Error):  # the damage is raised
                opened.connection.close()
            raise _DamageFound(exc, opened.identity) from exc
        except BaseException:
            self._give_back(opened)
            raise
        self._give_back(opened)
        return outcome

    def _take_connection(self) -> _Opened:
        if self._closed:
            raise StorageUnavailable(f"{self.path} was closed by this program. Open it again to read or write.")
        identity = self._file and identity_of(self._file)
        while True:
            with self._lock:
                opened = self._idle.pop() if self._idle else None
            if opened is None:
                return self._open_connection()
            if opened.identity == identity:
                return opened
            opened.connection.close()

    def _open_connection(self) -> _Opened:
        if self._file is None:
            return _Opened(self._connect(self.path), None)
        for folder in reversed((self._file.parent, *self._file.parent.parents)):
            prepare_folder(folder)  # one by one, so that each name is synced
        with hold_folder_lock(self._file.parent):
            identity = identity_of(self._file)
            try:
                connection = self._connect(self._file)
            except _DAMAGE as exc:
                raise _DamageFound(exc, identity) from exc
            self._busy_ms = connection.pragma("busy_timeout")
            return _Opened(connection, identity or identity_of(self._file))

    def _give_back(self, opened: _Opened) -> None:
        with self._lock:
            if not self._closed and len(self._idle) < self._most_idle:
                self._idle.append(opened)
                return
        opened.connection.close()

    def _within(self, work: Callable[[Sql], T], connection: apsw.Connection, *, reads: bool) -> T:
        with transaction(connection, reads=reads):
            return work(self._open_sql(connection))


_EVERY: weakref.WeakSet[SharedFile] = weakref.WeakSet()


def _before_fork() -> None:
    """Prepare a fork. SQLite's locks do not survive it: a child that inherits an open file could corrupt it."""
    for file in list(_EVERY):
        file.close_idle()


def _in_child() -> None:
    for file in list(_EVERY):
        file.renew_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_in_child)

_: type[ScopedEngine] = SharedFile  # checked, never run
