"""Tables that several processes change, where each of them soon notices what another one changed.

Whoever writes takes the row of their number first: so writers wait for each other, as they do over a file, and what
one of them read in its transaction stays true until it ends.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.postgres.engine import SharedTables, open_postgres, open_shared_tables
from mnemoir.storage.postgres.pool import Pool
from mnemoir.storage.postgres.sealed_sql import OpenSql
from mnemoir.storage.postgres.versions import Followed, count_change
from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sqlite.membership import Membership

__all__ = ["Pool", "WatchedTables", "open_postgres", "open_shared_tables", "open_watched_tables"]

T = TypeVar("T")


def open_watched_tables(
    dsn: str | Pool, membership: Membership | None = None, *, subject: str = "access"
) -> "WatchedTables":
    """The same database as of `open_shared_tables`, for the tables of one subject: of who may call, or others."""
    pool = Pool(dsn) if isinstance(dsn, str) else dsn
    _, open_sql = pool.prepare(membership, None)
    return WatchedTables(pool, open_sql, subject)


class WatchedTables(SharedTables):
    """The tables of a subject."""

    is_remote = True

    def __init__(self, pool: Pool, open_sql: OpenSql, subject: str) -> None:
        super().__init__(pool, open_sql)
        self._subject = subject
        self.writes = 0
        self._followed: Followed | None = None

    def follow(self, on_change: Callable[[], None]) -> None:
        """Call it now, in this thread, and behind each change. Raises StorageUnavailable, and then closes these."""
        try:
            self._followed = self._pool.versions.follow(self._subject, on_change)
        except BaseException:
            super().close()
            raise

    def write(self, work: Callable[[Sql], T]) -> T:
        """The result of `work` in a transaction that no other writer of these tables runs beside."""

        def change(sql: Sql) -> T:
            number = count_change(sql, self._subject)
            if self._followed is not None:
                self._followed.refuse_before(number - 1)
            return work(sql)

        try:
            result = super().write(change)
        finally:
            self.writes += 1
        with suppress(StorageUnavailable):  # it is written; whoever asks is told so
            self._pool.versions.look()
        return result

    def state(self, *, now: bool = False) -> object:
        """The number, as the thread read it last, or as it is `now`, which blocks.

        Raises StorageUnavailable while the database gives no answer: at once, as the thread sees when it is back.
        """
        if self._followed is None:
            return None
        self._followed.check()
        if now:
            self._pool.versions.look()
            self._followed.check()
        return self._followed.number

    def refuse_loss(self, *, was_open: bool) -> None:
        """Nothing: each connection asks whose database it is."""

    def open(self) -> "WatchedTables":
        """These."""
        return self

    def close(self) -> None:
        """Close them. May be called again."""
        if self._followed is not None:
            self._pool.versions.leave(self._followed)
        super().close()
