"""The blocking shell: transactions over one SQLite file that other threads and processes may have open too.

Each piece of work is one transaction and may run again, whole: when the file is busy, and when damage was mended.
Only SQLite opens the file, for closing another descriptor of it would give up every lock that this process has on it.
"""

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import apsw

from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.sql.engine import Damaged, FileEngine, Sql
from mnemoir.storage.sqlite.failures import damaged, storage_errors
from mnemoir.storage.sqlite.transactions import SqliteSql, transaction

T = TypeVar("T")
DAMAGE = (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError, Damaged)
_BUSY = (apsw.BusyError, apsw.LockedError)


class SharedFile:
    """Thread-safe: a connection for each thread at work, of which `most_idle` stay open behind it.

    `connect` opens the file, makes it when there is none and brings it to its schema. `mend` is called with damage
    that was found, when no connection of this object is idle, and the work is tried once more after it; without it
    damage is raised. `waits_s` are pauses before further tries at a busy file, each a quarter shorter or longer.
    """

    def __init__(
        self,
        path: Path,
        connect: Callable[[Path], apsw.Connection],
        *,
        mend: Callable[[Path, Exception], None] | None = None,
        waits_s: Sequence[float] = (),
        most_idle: int = 1,
    ) -> None:
        """Opens the file at once."""
        self.path = path
        self._connect = connect
        self._mend = mend
        self._waits_s = waits_s
        self._most_idle = most_idle
        self._idle: list[apsw.Connection] = []
        self._lock = threading.Lock()
        self._closed = False
        self._run(lambda connection: None)

    def read(self, work: Callable[[Sql], T]) -> T:
        """What `work` gives over one snapshot."""
        return self._run(lambda connection: _within(connection, work, reads=True))

    def write(self, work: Callable[[Sql], T]) -> T:
        """What `work` gives, in one transaction; nothing of it is written when it raises."""
        return self._run(lambda connection: _within(connection, work, reads=False))

    def empty_log(self) -> None:
        """Write the log back and cut it to nothing: what was removed is then nowhere on disk."""
        self._run(lambda connection: connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall())

    def close(self) -> None:
        """Close what is idle, and what is in use as soon as its work ends. May be called again."""
        with storage_errors(self.path):
            self._closed = True
            self._close_idle()

    def _run(self, work: Callable[[apsw.Connection], T]) -> T:
        with storage_errors(self.path, OSError):
            try:
                return self._tried(work)
            except DAMAGE as exc:
                if self._mend is None:
                    raise
                self._close_idle()
                self._mend(self.path, exc)
            try:
                return self._tried(work)
            except DAMAGE as exc:
                raise damaged(self.path, str(exc)) from exc

    def _tried(self, work: Callable[[apsw.Connection], T]) -> T:
        for wait_s in self._waits_s:
            with suppress(*_BUSY), self._connection() as connection:
                return work(connection)
            time.sleep(wait_s * random.uniform(0.75, 1.25))
        with self._connection() as connection:
            return work(connection)

    @contextmanager
    def _connection(self) -> Iterator[apsw.Connection]:
        if self._closed:
            raise StorageUnavailable(f"{self.path} is closed: the program is stopping.")
        with self._lock:
            idle = self._idle.pop() if self._idle else None
        connection = self._connect(self.path) if idle is None else idle
        try:
            yield connection
        except DAMAGE:
            with suppress(apsw.Error):  # the damage is raised
                connection.close()
            raise
        except BaseException:
            self._give_back(connection)
            raise
        self._give_back(connection)

    def _give_back(self, connection: apsw.Connection) -> None:
        with self._lock:
            if not self._closed and len(self._idle) < self._most_idle:
                self._idle.append(connection)
                return
        connection.close()

    def _close_idle(self) -> None:
        with self._lock:
            while self._idle:
                self._idle.pop().close()


def _within(connection: apsw.Connection, work: Callable[[Sql], T], *, reads: bool) -> T:
    with transaction(connection, reads=reads):
        return work(SqliteSql(connection))


_: type[FileEngine] = SharedFile  # checked, never run
