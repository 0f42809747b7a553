"""How many conversations and messages a user's file holds, without opening what belongs to conversations.

A file that has not changed since it was counted is not opened again: of a thousand users few are there at a time.
"""

from dataclasses import dataclass
from pathlib import Path

import apsw

from mnemoir.storage.sql.conversations.vector_notes import SPACES
from mnemoir.storage.sql.queries import queries
from mnemoir.storage.sqlite.data_file import beside
from mnemoir.storage.sqlite.failures import FOREIGN
from mnemoir.storage.sqlite.readers import BUSY_MS

_QUERIES = queries("sessions/vectors")
_Stamp = tuple[tuple[int, int], tuple[int, int]]  # the database, its log


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What a file holds. Of its `messages`, `embeddable` say something, and `embedded` of those have a vector."""

    conversations: int = 0
    messages: int = 0
    embeddable: int = 0
    embedded: int = 0


class Census:
    """For one thread at a time. `model` is whose vectors count; None for those of any."""

    def __init__(self, model: str | None) -> None:
        self._model = model
        self._known: dict[Path, tuple[_Stamp, Counted]] = {}

    def known(self, file: Path) -> Counted | None:
        """What it held when it was counted last, if it has not changed since. Raises OSError."""
        stamp, counted = self._known.get(file, (None, None))
        return counted if stamp is not None and stamp == _stamp(file) else None

    def count(self, file: Path) -> Counted | None:
        """What it holds now; None for one that cannot be read. Nobody may take its folder away meanwhile."""
        try:
            stamp = _stamp(file)
            counted = self._look(file)
        except (*FOREIGN, OSError):
            self._known.pop(file, None)
            return None
        self._known[file] = stamp, counted
        return counted

    def forget_others(self, files: set[Path]) -> None:
        """Keep nothing of files that are not among these."""
        for file in self._known.keys() - files:
            del self._known[file]

    def _look(self, file: Path) -> Counted:
        # one that may write: a reader that comes alone would leave a log and its index behind
        connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.set_busy_timeout(BUSY_MS)
            ((conversations,),) = connection.execute(_QUERIES["sessions"])
            ((messages, embeddable, embedded),) = connection.execute(
                _QUERIES["progress"], {"model": self._model, "spaces": SPACES}
            )
        finally:
            connection.close()
        return Counted(conversations=conversations, messages=messages, embeddable=embeddable, embedded=embedded)


def _stamp(file: Path) -> _Stamp:
    found = file.stat()
    try:
        log = beside(file, "-wal").stat()
    except FileNotFoundError:
        return (found.st_mtime_ns, found.st_size), (0, 0)
    return (found.st_mtime_ns, found.st_size), (log.st_mtime_ns, log.st_size)
