"""The schema of a file of sessions, in steps; `PRAGMA user_version` holds the number of the last one taken.

A file of harombe has the number 0 and the first two tables: the first step gives it what it lacks.
"""

from functools import cache
from importlib.resources import files
from pathlib import Path

import apsw

from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.conversations.setting_aside import last_taken_id
from mnemoir.storage.sql.queries import queries

_QUERIES = queries("sessions/schema")
_STEPS = ("0001_sessions", "0002_message_tree", "0003_branch_points", "0004_messages_with_files", "0005_message_uids")
_THEIRS = {
    "sessions": {"id", "created_at", "updated_at", "system_prompt", "metadata"},
    "messages": {"id", "session_id", "role", "content", "tool_calls", "tool_call_id", "name", "created_at"},
}


def upgrade(path: Path, connection: apsw.Connection) -> None:
    """Take the steps that the file lacks, all in one transaction, and make the views of this connection.

    Raises StorageUnavailable for the database of another program, and of a newer Mnemoir.
    """
    if _reached(path, connection) < len(_STEPS):
        connection.execute("BEGIN IMMEDIATE")
        try:
            _take_steps(path, connection)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    connection.execute(_QUERIES["views"])


def _take_steps(path: Path, connection: apsw.Connection) -> None:
    """Another process may have taken them since they were found missing."""
    reached = _reached(path, connection)
    is_new = not _tables(connection)
    for sql in map(_sql, _STEPS[reached:]):
        connection.execute(sql)
    connection.pragma("user_version", len(_STEPS))
    if is_new:
        connection.execute(_QUERIES["start_ids"], {"last": last_taken_id(path)})


def _reached(path: Path, connection: apsw.Connection) -> int:
    reached = int(connection.pragma("user_version"))
    tables = _tables(connection)
    lacking = [table for table in _THEIRS if tables and not _THEIRS[table] <= _columns(connection, table)]
    if lacking:
        raise StorageUnavailable(
            f"{path} is a database without sessions (its table {lacking[0]} is missing or a different one) and was "
            "left as it is. Choose another path."
        )
    if reached > len(_STEPS):
        raise StorageUnavailable(
            f"{path} was written by a newer Mnemoir (its schema is {reached}, this program knows up to "
            f"{len(_STEPS)}). Start the newer program."
        )
    return reached


def _tables(connection: apsw.Connection) -> set[str]:
    return {name for (name,) in connection.execute(_QUERIES["tables_of"])}


def _columns(connection: apsw.Connection, table: str) -> set[str]:
    return {name for (name,) in connection.execute(_QUERIES["columns_of"], {"table": table})}


@cache
def _sql(step: str) -> str:
    return (files("mnemoir.storage.sqlite") / "migrations" / "sessions" / f"{step}.sql").read_text("utf-8")
