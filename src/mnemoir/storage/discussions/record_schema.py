"""The tables of a file of records: those that both releases of WilmerAI know, and ours beside them.

A file of theirs is read as it is: tables that it lacks are read from an empty database that stands in for them. The
first write adds what is missing, and takes over how far a release of 2025 had come.
"""

import functools
from pathlib import Path

import apsw

from mnemoir.core.errors import StorageUnavailable
from mnemoir.core.ids import new_request_id
from mnemoir.storage.sql.queries import queries

_SCHEMA = queries("records/schema")
_NEWEST = 1
_STAND_IN = "stand_in"


def refuse_other_files(path: Path, connection: apsw.Connection) -> bool:
    """Whether the file has tables at all. Raises StorageUnavailable for those of another program or a newer one."""
    tables: dict[str, str] = dict(connection.execute(_SCHEMA["tables_of"]))
    if not tables:
        return False
    for table, columns in _expected().items():
        if table in tables and not columns <= _columns(connection, table):
            raise _foreign(path, f"its table {table} has other columns")
    if "memories" not in tables or "fts5" not in tables.get("memories_fts", "").lower():
        raise _foreign(path, "it has tables, but none of records")
    if "mnemoir_state" in tables and connection.execute(_SCHEMA["schema_of"]).get not in (None, _NEWEST):
        raise StorageUnavailable(f"{path} was written by a newer Mnemoir. Start the newer program.")
    return True


def prepare(connection: apsw.Connection) -> None:
    """Add what the file lacks; inside the caller's transaction."""
    if not connection.table_exists("main", "mnemoir_state"):
        connection.execute(_SCHEMA["tables"])
        connection.execute(_SCHEMA["first_state"], {"epoch": new_request_id()})
        connection.execute(_SCHEMA["triggers"])
    connection.execute(_SCHEMA["import_tracker"])


def stand_in(connection: apsw.Connection) -> None:
    """Give a connection an empty table for every one that its file lacks."""
    connection.execute(_SCHEMA["attach"])
    connection.deserialize(_STAND_IN, _blank())


def blank() -> apsw.Connection:
    """A database without records, in memory."""
    connection = apsw.Connection(":memory:")
    connection.deserialize("main", _blank())
    return connection


def rename(connection: apsw.Connection, discussion: str) -> None:
    """Say everywhere that the records are those of a discussion."""
    for query in ("rename_memories", "rename_log", "rename_tracker"):
        connection.execute(_SCHEMA[query], {"discussion": discussion})


@functools.cache
def _blank() -> bytes:
    connection = apsw.Connection(":memory:")
    connection.execute(_SCHEMA["tables"])
    return connection.serialize("main")


@functools.cache
def _expected() -> dict[str, frozenset[str]]:
    connection = blank()
    names = [name for name, _ in connection.execute(_SCHEMA["tables_of"])]
    own = [name for name in names if not name.startswith(("memories_fts_", "sqlite_"))]
    return {name: _columns(connection, name) for name in own}


def _columns(connection: apsw.Connection, table: str) -> frozenset[str]:
    return frozenset(name for (name,) in connection.execute(_SCHEMA["columns_of"], {"table": table}))


def _foreign(path: Path, cause: str) -> StorageUnavailable:
    return StorageUnavailable(
        f"{path} holds no records of a discussion ({cause}) and was left as it is. Put it somewhere else."
    )
