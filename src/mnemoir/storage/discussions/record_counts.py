"""How many records a discussion's database holds, told without keeping it open."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import structlog

from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.discussions.record_files import opened
from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sqlite.shared_file import SharedFile

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordCount:
    """The number of records, and the id of the discussion that the first of them tells."""

    records: int = 0
    discussion: str | None = None


def count_records(path: Path) -> RecordCount:
    """None, with a warning, for a database that cannot be read. Blocks."""
    try:
        with closing(SharedFile(path, opened)) as file:
            return file.read(_counted)
    except StorageUnavailable as exc:
        _log.warning("discussion is listed without its records", error=exc.message)
        return RecordCount()


def _counted(sql: Sql) -> RecordCount:
    (records,) = sql.row("SELECT count(*) FROM memories")
    discussions = sql.rows("SELECT discussion_id FROM memories WHERE discussion_id IS NOT NULL LIMIT 1")
    return RecordCount(records=int(records), discussion=next((str(id) for (id,) in discussions), None))
