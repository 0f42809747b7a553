"""The connections of an engine, one for each of its threads, and how long they may take.

A connection is opened when its thread first needs it, and again once it broke. After some seconds without an answer
the thread looks whether the server takes new connections: one that has stopped, or from which nothing comes any more,
is given up at once, and a slow statement of one that is well may go on to its own limit.
"""

import threading
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from typing import Any, TypeVar

import psycopg
from psycopg import errors

from mnemoir.storage.postgres.transactions import Connection, set_up

V = TypeVar("V")
STATEMENT_S = 30  # the database's own limit of a statement
WAIT_S = 5.0  # for a connection
LOCK_S = 5  # the database's own limit for a lock that somebody else has
_ANSWER_S = STATEMENT_S + 2.0  # for an answer from a server that is well
_LOOK_EACH_S = 3.0  # without an answer
_INTERVAL_S = 0.1
_TRY_AGAIN_S = 0.2  # while a connection is waited for
_AWAY_S = 1.0  # for which a database that was away is not asked again
_PARAMETERS: dict[str, Any] = {
    "connect_timeout": 3,
    "keepalives_idle": 5,
    "tcp_user_timeout": 7000,
    "client_encoding": "utf8",
}
_LOOK = {**_PARAMETERS, "connect_timeout": 2}


class NoAnswer(psycopg.OperationalError):
    """The server gave no answer in time; whether it did what was asked is not known. The connection is closed."""


class _LimitedConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection whose server must answer in time. Raises NoAnswer."""

    owner: "Connections"

    def wait(self, gen: Generator[Any, Any, V], interval: float = _INTERVAL_S, timeout: float | None = None) -> V:
        """Wait for an answer, as every use of the connection does."""
        try:
            return super().wait(self._in_time(gen), interval, timeout)
        except NoAnswer:
            self.close()
            raise

    def _in_time(self, gen: Generator[Any, Any, V]) -> Generator[Any, Any, V]:
        asked_at = looked_at = time.monotonic()
        try:
            state = next(gen)
            while True:
                ready = yield state
                if not ready and (now := time.monotonic()) - looked_at >= _LOOK_EACH_S:
                    if now - asked_at >= _ANSWER_S or not self.owner.is_there():
                        raise NoAnswer(f"no answer came within {time.monotonic() - asked_at:.0f} seconds")
                    looked_at = time.monotonic()
                state = gen.send(ready)
        except StopIteration as end:
            value: V = end.value
            return value


class Connections:
    """Connections to one database. For use by any thread."""

    def __init__(self, dsn: str, refuse_another: Callable[[Connection], None] = lambda _: None) -> None:
        """`refuse_another` raises for a new connection that leads to another database than the one before."""
        self._dsn = dsn
        self._refuse_another = refuse_another
        self._own = threading.local()
        self._open: set[Connection] = set()
        self._entry = threading.Lock()
        self._away: tuple[float, psycopg.OperationalError] | None = None  # until when, and why
        self._looking = threading.Lock()
        self._looked_at = float("-inf")
        self._was_there = True

    def of_thread(self, until: float) -> Connection:
        """The thread's connection; a new one is tried for until that monotonic time. Raises OperationalError."""
        held: Connection | None = getattr(self._own, "connection", None)
        if held is None or held.closed:
            if held is not None:
                self._drop(held)
            held = self._own.connection = self._new_connection(until)
        return held

    def note_lost(self, cause: psycopg.OperationalError) -> None:
        """The database gave no answer: for a moment nobody else waits for a connection to it."""
        self._away = time.monotonic() + _AWAY_S, cause

    def is_there(self) -> bool:
        """False when the database takes no new connection, as of a second ago. Blocks for two seconds at most."""
        with self._looking:
            if time.monotonic() - self._looked_at > 1.0:
                try:
                    psycopg.connect(self._dsn, **_LOOK).close()
                    self._was_there = True
                except psycopg.OperationalError as exc:  # one that refuses is there
                    self._was_there = not isinstance(exc, errors.ConnectionTimeout)
                self._looked_at = time.monotonic()
            return self._was_there

    def close(self) -> None:
        """Close all of them. No thread may use one."""
        with self._entry:
            while self._open:
                self._open.pop().close()

    def _new_connection(self, until: float) -> Connection:
        """A new connection. While the database is known to be away one try is enough, and one each second."""
        away = self._away
        if away is not None and time.monotonic() < away[0]:
            raise away[1]
        while True:
            try:
                connection = self._connect()
            except psycopg.OperationalError as exc:
                self.note_lost(exc)
                if away is not None or time.monotonic() + _TRY_AGAIN_S >= until:
                    raise
                time.sleep(_TRY_AGAIN_S)
                continue
            self._away = None
            with self._entry:
                self._open.add(connection)
            return connection

    def _connect(self) -> Connection:
        connection = _LimitedConnection.connect(self._dsn, autocommit=True, **_PARAMETERS)
        try:
            connection.owner = self
            set_up(connection)
            self._refuse_another(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _drop(self, connection: Connection) -> None:
        with self._entry:
            self._open.discard(connection)
        with suppress(psycopg.Error):
            connection.close()
