"""The integrity check of the database file, and of the rows that every memory must have."""

import apsw

from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sql.integrity import misplaced

_MOST_LINES = 20


def problems(sql: Sql) -> list[str]:
    """One line for each problem; [] without any."""
    try:
        return [*_of_the_file(sql), *misplaced(sql, _MOST_LINES)]
    except apsw.CorruptError as exc:
        return [f"the file cannot be read to its end: {exc}"]


def _of_the_file(sql: Sql) -> list[str]:
    lines = [str(line) for (line,) in sql.rows(f"PRAGMA integrity_check({_MOST_LINES})")]
    orphans = [f"row {row} of {table} belongs to nothing" for table, row, *_ in sql.rows("PRAGMA foreign_key_check")]
    return [*(line for line in lines if line != "ok"), *orphans[:_MOST_LINES]]
