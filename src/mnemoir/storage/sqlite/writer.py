"""The one writer: a thread that commits all waiting work together.

A durable commit costs a sync of the disk, whether it holds one write or a hundred. So all waiting work goes into one
transaction, each piece in its own savepoint: a piece that fails is rolled back alone. No caller gets a result before
the transaction is on disk.
"""

import asyncio
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import apsw

from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.sql.cells import Codec
from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sqlite.transactions import FOREIGN, SqliteSql, opens_cells, transaction, unavailable

Work = Callable[[Sql], Any]  # its result goes unchanged to its own caller
_MOST_TOGETHER = 512  # bounds how long the first of a batch waits for the last


@dataclass(frozen=True, slots=True)
class _Waiting:
    work: Work
    future: asyncio.Future[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    value: Any = None
    error: Exception | None = None


class Writer:
    """Owns the writing connection from its start to the end of `stop`."""

    def __init__(self, connection: apsw.Connection, path: Path, codec: Codec | None = None) -> None:
        self._connection = connection
        self._sql = SqliteSql(connection, codec=codec)
        opens_cells(connection, codec)
        self._path = path
        self._queue: SimpleQueue[_Waiting | None] = SimpleQueue()
        self._entry = threading.Lock()
        self._stopped = False
        # A daemon, so that a program that forgot to close still ends; that is no worse than a kill.
        self._thread = threading.Thread(target=self._run, name="sqlite-writer", daemon=True)
        self._thread.start()

    def put(self, work: Work, future: asyncio.Future[Any]) -> None:
        """Queue `work`; its outcome goes to `future`. Raises StorageUnavailable when stopped."""
        with self._entry:
            if self._stopped:
                raise StorageUnavailable(f"{self._path} is closed: the program is stopping.")
            self._queue.put(_Waiting(work, future))

    def stop(self) -> None:
        """Finish the queued work and end the thread. Blocks; may be called again."""
        with self._entry:
            if not self._stopped:
                self._stopped = True
                self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (first := self._queue.get()) is not None:
            batch, is_last = self._with_waiting(first)
            _answer(batch, self._commit(batch))
            if is_last:
                return

    def _with_waiting(self, first: _Waiting) -> tuple[list[_Waiting], bool]:
        """`first` with the work that waits behind it, and True when the end of the queue was reached."""
        batch = [first]
        with suppress(Empty):
            while len(batch) < _MOST_TOGETHER:
                following = self._queue.get_nowait()
                if following is None:
                    return batch, True
                batch.append(following)
        return batch, False

    def _commit(self, batch: Sequence[_Waiting]) -> Sequence[_Outcome]:
        try:
            with transaction(self._connection):
                return [self._attempt(waiting) for waiting in batch]
        except apsw.Error as exc:
            return [_Outcome(error=_caused(unavailable(self._path, exc), exc)) for _ in batch]

    def _attempt(self, waiting: _Waiting) -> _Outcome:
        """The outcome of one piece of work. Raises apsw.Error when its failure ended the whole transaction."""
        if waiting.future.cancelled():
            return _Outcome()
        self._connection.execute("SAVEPOINT piece")
        try:
            outcome = _Outcome(value=waiting.work(self._sql))
        except Exception as exc:  # any error is raised again in the waiting caller
            if isinstance(exc, apsw.Error) and not self._connection.in_transaction:
                raise
            self._connection.execute("ROLLBACK TO piece")
            outcome = _Outcome(error=self._translated(exc))
        self._connection.execute("RELEASE piece")
        return outcome

    def _translated(self, exc: Exception) -> Exception:
        return _caused(unavailable(self._path, exc), exc) if isinstance(exc, FOREIGN) else exc


def _caused(error: StorageUnavailable, cause: Exception) -> StorageUnavailable:
    error.__cause__ = cause
    return error


def _answer(batch: Sequence[_Waiting], outcomes: Sequence[_Outcome]) -> None:
    """Deliver the outcomes with one wake-up per event loop: a wake-up costs more than a small write."""
    of_loop: defaultdict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], _Outcome]]] = defaultdict(list)
    for waiting, outcome in zip(batch, outcomes, strict=True):
        of_loop[waiting.future.get_loop()].append((waiting.future, outcome))
    for loop, answers in of_loop.items():
        with suppress(RuntimeError):  # the loop was closed: no caller is waiting
            loop.call_soon_threadsafe(_settle, answers)


def _settle(answers: Sequence[tuple[asyncio.Future[Any], _Outcome]]) -> None:
    for future, outcome in answers:
        if future.done():
            continue
        if outcome.error is not None:
            future.set_exception(outcome.error)
        else:
            future.set_result(outcome.value)
