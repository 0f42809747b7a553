"""Reader of harombe's SQLite file from its bytes in memory; the file itself is never opened as a database.

So the file and a log beside it are never written. Active parts of a schema are switched off: views, virtual tables
and computed columns are refused. A damaged field of a row is left out; the rest of the row is read.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, BinaryIO

import apsw

from mnemoir.conversations.log.message_rows import Columns, message_of
from mnemoir.conversations.transfer.bounded_json import MOST_BYTES, read_value
from mnemoir.conversations.transfer.copies import ImportTooLarge, InvalidImport, MessageCopy, SessionCopy
from mnemoir.conversations.transfer.members import read_text, session_id_of
from mnemoir.core.conversations import SessionMetadata, metadata_of
from mnemoir.core.errors import InvalidRequest

MAGIC = b"SQLite format 3\0"
_MOST_FILE_BYTES = 256 * 2**20
_HEADER_BYTES = 100
_PAGE_SIZE, _PAGE_COUNT = slice(16, 18), slice(28, 32)
_LOG_MARKS = slice(18, 20)  # of the header: 1 and 1, or 2 and 2 when there is a log beside the file
_NAME, _NEXT_STEP = "The file", "import a copy that can be read."

_PLAIN_TABLES = """
SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name IN ('sessions', 'messages')
"""
_COMPUTED_COLUMNS = """
SELECT (SELECT count(*) FROM pragma_table_xinfo('sessions') WHERE hidden > 0)
     + (SELECT count(*) FROM pragma_table_xinfo('messages') WHERE hidden > 0)
"""
# in the copy in memory: without this index each session would cost a scan of all messages
_ORDER = "CREATE INDEX order_of_messages ON messages (session_id, created_at, id)"
_SESSIONS = """
SELECT CAST(id AS BLOB), CAST(created_at AS BLOB), CAST(updated_at AS BLOB), CAST(system_prompt AS BLOB),
       CAST(metadata AS BLOB), id
  FROM sessions ORDER BY created_at, id
"""
_MESSAGES = """
SELECT id, CAST(role AS BLOB), CAST(content AS BLOB), CAST(tool_calls AS BLOB), CAST(tool_call_id AS BLOB),
       CAST(name AS BLOB), CAST(created_at AS BLOB)
  FROM messages WHERE session_id = ? ORDER BY created_at, id
"""


def read_harombe(file: BinaryIO) -> Iterator[SessionCopy]:
    """The sessions, oldest first. Raises InvalidImport for a damaged file and for any other kind of file."""
    data = file.read(_MOST_FILE_BYTES + 1)
    if len(data) > _MOST_FILE_BYTES:
        raise ImportTooLarge(f"{_NAME} is larger than {_MOST_FILE_BYTES} bytes.")
    if _is_cut_off(data):
        raise InvalidImport(f"{_NAME} is cut off: bytes are missing at its end. Import a whole copy.")
    if max(data[_LOG_MARKS]) > 1:
        with _readable(data[: _LOG_MARKS.start] + b"\1\1" + data[_LOG_MARKS.stop :]):
            pass  # a database of another kind is refused as such
        raise InvalidImport(
            f"{_NAME} has its newest rows in a log file next to it. Close the program that writes it, run "
            "`PRAGMA journal_mode = DELETE` on it, and import it then. A file of Mnemoir is opened where it is."
        )
    with _readable(data) as connection:
        for at, row in enumerate(connection.execute(_SESSIONS), start=1):
            yield _session(connection, row, f"Session {at}")


def _is_cut_off(data: bytes) -> bool:
    """True when the file is shorter than its header says. SQLite notices a missing page only when it reads it."""
    if len(data) < _HEADER_BYTES:
        return True
    page_bytes, pages = int.from_bytes(data[_PAGE_SIZE]), int.from_bytes(data[_PAGE_COUNT])
    return len(data) < pages * (2**16 if page_bytes == 1 else page_bytes)


@contextmanager
def _readable(data: bytes) -> Iterator[apsw.Connection]:
    """The database in memory. Raises InvalidImport in place of SQLite's errors."""
    with closing(apsw.Connection(":memory:")) as connection, _sqlite_errors():
        connection.deserialize("main", data)
        _restrain(connection)
        _check(connection)
        yield connection


@contextmanager
def _sqlite_errors() -> Iterator[None]:
    try:
        yield
    except apsw.Error as exc:
        raise InvalidImport(f"{_NAME} is damaged: {exc}; {_NEXT_STEP}") from None


def _restrain(connection: apsw.Connection) -> None:
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)
    connection.limit(apsw.SQLITE_LIMIT_LENGTH, MOST_BYTES)
    connection.pragma("ignore_check_constraints", 1)


def _check(connection: apsw.Connection) -> None:
    """Raise InvalidImport for an unreadable file. Damage is checked first, because it can give endless rows."""
    if connection.execute("PRAGMA quick_check(1)").get != "ok":
        raise InvalidImport(f"{_NAME} is damaged: {_NEXT_STEP}")
    if connection.pragma("user_version") != 0:
        raise InvalidImport(f"{_NAME} is a database of another program, or of Mnemoir, which opens it where it is.")
    if connection.execute(_PLAIN_TABLES).get != 2 or connection.execute(_COMPUTED_COLUMNS).get:
        raise InvalidImport(f"{_NAME} is a database without the tables of sessions and messages.")
    connection.execute(_ORDER)


def _session(connection: apsw.Connection, row: tuple[Any, ...], place: str) -> SessionCopy:
    session_id, created_at, updated_at, system_prompt, metadata, key = row
    return SessionCopy(
        messages=_messages(connection, key, place),
        place=place,
        id=session_id_of(_text(session_id), session_id or b""),
        system_prompt=_text(system_prompt) or "",
        metadata=_metadata(metadata, place),
        created_at=read_text(_text(created_at) or ""),
        updated_at=read_text(_text(updated_at) or ""),
    )


def _messages(connection: apsw.Connection, key: object, place: str) -> Iterator[MessageCopy]:
    number = 0
    for message_id, *columns, created_at in _rows(connection, _MESSAGES, (key,)):
        role, *others = map(_text, columns)
        message = message_of(message_id, Columns(role or "", *others))
        if message is not None:
            yield MessageCopy(
                message=message,
                parent=number,
                place=f"{place}, message {message_id}",
                created_at=read_text(_text(created_at) or ""),
            )
            number += 1


def _rows(connection: apsw.Connection, query: str, values: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    with _sqlite_errors():  # needed here too, because the caller reads the rows later
        yield from connection.execute(query, values)


def _metadata(raw: bytes | None, place: str) -> SessionMetadata:
    """The metadata; empty when they are damaged, as when such a file is opened directly."""
    try:
        members = read_value(raw or b"{}", place)
        return metadata_of(members if isinstance(members, dict) else {})
    except InvalidRequest:
        return SessionMetadata()


def _text(raw: bytes | None) -> str | None:
    return None if raw is None else raw.decode("utf-8", "replace")
