"""How many records a discussion's database holds, read without keeping it open."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from mnemoir.storage.discussions.record_files import opened
from mnemoir.storage.discussions.record_place import identity_of
from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sqlite.failures import storage_errors
from mnemoir.storage.sqlite.shared_file import SharedFile


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordCount:
    """The number of records, and the id of the discussion that the first of them tells."""

    records: int = 0
    discussion: str | None = None


def count_records(path: Path) -> RecordCount:
    """0 where there is no file, or an empty one. Blocks. Raises StorageUnavailable."""
    with storage_errors(path, OSError):
        if identity_of(path) is None:
            return RecordCount()
    with closing(SharedFile(path, opened)) as file:
        return file.read(_counted)


def _counted(sql: Sql) -> RecordCount:
    (records,) = sql.row("SELECT count(*) FROM memories")
    discussions = sql.rows("SELECT discussion_id FROM memories WHERE discussion_id IS NOT NULL LIMIT 1")
    return RecordCount(records=int(records), discussion=next((str(id) for (id,) in discussions), None))
