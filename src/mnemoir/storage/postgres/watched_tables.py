"""Tables that several processes change, where each of them soon notices what another one changed.

A number in the database grows with each change. Whoever writes takes its row first: so writers wait for each other,
as they do over a file, and what one of them read in its transaction stays true until it ends.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from mnemoir.core.errors import StorageDamaged, StorageUnavailable
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
    """The tables of who may call. A thread reads the number twice a second, until they are closed."""

    is_remote = True

    def __init__(self, pool: Pool, open_sql: OpenSql) -> None:
        super().__init__(pool, open_sql)
        self.writes = 0
        self._entry = threading.Lock()  # nobody takes it on whom others wait
        self._number = -1
        self._on_change: Callable[[], None] = lambda: None
        self._noting: int | None = None  # the thread that reads what changed; it goes by no failure of before
        self._failure: StorageUnavailable | None = None
        self._is_ending = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="access-version", daemon=True)

    def follow(self, on_change: Callable[[], None]) -> None:
        """Call it now, in this thread, and behind each change. Raises StorageUnavailable, and then closes these."""
        self._on_change = on_change
        try:
            self._look()
        except BaseException:
            super().close()
            raise
        self._thread.start()

    def write(self, work: Callable[[Sql], T]) -> T:
        """The result of `work` in a transaction that no other writer of these tables runs beside."""

        def change(sql: Sql) -> T:
            self._refuse_before(sql.value(_QUERIES["change"]) - 1)
            return work(sql)

        try:
            result = super().write(change)
        finally:
            self.writes += 1
        with suppress(StorageUnavailable):  # it is written; whoever asks is told so
            self._look()
        return result

    def state(self, *, now: bool = False) -> object:
        """The number, as the thread read it last, or as it is `now`, which blocks.

        Raises StorageUnavailable while the database gives no answer: at once, as the thread sees when it is back.
        """
        if self._failure is not None and threading.get_ident() != self._noting:
            raise self._failure
        if now:
            self._look()
        return self._number

    def refuse_loss(self, *, was_open: bool) -> None:
        """Nothing: each connection asks whose database it is."""

    def open(self) -> "WatchedTables":
        """These."""
        return self

    def close(self) -> None:
        """Close them. May be called again."""
        self._is_ending.set()
        if self._thread.is_alive():
            self._thread.join()
        super().close()

    def _watch(self) -> None:
        while not self._is_ending.wait(_LOOKED_EVERY_S):
            with suppress(StorageUnavailable):  # whoever asks is told so
                self._look()

    def _look(self) -> None:
        try:
            with self._entry:
                number = self.read(lambda sql: sql.value(_QUERIES["version"])) or 0
                self._refuse_before(number)
                if number != self._number:
                    self._note_change()
                    self._number = number
        except StorageUnavailable as exc:
            self._failure = exc
            raise
        self._failure = None

    def _note_change(self) -> None:
        self._noting = threading.get_ident()
        try:
            self._on_change()
        finally:
            self._noting = None

    def _refuse_before(self, number: int) -> None:
        """Raise StorageDamaged for a number of before the one that was seen last."""
        if number < self._number:
            raise StorageDamaged(
                f"{self.name} is older than what this server saw of it (storage_damaged): another copy, such as a "
                "dump, was put in its place, so nobody is let in. Restart the server: then it erases again who was "
                "erased since."
            )
