"""Session memory in one SQLite file, shared by threads and processes: `MemoryStorage`.

Related writes are one transaction: a message with its session's activity, a deletion with the notes of the vectors
that it leaves behind.
"""

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from mnemoir.core.clock import Clock, utc_now
from mnemoir.ports.log import Log
from mnemoir.storage.sealing.cells import OwnCells
from mnemoir.storage.sql.conversations.recalled import RecalledTables
from mnemoir.storage.sql.conversations.sessions import SessionTables
from mnemoir.storage.sql.conversations.store import Transaction
from mnemoir.storage.sql.conversations.trees import TreeTables
from mnemoir.storage.sql.conversations.vector_notes import VectorTables
from mnemoir.storage.sql.conversations.windows import WindowTables
from mnemoir.storage.sql.engine import OwnFile, Sql
from mnemoir.storage.sqlite.conversation_file import OnCorruption, open_conversation_file
from mnemoir.storage.sqlite.membership import Membership

T = TypeVar("T")


class MemoryStorage(SessionTables, WindowTables, TreeTables, VectorTables, RecalledTables):
    """Thread-safe; every method blocks and raises StorageUnavailable when the file cannot be read or written.

    StorageBusyError, one of those, means that others held it through all tries.
    """

    def __init__(
        self,
        db_path: str | Path,
        *,
        synced: bool = False,
        on_corruption: OnCorruption = "set_aside",
        clock: Clock = utc_now,
        cells: OwnCells | None = None,
        membership: Membership | None = None,
    ) -> None:
        """`~` is the home folder; a missing folder is created. `cells` encrypts the file.

        A `membership` says of which data directory it must be.

        `synced`: a save also survives a loss of power. A damaged file is renamed to `{name}.corrupt-{UTC}` and a new
        one created, unless `on_corruption` is "raise".
        """
        self._clock = clock
        self._cells = cells
        self._membership = membership
        path = Path(db_path).expanduser()
        self._file: OwnFile = open_conversation_file(
            path, synced=synced, on_corruption=on_corruption, cells=cells, membership=membership
        )

    def with_clock(self, clock: Clock) -> "MemoryStorage":
        """The same file opened again with another clock; each write is synced. The caller closes it."""
        return MemoryStorage(
            self.db_path,
            synced=True,
            on_corruption="raise",
            clock=clock,
            cells=self._cells,
            membership=self._membership,
        )

    def together(self, work: Callable[[Log], T]) -> T:
        """The result of `work`, which reads and writes in one transaction and may run again."""
        return self._file.write(lambda sql: work(_Within(self.db_path, sql, self._clock)))

    def close(self) -> None:
        """Close the file; nothing is read or written afterwards. A second call is harmless."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Within(MemoryStorage):
    """The storage within a transaction that is already open."""

    def __init__(self, path: Path, sql: Sql, clock: Clock) -> None:
        self._clock = clock
        self._file = Transaction(path=path, sql=sql)


_: type[Log] = MemoryStorage  # checked, never run
