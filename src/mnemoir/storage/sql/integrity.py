"""The check that every memory has all of its rows, and no wrong ones."""

from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sql.queries import queries

_QUERIES = queries("integrity")


def misplaced(sql: Sql, limit: int) -> list[str]:
    """One line for each memory with missing or wrong rows; [] without any. Reads all memories."""
    return [f"memory {memory_id} {what}" for memory_id, what in sql.rows(_QUERIES["misplaced"], limit=limit)]
