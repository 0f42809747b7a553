"""Encoding and decoding, by a codec, of database cells with texts of users or data derived from them.

The column names in `tables` select the cells; a query binds and returns a value under the name of its column. Without
a codec cells are stored unchanged.
"""

from collections.abc import Mapping
from typing import Protocol

from mnemoir.storage.sql.engine import Value
from mnemoir.storage.sql.tables import FACT_TABLES, JOB_TABLES

CELLS = frozenset(column for tables in (FACT_TABLES, JOB_TABLES) for columns in tables.values() for column in columns)


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
