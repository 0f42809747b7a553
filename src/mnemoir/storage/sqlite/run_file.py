"""The file of run traces: private, and less precious than memories.

A commit is not synced, so a loss of power may take the last traces with it, never the file. A file that is damaged
is begun anew, and the log says so: traces are there to be looked at for a week, and no server stands still for them.
"""

from collections.abc import Callable
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import TypeVar

import apsw
import structlog

from mnemoir.storage.sqlite.data_file import beside, create, make_private, prepare_folder, refuse_other_schemas
from mnemoir.storage.sqlite.failures import storage_errors
from mnemoir.storage.sqlite.readers import BUSY_MS
from mnemoir.storage.sqlite.schema import Step, migrate

T = TypeVar("T")
_log = structlog.get_logger(__name__)
_DAMAGE = (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError)
_PRAGMAS = {
    "synchronous": "NORMAL",
    "secure_delete": 1,  # traces hold what people said
    "journal_size_limit": 8 * 2**20,
}


class RunFile:
    """One connection, for one thread at a time. Every method raises StorageUnavailable when the disk refuses."""

    def __init__(self, path: Path) -> None:
        """Also raises StorageUnavailable for the database of another program, or of a newer Mnemoir."""
        self.path = path
        with storage_errors(path, OSError):
            prepare_folder(path.parent)
            try:
                self._connection = _opened(path)
            except _DAMAGE as exc:
                self._connection = _begun_anew(path, exc)

    def run(self, work: Callable[[apsw.Connection], T]) -> T:
        """What `work` gives, in one transaction; over a file begun anew, when this one turns out damaged."""
        with storage_errors(self.path, OSError):
            try:
                return self._in_transaction(work)
            except _DAMAGE as exc:
                self._close()
                self._connection = _begun_anew(self.path, exc)
                return self._in_transaction(work)

    def empty_log(self) -> None:
        """Write the log back and cut it to nothing: what was removed is then nowhere on disk."""
        with storage_errors(self.path):
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Write the log back and let go of the file."""
        with storage_errors(self.path):
            self._connection.close()

    def _in_transaction(self, work: Callable[[apsw.Connection], T]) -> T:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            outcome = work(self._connection)
            self._connection.execute("COMMIT")
        except BaseException:
            with suppress(apsw.Error):  # the failure that led here is raised; a transaction is over even so
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
            raise
        return outcome

    def _close(self) -> None:
        with suppress(apsw.Error):  # the damage is known
            self._connection.close()


def known_run_steps() -> list[Step]:
    """Every step of this file's schema, in order."""
    folder = files("mnemoir.storage.sqlite") / "migrations/runs"
    names = ("runs", "figures")
    return [
        Step(number=number, name=name, sql=(folder / f"{number:04}_{name}.sql").read_text("utf-8"))
        for number, name in enumerate(names, 1)
    ]


def _opened(path: Path) -> apsw.Connection:
    steps = known_run_steps()
    if not path.exists():
        create(path, steps)
    make_private(path)
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.set_busy_timeout(BUSY_MS)
        connection.pragma("journal_mode", "wal")
        for name, value in _PRAGMAS.items():
            connection.pragma(name, value)
        refuse_other_schemas(path, connection, steps)
        migrate(connection, steps)
    except BaseException:
        connection.close()
        raise
    return connection


def _begun_anew(path: Path, cause: Exception) -> apsw.Connection:
    _log.error("run traces damaged", file=str(path), error=str(cause), now="begun anew")
    for file in (path, beside(path, "-wal"), beside(path, "-shm")):
        file.unlink(missing_ok=True)
    return _opened(path)
