"""How many records a discussion's database holds, told without changing or locking it for long."""

from dataclasses import dataclass
from pathlib import Path

import apsw
import structlog

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordCount:
    """The number of records, and the id of the discussion that the first of them tells."""

    records: int = 0
    discussion: str | None = None


def count_records(path: Path) -> RecordCount:
    """None, with a warning, for a database that cannot be read. Blocks."""
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            records = connection.execute("SELECT count(*) FROM memories").get
            discussion = connection.execute("SELECT discussion_id FROM memories LIMIT 1").get
        finally:
            connection.close()
    except (apsw.Error, UnicodeDecodeError) as exc:
        _log.warning("discussion is listed without its records", file=path.name, cause=str(exc))
        return RecordCount()
    return RecordCount(records=int(records), discussion=None if discussion is None else str(discussion))
