"""Cells with words of users, or with what is made of them, pass a codec on their way into a database and out of it.

Which they are is said by the names of the columns in `tables`; a query binds a value, and gives it, under the name of
its column. Without a codec they are stored as they are.
"""

from collections.abc import Mapping
from typing import Protocol

from mnemoir.storage.sql.engine import Value
from mnemoir.storage.sql.tables import FACT_TABLES, JOB_TABLES

CELLS = frozenset(column for tables in (FACT_TABLES, JOB_TABLES) for columns in tables.values() for column in columns)


class Codec(Protocol):
    """Turns cells into what is stored and back, text into text and bytes into bytes."""

    def seal(self, scope_id: int | None, cell: str | bytes) -> str | bytes:
        """What is stored of a cell of a scope's."""

    def open(self, stored: str | bytes) -> str | bytes:
        """The cell. One that was stored without a codec stays as it is."""


def sealed(codec: Codec, scope_id: int | None, values: Mapping[str, Value]) -> dict[str, Value]:
    """The values of a query as they are stored."""
    return {
        name: codec.seal(scope_id, value) if name in CELLS and isinstance(value, str | bytes) else value
        for name, value in values.items()
    }
