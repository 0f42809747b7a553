"""Repair of a session file's indexes that do not match its tables: with them SQLite silently finds too few rows."""

from pathlib import Path

import apsw
import structlog

from mnemoir.storage.sqlite.transactions import transaction

_LARGEST_BYTES = 64 * 2**20  # checked in a quarter of a second; a larger file is left to `mnemoir doctor`

_log = structlog.get_logger(__name__)


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
