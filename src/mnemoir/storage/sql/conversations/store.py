"""What all parts of the store of sessions have: the file, the clock, and reading by one query."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from mnemoir.core.clock import Clock
from mnemoir.core.conversations import SessionExistsError
from mnemoir.storage.sql.conversations.rows import Row, time_text
from mnemoir.storage.sql.engine import FileEngine, Sql, Value

T = TypeVar("T")

_MOST = 2**62  # a database takes any 64-bit number; a caller's may be larger


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
        """What a query gives that writes."""
        return self._file.write(lambda sql: sql.rows(query, **values))


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """A transaction that is open already, as a file: what is read and written is part of it."""

    path: Path
    sql: Sql

    def write(self, work: Callable[[Sql], T]) -> T:
        """What `work` gives; the transaction goes on."""
        return work(self.sql)

    read = write

    def empty_log(self) -> None:
        """Nothing: the file's own log is emptied behind the transaction."""

    def close(self) -> None:
        """Nothing: it is whoever began the transaction who ends it."""


_: type[FileEngine] = Transaction  # checked, never run


def taken(session_id: str) -> SessionExistsError:
    """The error for an id that another session has."""
    return SessionExistsError(
        f"There is a session {session_id!r:.80} already. Choose another id, or go on with that one."
    )


def clamped(number: int) -> int:
    """A limit, an offset or an id that a database takes as it is meant: no message has one that is cut."""
    return max(0, min(number, _MOST))
