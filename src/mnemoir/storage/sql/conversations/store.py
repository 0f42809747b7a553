"""The base class of the session store's parts: the file, the clock, and single queries."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from mnemoir.core.clock import Clock
from mnemoir.core.conversations import SessionExistsError
from mnemoir.storage.sql.conversations.rows import Row, time_text
from mnemoir.storage.sql.engine import FileEngine, Sql, Value

T = TypeVar("T")

_MOST = 2**62  # databases accept 64-bit numbers; a caller's may be larger


class Store:
    """Methods block, and raise StorageUnavailable when the file cannot be read or written."""

    _file: FileEngine
    _clock: Clock

    def _now(self) -> str:
        return time_text(self._clock())

    def _rows(self, query: str, **values: Value) -> list[Row]:
        return self._file.read(lambda sql: sql.rows(query, **values))

    def _row(self, query: str, **values: Value) -> Any:
        return self._file.read(lambda sql: sql.row(query, **values))

    def _change(self, query: str, **values: Value) -> list[Row]:
        """The rows of a writing query."""
        return self._file.write(lambda sql: sql.rows(query, **values))


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """An open transaction as a `FileEngine`: all reads and writes are part of it."""

    path: Path
    sql: Sql

    def write(self, work: Callable[[Sql], T]) -> T:
        """The result of `work`; the transaction stays open."""
        return work(self.sql)

    read = write

    def empty_log(self) -> None:
        """Does nothing: the file's log is emptied after the transaction."""

    def close(self) -> None:
        """Does nothing: the caller that began the transaction ends it."""


_: type[FileEngine] = Transaction  # checked, never run


def taken(session_id: str) -> SessionExistsError:
    """The error for an id that another session has."""
    return SessionExistsError(
        f"There is a session {session_id!r:.80} already. Choose another id, or go on with that one."
    )


def clamped(number: int) -> int:
    """A limit, an offset or an id, clamped to the numbers of a database; no message has an id beyond them."""
    return max(0, min(number, _MOST))
