"""The queries that go through all rows of a user, made of what `tables.py` says of each table."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from mnemoir.storage.named_queries import made_query
from mnemoir.storage.sql.tables import Table, scoped_tables


@dataclass(frozen=True, slots=True, kw_only=True)
class TableQueries:
    """Those of a table within a scope: `rows` have the columns of an archive, `drop_some` deletes `:limit` rows."""

    name: str
    table: Table
    count: str
    rows: str
    drop_some: str
    drop: str


def queries_of_tables() -> Sequence[TableQueries]:
    """Those of every table whose rows begin with a scope and do not go along with others."""
    return [_queries_of(name, table) for name, table in scoped_tables().items()]


@lru_cache(maxsize=64)
def _queries_of(name: str, table: Table) -> TableQueries:
    found = f"FROM {name} WHERE scope_id = :scope_id"
    key = table.key_value or table.key
    told = ", ".join(f"{key} AS {column}" if column == table.key else column for column in table.columns)
    return TableQueries(
        name=table.archive or name,
        table=table,
        count=made_query(f"SELECT count(*) {found}", {}),
        rows=made_query(f"SELECT {told or key} {found} ORDER BY {table.sorted_by or key}", {}),
        drop_some=made_query(
            f"DELETE {found} AND {key} IN (SELECT {key} {found} ORDER BY {key} LIMIT :limit)", {"limit": "integer"}
        ),
        drop=made_query(f"DELETE {found}", {}),
    )
