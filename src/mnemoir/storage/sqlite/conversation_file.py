"""A file of conversations: shared with other threads and processes, and set aside when it is damaged.

`PRAGMA user_version` holds a digest of its schema, instead of a table as in `data_file.py`: the programs that share
the file check it, and one that they do not know keeps them from writing. A file of harombe has 0 there and the first
two tables; the first migration adds the rest. All migrations run in one transaction, as another process may be about
to run them.
"""

import os
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Literal

import apsw
import structlog

from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.disk_files import beside, loss_of
from mnemoir.storage.sealing.cells import OwnCells
from mnemoir.storage.sql.engine import Damaged, queries
from mnemoir.storage.sql.tables import SESSION_FILE
from mnemoir.storage.sqlite.data_file import known_steps, reached_by_version, take_missing
from mnemoir.storage.sqlite.membership import Membership
from mnemoir.storage.sqlite.own_sealing import begin_sealing
from mnemoir.storage.sqlite.sealed_sql import sealing_own
from mnemoir.storage.sqlite.shared_file import (
    Identity,
    SharedFile,
    identity_of,
    last_taken_id,
    names_set_aside,
    set_aside,
)
from mnemoir.storage.sqlite.transactions import SqliteSql, storage_errors, transaction

_log = structlog.get_logger(__name__)
OnCorruption = Literal["set_aside", "raise"]

OWN_SCOPE = 1  # the one that the rows of a file of one owner have
BUSY_MS = 2000
MOST_IDLE = 4
_WAITS_S = (0.05, 0.1, 0.2, 0.4)  # between five tries
_SMALLEST = 512  # bytes: one page, and no page is smaller
_NEW = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_QUERIES = queries("own_files/schema")
_IDENTITY = queries("identity")
_THEIRS = {
    "sessions": {"id", "created_at", "updated_at", "system_prompt", "metadata"},
    "messages": {"id", "session_id", "role", "content", "tool_calls", "tool_call_id", "name", "created_at"},
}
_PLAIN = partial(SqliteSql, scope_id=OWN_SCOPE)
_LARGEST_BYTES = 64 * 2**20  # checked in a quarter of a second; a larger file is left to `mnemoir doctor`


def open_conversation_file(
    path: Path,
    *,
    synced: bool,
    on_corruption: OnCorruption,
    cells: OwnCells | None = None,
    membership: Membership | None = None,
) -> SharedFile:
    """Open the file, created if missing, and migrate it to this program's schema. `cells` may encrypt it.

    `synced`: a commit also survives a loss of power. With a `membership` it must be what that says, but for one that
    begins anew beside a damaged one. Raises StorageUnavailable, also for the database of another program and of
    another schema, StorageBusyError, and KeyUnavailable, with no file created.
    """
    file = _ConversationFile(
        path,
        _Opening(synced, cells, membership),
        open_sql=_PLAIN if cells is None else sealing_own(cells, SESSION_FILE, OWN_SCOPE),
        mend=_set_aside if on_corruption == "set_aside" else None,
        waits_s=_WAITS_S,
        most_idle=MOST_IDLE,
    )
    if _size_of(beside(path, "-wal")):  # a process that died may have left deleted text in it
        file.empty_log()
    return file


class _ConversationFile(SharedFile):
    def empty_log(self) -> None:
        """Empty the log; a failure of the disk is only logged as a warning, as the deletion is committed."""
        try:
            super().empty_log()
        except StorageUnavailable as exc:
            _log.warning("write-ahead log not emptied", file=str(self.path), cause=exc.message)


def _set_aside(path: Path, cause: Exception, damaged: Identity | None) -> None:
    if isinstance(cause, UnicodeDecodeError):
        raise cause  # it affects one value, not the file
    kept_as = set_aside(path, damaged)
    if kept_as is not None:
        _log.error("session file damaged", file=str(path), cause=str(cause), kept_as=kept_as.name)


def give_to_owner(path: Path, owner: str) -> None:
    """Give a file that is not open to another owner in its data directory. Raises StorageUnavailable."""
    if loss_of(path) is not None:
        return
    with storage_errors(path), closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
        connection.set_busy_timeout(BUSY_MS)
        connection.pragma("secure_delete", 1)  # the former owner may be erased later
        if connection.table_exists(None, "identity"):
            connection.execute(_IDENTITY["put_owner"], {"owner": owner})


def refuse_lost_file(path: Path, membership: Membership) -> None:
    """Raise StorageDamaged for a file that must be there and is lost, unless it was damaged and set aside."""
    if loss_of(path) is not None and not (path.parent.is_dir() and not path.exists() and names_set_aside(path)):
        membership.refuse_loss(path)


class _Opening:
    """Connects to the file, and checks its indexes with the first connection."""

    def __init__(self, synced: bool, cells: OwnCells | None, membership: Membership | None) -> None:
        self._synchronous = "FULL" if synced else "NORMAL"
        self._cells = cells
        self._membership = membership
        self._looked_through: Identity | None = None

    def __call__(self, path: Path) -> apsw.Connection:
        if self._membership is not None:
            refuse_lost_file(path, self._membership)
        _refuse_torn(path)
        if not path.exists():
            if self._cells is not None:
                self._cells.key()  # no file without its key
            os.close(os.open(path, _NEW, 0o600))
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            self._prepare(path, connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, path: Path, connection: apsw.Connection) -> None:
        connection.set_busy_timeout(BUSY_MS)
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", self._synchronous)
        connection.pragma("foreign_keys", 1)
        connection.pragma("secure_delete", 1)  # deleted content is overwritten
        connection.pragma("journal_size_limit", 64 * 2**20)  # a log grown larger in a burst is cut back
        _refuse_short(path, connection)
        if self._membership is not None and not _tables(connection) and not names_set_aside(path):
            self._membership.refuse_bare(path, connection)
        is_new = upgrade(path, connection)
        identity = identity_of(path)
        if identity != self._looked_through:
            self._take(path, connection, is_new=is_new)
            begin_sealing(path, connection, self._cells, is_new=is_new)
            mend_indexes(path, connection)
            connection.execute("PRAGMA shrink_memory")  # or the cache would hold all pages that were read
            self._looked_through = identity

    def _take(self, path: Path, connection: apsw.Connection, *, is_new: bool) -> None:
        """Give a new file to its directory and user, and refuse one of another."""
        if self._membership is None:
            return
        if is_new:
            self._membership.give(connection)
        self._membership.take(path, connection)


def upgrade(path: Path, connection: apsw.Connection) -> bool:
    """Run the file's missing migrations, all in one transaction.

    True for a new file.

    Raises StorageUnavailable for the database of another program, and for one with another schema of Mnemoir.
    """
    steps, is_new = known_steps("sessions"), False
    if _schema_version(path, connection) < len(steps):
        with transaction(connection):
            reached = _schema_version(path, connection)  # another process may have run them meanwhile
            is_new = not _tables(connection)
            take_missing(connection, steps, reached)
            if is_new:
                connection.execute(_QUERIES["start_ids"], {"last": last_taken_id(path)})
    return is_new


def _schema_version(path: Path, connection: apsw.Connection) -> int:
    tables = _tables(connection)
    lacking = [table for table in _THEIRS if tables and not _THEIRS[table] <= _columns(connection, table)]
    if lacking:
        raise StorageUnavailable(
            f"{path} is a database without sessions (its table {lacking[0]} is missing or a different one) and was "
            "left as it is. Choose another path."
        )
    return reached_by_version(path, connection, known_steps("sessions"))


def _tables(connection: apsw.Connection) -> set[str]:
    return {name for (name,) in connection.execute(_QUERIES["tables_of"])}


def _columns(connection: apsw.Connection, table: str) -> set[str]:
    return {name for (name,) in connection.execute(_QUERIES["columns_of"], {"table": table})}


def _refuse_torn(path: Path) -> None:
    """Raise Damaged for an empty file with a log, and for one too short; SQLite would treat either as a new file."""
    size = _size_of(path)
    if not size and _size_of(beside(path, "-wal")):
        raise Damaged("its beginning is gone, its write-ahead log is there")
    if 0 < size < _SMALLEST:
        raise Damaged("it is too short for a database")


def _refuse_short(path: Path, connection: apsw.Connection) -> None:
    """Raise Damaged when the end of the last page is missing: SQLite counts whole pages.

    Without a log all pages are in the file, and during this read no process can have emptied a log that had some.
    """
    with transaction(connection, reads=True):
        expected = int(connection.pragma("page_count")) * int(connection.pragma("page_size"))
        if not _size_of(beside(path, "-wal")) and path.stat().st_size < expected:
            raise Damaged(f"{expected} bytes belong in it, and it has {path.stat().st_size}")


def _size_of(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except FileNotFoundError:
        return 0


def mend_indexes(path: Path, connection: apsw.Connection) -> None:
    """Rebuild the indexes of a damaged file, and keep them if that repairs it; either outcome is logged.

    The tables stay unchanged. Other damage shows when it is read. Raises apsw.BusyError.
    """
    if path.stat().st_size > _LARGEST_BYTES or _is_whole(connection):
        return
    try:
        with transaction(connection):
            connection.execute("REINDEX")
            if not _is_whole(connection):
                raise apsw.CorruptError("not its indexes alone are damaged")
    except apsw.BusyError:
        raise
    except apsw.Error as exc:
        _log.warning("session file is not whole and was left as it is", file=str(path), cause=str(exc))
        return
    _log.warning("indexes of a session file were damaged and made anew", file=str(path))


def _is_whole(connection: apsw.Connection) -> bool:
    try:
        return bool(connection.execute("PRAGMA integrity_check(1)").get == "ok")
    except apsw.CorruptError:
        return False
