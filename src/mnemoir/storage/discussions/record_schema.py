"""The tables of a file of records: those that both releases of WilmerAI use, and ours beside them.

A file of WilmerAI is read unchanged: missing tables are read from an empty stand-in database. The first write adds
the missing tables, and imports the progress of a release of 2025.

There are no numbered migrations. Either program may create the file, and WilmerAI creates its tables when it needs
them, so any of them may be missing at any time. A newer Mnemoir is recognised by the number in `mnemoir_state`, which
the releases that share the file check; a table of migrations would not keep them from writing to it.
"""

import functools
from pathlib import Path

import apsw

from mnemoir.core.errors import StorageUnavailable
from mnemoir.core.ids import new_request_id
from mnemoir.storage.discussions.record_search import install
from mnemoir.storage.sql.engine import Sql, queries
from mnemoir.storage.sqlite.transactions import SqliteSql

_SCHEMA = queries("records/schema")
_NEWEST = 1
_STAND_IN = "stand_in"


def refuse_other_files(path: Path, sql: Sql) -> None:
    """Raise StorageUnavailable for tables of another program or a newer Mnemoir; a file without any is accepted."""
    tables: dict[str, str] = dict(sql.rows(_SCHEMA["tables_of"]))
    if not tables:
        return
    for table, columns in _expected_tables().items():
        if table in tables and not columns <= _columns(sql, table):
            raise _foreign(path, f"its table {table} has other columns")
    if "memories" not in tables or "fts5" not in tables.get("memories_fts", "").lower():
        raise _foreign(path, "it has tables, but none of records")
    if "mnemoir_state" in tables and sql.row(_SCHEMA["schema_of"]) not in (None, (_NEWEST,)):
        raise StorageUnavailable(f"{path} was written by a newer Mnemoir. Start the newer program.")


def is_complete(path: Path, sql: Sql) -> bool:
    """True when the file at `path` has all tables, ours too. Raises as `refuse_other_files` does."""
    refuse_other_files(path, sql)
    return sql.row(_SCHEMA["has_ours"]) is not None


def prepare(path: Path, sql: Sql) -> bool:
    """Add missing tables; True when the file was complete. Raises as `refuse_other_files` does."""
    was_complete = is_complete(path, sql)
    if not was_complete:
        sql.run(_SCHEMA["tables"])
        sql.run(_SCHEMA["first_state"], epoch=new_request_id())
        sql.run(_SCHEMA["triggers"])
    sql.run(_SCHEMA["import_tracker"])
    return was_complete


def see_new_tables(sql: Sql) -> Sql:
    """The transaction, after reading the file's schema again if another program changed it."""
    sql.row(_SCHEMA["look"])
    return sql


def stand_in(connection: apsw.Connection) -> None:
    """Add to a connection an empty table for every one that is missing in its file."""
    connection.execute(_SCHEMA["attach"])
    connection.deserialize(_STAND_IN, _blank())


def blank() -> apsw.Connection:
    """A database without records, in memory."""
    connection = apsw.Connection(":memory:")
    connection.deserialize("main", _blank())
    install(connection)
    return connection


def rename(sql: Sql, discussion: str) -> None:
    """Write the discussion's id into all rows."""
    for query in ("rename_memories", "rename_log", "rename_tracker"):
        sql.run(_SCHEMA[query], discussion=discussion)


@functools.cache
def _blank() -> bytes:
    connection = apsw.Connection(":memory:")
    connection.execute(_SCHEMA["tables"])
    return connection.serialize("main")


@functools.cache
def _expected_tables() -> dict[str, frozenset[str]]:
    sql = SqliteSql(blank())
    names = [name for name, _ in sql.rows(_SCHEMA["tables_of"])]
    own = [name for name in names if not name.startswith(("memories_fts_", "sqlite_"))]
    return {name: _columns(sql, name) for name in own}


def _columns(sql: Sql, table: str) -> frozenset[str]:
    return frozenset(name for (name,) in sql.rows(_SCHEMA["columns_of"], table=table))


def _foreign(path: Path, cause: str) -> StorageUnavailable:
    return StorageUnavailable(
        f"{path} holds no records of a discussion ({cause}) and was left as it is. Put it somewhere else."
    )
