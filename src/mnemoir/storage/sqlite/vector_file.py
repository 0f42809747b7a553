"""Opening of a file of vectors, or of vectors in memory."""

import os
from pathlib import Path
from typing import Literal

import apsw
import structlog

from mnemoir.core.errors import StorageUnavailable
from mnemoir.core.ids import new_request_id
from mnemoir.storage.sql.queries import queries
from mnemoir.storage.sqlite.setting_aside import Identity, set_aside
from mnemoir.storage.sqlite.shared_file import IN_MEMORY, SharedFile
from mnemoir.storage.sqlite.transactions import transaction

_BUSY_MS = 10_000
_NEW = os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_QUERIES = queries("vectors/vectors")
_log = structlog.get_logger(__name__)


def open_vector_file(path: Path | None, on_corruption: Literal["raise", "set_aside"]) -> SharedFile:
    """Open the file, created if missing; in memory for None. Damage found later is raised in either mode.

    Raises StorageUnavailable, also for another program's file.
    """
    mend = _set_aside if on_corruption == "set_aside" else None
    return SharedFile(path or IN_MEMORY, _connected, mend=mend, mends_on_opening=True)


def _set_aside(path: Path, cause: Exception, damaged: Identity | None) -> None:
    kept_as = set_aside(path, damaged)
    _log.error("vector file damaged", file=str(path), cause=str(cause), kept_as=kept_as and kept_as.name)


def _connected(path: Path) -> apsw.Connection:
    if path != IN_MEMORY and not path.exists():
        os.close(os.open(path, _NEW, 0o600))
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.set_busy_timeout(_BUSY_MS)
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "FULL")
        connection.pragma("secure_delete", 1)
        connection.pragma("journal_size_limit", 16 * 2**20)
        with transaction(connection):
            _make_tables(path, connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _make_tables(path: Path, connection: apsw.Connection) -> None:
    tables = {name for (name,) in connection.execute(_QUERIES["tables"])}
    if not tables:
        connection.execute(_QUERIES["schema"])
        connection.execute(_QUERIES["first_state"], {"epoch": new_request_id()})
    elif not {"vectors", "state"} <= tables:
        raise StorageUnavailable(f"{path} is another program's file. Choose another directory or collection.")
