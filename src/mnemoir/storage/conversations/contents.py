"""The totals of a user's file of conversations, read without opening the conversation store."""

import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import apsw

from mnemoir.core.clock import utc_now
from mnemoir.core.text import digest
from mnemoir.ports.holdings import DAILY_DAYS
from mnemoir.storage.disk_files import beside
from mnemoir.storage.sql.catalogue import Contents
from mnemoir.storage.sql.conversations.vector_notes import SPACES
from mnemoir.storage.sql.engine import queries
from mnemoir.storage.sqlite.conversation_file import OWN_SCOPE
from mnemoir.storage.sqlite.database import BUSY_MS
from mnemoir.storage.sqlite.transactions import SqliteSql, storage_errors

_QUERIES = queries("sessions/vectors")
_SETTLED_NS = 50_000_000


def contents_of(file: Path, model: str | None) -> Contents | None:
    """The file's present contents; None without a file. Vectors of `model` count; those of any model for None.

    The folder must not be deleted meanwhile. Raises StorageUnavailable for a file that cannot be read.
    """
    stamp = stamp_of(file, model)
    if stamp is None:
        return None
    with storage_errors(file):
        # a writable connection: a single read-only one would leave a log and its index behind
        connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.set_busy_timeout(BUSY_MS)
            sql = SqliteSql(connection, OWN_SCOPE)
            used_at = {digest(id): at for id, at in sql.each(_QUERIES["sessions"])}
            messages, embeddable, embedded = sql.row(_QUERIES["progress"], model=model, spaces=SPACES)
            since = utc_now().date() - timedelta(days=DAILY_DAYS - 1)
            by_day = dict(sql.rows(_QUERIES["by_day"], since=since.isoformat()))
        finally:
            connection.close()
    return Contents(
        stamp=stamp, used_at=used_at, by_day=by_day, messages=messages, embeddable=embeddable, embedded=embedded
    )


def has_settled(file: Path) -> bool:
    """True when any further change gets a new stamp: one right after the last may have its time on a coarse clock."""
    now = time.time_ns()
    for path in (file, beside(file, "-wal")):
        with suppress(OSError):
            if now - path.stat().st_mtime_ns < _SETTLED_NS:
                return False
    return True


def stamp_of(file: Path, model: str | None) -> str | None:
    """A text that changes when the file, its log or the model changes; None without a file."""
    try:
        found = file.stat()
    except OSError:
        return None
    stamp = f"{found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {model or ''}"
    with suppress(OSError):
        log = beside(file, "-wal").stat()  # opening it may change its owner, and so its ctime
        return f"{stamp}; {log.st_ino} {log.st_size} {log.st_mtime_ns}"
    return stamp
