"""The tables of `mnemoir.db` by kind of memory, the encoding of their cells, and the check of their rows.

Each table of the schema is listed here once, or in `OTHER_TABLES`, which hold no texts of users.

The column names in `tables` select the cells; a query binds and returns a value under the name of its column. Without
a codec cells are stored unchanged.
"""

from collections.abc import Mapping
from typing import Protocol

from mnemoir.storage.sql.engine import Sql, Value, queries

Tables = Mapping[str, tuple[str, ...]]

FACT_TABLES: Tables = {
    "memories": ("text", "metadata", "extra"),
    "entries": ("terms", "vector", "token_ids", "second_vector"),
    "codes": ("codes",),
    "history": ("old_text", "new_text", "state"),
    "sources": ("turns",),
    "receipts": ("applied", "proposed"),
    "file_index": ("terms", "vector", "token_ids", "token_codes", "second_vector"),
}
PROPOSAL_TABLES: Tables = {"proposals": ("text", "previous_text", "state")}
PERSONAL_TABLES: Tables = {"pii_values": ("original",)}
JOB_TABLES: Tables = {"jobs": ("payload", "result", "error")}
CONVERSATION_TABLES: Tables = {"catalogue": (), "catalogued_conversations": (), "catalogued_days": ()}
OTHER_TABLES = ("scopes", "file_projects", "project_settings", "holds", "usage", "migrations")
CELLS = frozenset(
    column
    for tables in (FACT_TABLES, PROPOSAL_TABLES, PERSONAL_TABLES, JOB_TABLES)
    for columns in tables.values()
    for column in columns
)
_QUERIES = queries("integrity")


class Codec(Protocol):
    """Encodes cells for storage and decodes them, text to text and bytes to bytes."""

    def seal(self, scope_id: int | None, cell: str | bytes) -> str | bytes:
        """The stored form of a cell of a scope."""

    def open(self, stored: str | bytes) -> str | bytes:
        """The decoded cell. A cell that was stored without a codec is returned unchanged."""


def sealed(codec: Codec, scope_id: int | None, values: Mapping[str, Value]) -> dict[str, Value]:
    """The values of a query as they are stored."""
    return {
        name: codec.seal(scope_id, value) if name in CELLS and isinstance(value, str | bytes) else value
        for name, value in values.items()
    }


def misplaced(sql: Sql, limit: int) -> list[str]:
    """One line for each memory with missing or wrong rows; [] without any. Reads all memories."""
    return [f"memory {memory_id} {what}" for memory_id, what in sql.rows(_QUERIES["misplaced"], limit=limit)]
