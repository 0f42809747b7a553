"""Whether every memory has all of its rows, and none that it must not have."""

from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sql.queries import queries

_QUERIES = queries("integrity")


def misplaced(sql: Sql, limit: int) -> list[str]:
    """One line for each memory with which something is wrong; [] when nothing is. Reads all of them."""
    return [f"memory {memory_id} {what}" for memory_id, what in sql.rows(_QUERIES["misplaced"], limit=limit)]
