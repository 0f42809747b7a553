"""How many records a discussion's database holds, told without keeping it open."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import apsw
import structlog

from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.discussions.record_files import opened, settle
from mnemoir.storage.sqlite.failures import storage_errors

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordCount:
    """The number of records, and the id of the discussion that the first of them tells."""

    records: int = 0
    discussion: str | None = None


def count_records(path: Path) -> RecordCount:
    """None, with a warning, for a database that cannot be read. Blocks."""
    try:
        with storage_errors(path, OSError):
            try:
                return _counted(path)
            except apsw.ReadOnlyError:  # a writer was killed: what it left half done is to be undone first
                settle(path)
                return _counted(path)
    except StorageUnavailable as exc:
        _log.warning("discussion is listed without its records", error=exc.message)
        return RecordCount()


def _counted(path: Path) -> RecordCount:
    with closing(opened(path, apsw.SQLITE_OPEN_READONLY)) as connection:
        records = connection.execute("SELECT count(*) FROM memories").get
        discussion = connection.execute("SELECT discussion_id FROM memories LIMIT 1").get
    return RecordCount(records=int(records), discussion=None if discussion is None else str(discussion))
