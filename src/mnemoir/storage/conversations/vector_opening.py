"""A file of vectors: where it lies, and how it is opened."""

import os
from pathlib import Path
from urllib.parse import quote

import apsw
import structlog

from mnemoir.core.errors import StorageUnavailable
from mnemoir.core.ids import new_request_id
from mnemoir.storage.conversations.setting_aside import identity_of, set_aside
from mnemoir.storage.conversations.vector_rows import QUERIES
from mnemoir.storage.sqlite.data_file import prepare_folder

BUSY_MS = 10_000

_log = structlog.get_logger(__name__)
_DAMAGE = (apsw.CorruptError, apsw.NotADBError)
_LOG_BYTES = 16 * 2**20
_NEW = os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC


def path_of(collection: str, directory: str | Path | None) -> Path | None:
    """Where a collection lies: a name of any characters gives a file in that directory and in no other."""
    if directory is None:
        return None
    name = quote(collection, safe=" ").replace(".", "%2E")
    return Path(os.path.abspath(Path(directory).expanduser())) / f"{name}.vectors.db"


def opened(path: Path | None) -> apsw.Connection:
    """A connection to the file, which is made if need be; in memory for None.

    Raises OSError, apsw.Error, and StorageUnavailable for another program's file.
    """
    if path is None:
        connection = apsw.Connection(":memory:")
    else:
        prepare_folder(path.parent)
        if not path.exists():
            os.close(os.open(path, _NEW, 0o600))
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.set_busy_timeout(BUSY_MS)
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "FULL")
        connection.pragma("secure_delete", 1)
        connection.pragma("journal_size_limit", _LOG_BYTES)
        _prepare(path, connection)
    except BaseException:
        connection.close()
        raise
    return connection


def opened_anew(path: Path | None) -> apsw.Connection:
    """The same; a file that is damaged so that it cannot be opened is set aside, and a new one opened."""
    identity = None if path is None else identity_of(path)
    try:
        return opened(path)
    except _DAMAGE as exc:
        if path is None:
            raise
        kept_as = set_aside(path, identity)
        _log.error("vector file damaged", file=str(path), cause=str(exc), kept_as=kept_as and kept_as.name)
        return opened(path)


def _prepare(path: Path | None, connection: apsw.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        tables = {name for (name,) in connection.execute(QUERIES["tables"])}
        if not tables:
            connection.execute(QUERIES["schema"])
            connection.execute(QUERIES["first_state"], {"epoch": new_request_id()})
        elif not {"vectors", "state"} <= tables:
            raise StorageUnavailable(f"{path} is another program's file. Choose another directory or collection.")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
