"""Indexes of a file of sessions that do not fit its tables: SQLite finds too little by them, and does not notice."""

from pathlib import Path

import apsw
import structlog

from mnemoir.storage.sqlite.transactions import transaction

_LARGEST_BYTES = 64 * 2**20  # looked through in a quarter of a second; a larger file is left to `mnemoir doctor`

_log = structlog.get_logger(__name__)


def mend_indexes(path: Path, connection: apsw.Connection) -> None:
    """Make the indexes anew where the file is not whole, and keep them if it is whole by that; the log tells of both.

    The tables stay as they are. Whatever else is damaged is met by who reads it. Raises apsw.BusyError.
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
