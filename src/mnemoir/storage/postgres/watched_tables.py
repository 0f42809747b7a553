"""Tables that several processes change, where each of them soon notices what another one changed.

A number in the database grows with each change. Whoever writes takes its row first: so writers wait for each other,
as they do over a file, and what one of them read in its transaction stays true until it ends.
"""

import threading
from collections.abc import Callable
from typing import TypeVar

from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.postgres.engine import SharedTables, open_postgres, open_shared_tables
from mnemoir.storage.postgres.pool import Pool
from mnemoir.storage.postgres.sealed_sql import OpenSql
from mnemoir.storage.sql.engine import Sql, queries
from mnemoir.storage.sqlite.membership import Membership

__all__ = ["Pool", "WatchedTables", "open_postgres", "open_shared_tables", "open_watched_tables"]

T = TypeVar("T")
_QUERIES = queries("access/versions")
_LOOKED_EVERY_S = 0.5


def open_watched_tables(dsn: str | Pool, membership: Membership | None = None) -> "WatchedTables":
    """The same database as of `open_shared_tables`, for the tables of who may call."""
    pool = Pool(dsn) if isinstance(dsn, str) else dsn
    _, open_sql = pool.prepare(membership, None)
    return WatchedTables(pool, open_sql)


class WatchedTables(SharedTables):
    """The tables of who may call. A thread reads the number twice a second; it ends when they are closed."""

    is_remote = True
    looked_every_s = 0.0  # what the thread found costs nothing

    def __init__(self, pool: Pool, open_sql: OpenSql) -> None:
        """Reads the number. Raises StorageUnavailable."""
        super().__init__(pool, open_sql)
        self.writes = 0
        self._entry = threading.Lock()
        self._number = 0
        self._failure: StorageUnavailable | None = None
        self._is_ending = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="access-version", daemon=True)
        try:
            self._read_number()
        except BaseException:
            super().close()
            raise
        self._thread.start()

    def write(self, work: Callable[[Sql], T]) -> T:
        """The result of `work` in a transaction that no other writer of these tables runs beside."""
        number = 0

        def change(sql: Sql) -> T:
            nonlocal number
            number = sql.value(_QUERIES["change"])
            return work(sql)

        try:
            result = super().write(change)
        finally:
            self.writes += 1
        self._note(number)
        return result

    def state(self, *, now: bool = False) -> object:
        """What every write by any process changes, as the thread read it last, or as it is `now`, which blocks.

        Raises StorageUnavailable while the database gives no answer.
        """
        if now:
            self._read_number()
        if self._failure is not None:
            raise self._failure
        return self._number

    def refuse_loss(self, *, was_open: bool) -> None:
        """Nothing: each connection asks whose database it is."""

    def open(self) -> "WatchedTables":
        """These."""
        return self

    def close(self) -> None:
        """Close them. May be called again."""
        self._is_ending.set()
        self._thread.join()
        super().close()

    def _watch(self) -> None:
        while not self._is_ending.wait(_LOOKED_EVERY_S):
            try:
                self._read_number()
            except StorageUnavailable as exc:
                self._failure = exc

    def _read_number(self) -> None:
        self._note(self.read(lambda sql: sql.value(_QUERIES["version"])) or 0)
        self._failure = None

    def _note(self, number: int) -> None:
        with self._entry:  # a look that began before a write may end behind it
            self._number = max(self._number, number)
