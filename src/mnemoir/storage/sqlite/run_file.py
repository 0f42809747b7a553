"""The file of run traces: private, with weaker durability than memories.

A commit is not synced, so a loss of power may lose the last traces, never the file. A damaged file is replaced by a
new one with a log entry: traces are kept for a week for inspection, and must not stop a server.
"""

from pathlib import Path

import apsw
import structlog

from mnemoir.storage.sqlite.data_file import beside, create, make_private, refuse_other_schemas
from mnemoir.storage.sqlite.database import BUSY_MS
from mnemoir.storage.sqlite.schema import known_steps, migrate
from mnemoir.storage.sqlite.setting_aside import Identity, identity_of
from mnemoir.storage.sqlite.shared_file import SharedFile

_log = structlog.get_logger(__name__)
_PRAGMAS = {
    "synchronous": "NORMAL",
    "secure_delete": 1,  # traces contain messages of users
    "journal_size_limit": 8 * 2**20,
}


def open_run_file(path: Path) -> SharedFile:
    """Open the file and migrate it to this program's schema.

    Raises StorageUnavailable when the disk fails, and for the database of another program or of a newer Mnemoir.
    """
    return SharedFile(path, _connected, mend=_begin_anew)


def _connected(path: Path) -> apsw.Connection:
    steps = known_steps("runs")
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


def _begin_anew(path: Path, cause: Exception, damaged: Identity | None) -> None:
    if identity_of(path) != damaged:
        return  # another thread has done it
    _log.error("run traces damaged", file=str(path), error=str(cause), now="begun anew")
    for file in (path, beside(path, "-wal"), beside(path, "-shm")):
        file.unlink(missing_ok=True)
