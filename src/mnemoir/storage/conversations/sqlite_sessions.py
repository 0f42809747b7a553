"""Session memory in one SQLite file, shared by threads and processes: `MemoryStorage`."""

from pathlib import Path
from types import TracebackType
from typing import Self

from mnemoir.core.clock import Clock, utc_now
from mnemoir.ports.log import Log
from mnemoir.storage.sealing.cells import OwnCells
from mnemoir.storage.sql.conversations.log import SqlLog
from mnemoir.storage.sqlite.conversation_file import OnCorruption, open_conversation_file
from mnemoir.storage.sqlite.membership import Membership


class MemoryStorage(SqlLog):
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
        self._cells = cells
        self._membership = membership
        self.db_path = Path(db_path).expanduser()
        super().__init__(
            open_conversation_file(
                self.db_path, synced=synced, on_corruption=on_corruption, cells=cells, membership=membership
            ),
            clock,
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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


_: type[Log] = MemoryStorage  # checked, never run
