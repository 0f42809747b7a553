"""Opening of the files of run traces, keys, workflow locks and vectors; each has its own rule for damage.

A commit of a trace is not synced, so a loss of power may lose the last traces, never the file. A damaged file of
traces is replaced by a new one with a log entry: traces are kept for a week for inspection, and must not stop a
server. A damaged file of keys is left as it is, and stops the start: a server without it would let everybody in, or
nobody. A file of vectors is set aside, or its damage is raised. Files of locks are read by other programs too, and
left as they are.
"""

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Literal

import apsw
import structlog

from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.disk_files import beside, loss_of, prepare_folder
from mnemoir.storage.sealing.cells import OwnCells
from mnemoir.storage.sql.engine import queries
from mnemoir.storage.sql.tables import VECTOR_FILE
from mnemoir.storage.sqlite.data_file import (
    create,
    known_steps,
    make_private,
    migrate,
    other_schema_error,
    reached_by_version,
    refuse_other_schemas,
    take_missing,
)
from mnemoir.storage.sqlite.database import BUSY_MS
from mnemoir.storage.sqlite.directory_identity import DirectoryIdentity
from mnemoir.storage.sqlite.membership import Membership
from mnemoir.storage.sqlite.own_sealing import begin_sealing
from mnemoir.storage.sqlite.sealed_sql import sealing_own
from mnemoir.storage.sqlite.shared_file import IN_MEMORY, Identity, SharedFile, identity_of, set_aside
from mnemoir.storage.sqlite.transactions import OpenSql, SqliteSql, transaction

_log = structlog.get_logger(__name__)
_PRAGMAS: Mapping[str, str | int] = {
    "synchronous": "NORMAL",
    "secure_delete": 1,  # traces contain messages of users
    "journal_size_limit": 8 * 2**20,
}
_KEY_PRAGMAS: Mapping[str, str | int] = {"synchronous": "FULL", "secure_delete": 1}
_NEW_LOCK_FILE = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_VECTOR_BUSY_MS = 10_000
_NEW_VECTOR_FILE = os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_QUERIES = queries("vectors/vectors")


def open_run_file(path: Path, open_sql: OpenSql = SqliteSql) -> SharedFile:
    """Open the file and migrate it to this program's schema. `open_sql` may encrypt its cells.

    Raises StorageUnavailable when the disk fails, and for the database of another program or with another schema.
    """
    return SharedFile(path, partial(_connection, "runs", _PRAGMAS), mend=_begin_runs_anew, open_sql=open_sql)


def open_access_file(path: Path, identity: DirectoryIdentity) -> SharedFile:
    """Open the file of tenants and keys, created if missing, and migrate it to this program's schema.

    Raises StorageUnavailable, also for a damaged file and one of another directory, and for one that is gone later: a
    new one would let everybody in.
    """
    was_there, membership = False, identity.membership(path.name)
    if not path.exists():
        prepare_folder(path.parent)
        identity.ensure()

    def connect(path: Path) -> apsw.Connection:
        nonlocal was_there
        if (what := loss_of(path)) is not None and (was_there or path.exists() or membership.is_expected()):
            raise membership.loss_error(path, what)
        connection = _connection("access", _KEY_PRAGMAS, path, membership)
        was_there = True
        return connection

    return SharedFile(path, connect)


def open_key_store(path: Path) -> SharedFile:
    """Open the file of wrapped data keys, created if missing. Raises StorageUnavailable, also for a damaged file."""
    return SharedFile(path, partial(_connection, "keys", _KEY_PRAGMAS))


def _connection(
    kind: str, pragmas: Mapping[str, str | int], path: Path, membership: Membership | None = None
) -> apsw.Connection:
    steps = known_steps(kind)
    if not path.exists():
        create(path, steps)
    make_private(path)
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.set_busy_timeout(BUSY_MS)
        connection.pragma("journal_mode", "wal")
        for name, value in pragmas.items():
            connection.pragma(name, value)
        if membership is not None:
            membership.refuse_bare(path, connection)
        refuse_other_schemas(path, connection, steps)
        migrate(connection, steps)
        if membership is not None:
            membership.take(path, connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _begin_runs_anew(path: Path, cause: Exception, damaged: Identity | None) -> None:
    if identity_of(path) != damaged:
        return  # another thread has done it
    _log.error("run traces damaged", file=str(path), error=str(cause), now="begun anew")
    for file in (path, beside(path, "-wal"), beside(path, "-shm")):
        file.unlink(missing_ok=True)


def open_lock_file(path: Path) -> SharedFile:
    """Open the file, created if missing. Raises StorageUnavailable."""
    return SharedFile(path, _lock_connection)


def _lock_connection(path: Path) -> apsw.Connection:
    os.close(os.open(path, _NEW_LOCK_FILE, 0o600))  # a new file is private
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(BUSY_MS)
    connection.pragma("secure_delete", 1)  # names of locks hold those of users and discussions
    return connection


def open_vector_file(
    path: Path | None, on_corruption: Literal["raise", "set_aside"], cells: OwnCells | None = None
) -> SharedFile:
    """Open the file, created if missing; in memory for None. Damage found later is raised in either mode.

    `cells` may encrypt it. Raises StorageUnavailable, also for another program's file, and KeyUnavailable.
    """
    return SharedFile(
        path or IN_MEMORY,
        partial(_vector_connection, cells),
        mend=_set_aside if on_corruption == "set_aside" else None,
        mends_on_opening=True,
        open_sql=SqliteSql if cells is None else sealing_own(cells, VECTOR_FILE),
    )


def _set_aside(path: Path, cause: Exception, damaged: Identity | None) -> None:
    kept_as = set_aside(path, damaged)
    _log.error("vector file damaged", file=str(path), cause=str(cause), kept_as=kept_as and kept_as.name)


def _vector_connection(cells: OwnCells | None, path: Path) -> apsw.Connection:
    if path != IN_MEMORY and not path.exists():
        if cells is not None:
            cells.key()  # no file without its key
        os.close(os.open(path, _NEW_VECTOR_FILE, 0o600))
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.set_busy_timeout(_VECTOR_BUSY_MS)
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "FULL")
        connection.pragma("secure_delete", 1)
        connection.pragma("journal_size_limit", 16 * 2**20)
        with transaction(connection):
            is_new = _make_tables(path, connection)
        begin_sealing(path, connection, cells, is_new=is_new)
    except BaseException:
        connection.close()
        raise
    return connection


def _make_tables(path: Path, connection: apsw.Connection) -> bool:
    """Make the tables of a new file; False for one that has them."""
    steps = known_steps("vectors")
    tables = {name for (name,) in connection.execute(_QUERIES["tables"])}
    if tables and not {"vectors", "state"} <= tables:
        raise StorageUnavailable(f"{path} is another program's file. Choose another directory or collection.")
    reached = reached_by_version(path, connection, steps)
    if tables and not reached:
        raise other_schema_error(path)
    take_missing(connection, steps, reached)
    return not reached
