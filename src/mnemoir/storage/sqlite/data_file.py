"""The database file: its schema in numbered migrations, and checks that it is private, complete, and Mnemoir's.

Before 0.1.0 is released, each kind of file has one migration, whose text is edited. A file carries a digest of the
text that it was made by, and one with another digest is refused.

A released migration is never edited; each runs in a transaction with its own record. So an interrupted start leaves
complete migrations behind, and the next start continues after the last of them. The first line of a migration states
its effect on a program of the previous release: `-- expand` only adds, `-- contract` removes or rebuilds tables and
columns that this program still uses.

A new file is created under another name and moved into place when its schema is complete. So an empty or half written
file under the real name is never a new file, always damage.

The write-ahead log is checked too. After a crash SQLite reads its valid frames and silently drops the rest, because a
torn last transaction looks like that. But the shared index beside it records how far the log was synced; a log that
is shorter than that has lost acknowledged transactions.
"""

import hashlib
import os
import re
import struct
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

import apsw

from mnemoir.core.atomic_file import sync_folder
from mnemoir.core.clock import now_text
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.disk_files import beside
from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sql.tables import misplaced_memories
from mnemoir.storage.sqlite.transactions import damage_error, transaction

StepKind = Literal["expand", "contract"]
APPLICATION_ID = 0x4D6E656D  # "Mnem" in the file's header marks a file of ours
_STEP_FILE = re.compile(r"(\d{4})_\w+\.sql")
_MARK = re.compile(r"-- (expand|contract)\n")
_RECORD = """
CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, at TEXT NOT NULL) STRICT
"""
_MOST_LINES = 20
_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_PAGES = struct.Struct(">16xH10xI")  # their size and number, in the header
_LOG_HEADER = struct.Struct(">6I")
_LOG_MAGIC = 0x377F0682  # the lowest bit is the byte order of its checksums
_LOG_HEADER_BYTES = 32
_LOG_FRAME_HEADER_BYTES = 24
_INDEX_COPY_BYTES = 48  # the shared index begins with two equal copies of this length
_SIDE_FILES = ("-wal", "-shm")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One migration; `sql` is a whole file of statements, `name` a digest of it, by which its record is compared."""

    number: int
    name: str
    kind: StepKind
    sql: str


@cache
def known_steps(file: str = "") -> Sequence[Step]:
    """Every migration of this program for a kind of file ("" for `mnemoir.db`), in order."""
    return sorted(
        (
            _step(int(match[1]), entry.read_text("utf-8"))
            for entry in (files("mnemoir.storage.sqlite") / "migrations" / file).iterdir()
            if (match := _STEP_FILE.fullmatch(entry.name))
        ),
        key=lambda step: step.number,
    )


def schema_version(connection: apsw.Connection) -> int:
    """The number of the file's last migration; 0 for none."""
    if not connection.table_exists(None, "migrations"):
        return 0
    return int(connection.execute("SELECT coalesce(max(number), 0) FROM migrations").get)


def migrate(connection: apsw.Connection, steps: Sequence[Step]) -> None:
    """Run the migrations that the file does not have yet, each in its own transaction."""
    before = schema_version(connection)
    for step in steps:
        if step.number > before:
            with transaction(connection):
                _take(connection, step)


def version_of(steps: Sequence[Step]) -> int:
    """31 bits of the digest of the steps, for the `user_version` of a file without a table of migrations; never 0."""
    digest = hashlib.sha256("".join(step.name for step in steps).encode()).digest()
    return int.from_bytes(digest[:4]) >> 1 or 1


def reached_by_version(path: Path, connection: apsw.Connection, steps: Sequence[Step]) -> int:
    """The number of these steps that a file without a table of migrations has, by its `user_version`; 0 for none.

    Raises StorageUnavailable for a version that is none of theirs.
    """
    version = int(connection.pragma("user_version"))
    for number in range(len(steps) + 1):
        if version == (version_of(steps[:number]) if number else 0):
            return number
    raise other_schema_error(path, ", or by a newer one")


def take_missing(connection: apsw.Connection, steps: Sequence[Step], reached: int) -> None:
    """Run the steps after the first `reached` ones, and note them in `user_version`, in the caller's transaction."""
    for step in steps[reached:]:
        connection.execute(step.sql)
    if reached < len(steps):
        connection.pragma("user_version", version_of(steps))


def _step(number: int, sql: str) -> Step:
    mark = _MARK.match(sql)
    if mark is None:
        raise ValueError(f"Migration {number:04} does not say whether it expands or contracts.")
    name = hashlib.sha256(sql.encode()).hexdigest()[:32]
    return Step(number=number, name=name, kind="expand" if mark[1] == "expand" else "contract", sql=sql)


def _take(connection: apsw.Connection, step: Step) -> None:
    connection.pragma("application_id", APPLICATION_ID)
    connection.execute(_RECORD)
    connection.execute(step.sql)
    connection.execute(
        "INSERT INTO migrations (number, name, at) VALUES (?, ?, ?)",
        (step.number, step.name, now_text()),
    )


def problems(sql: Sql) -> list[str]:
    """One line for each problem; [] without any."""
    try:
        return [*_of_the_file(sql), *misplaced_memories(sql, _MOST_LINES)]
    except apsw.CorruptError as exc:
        return [f"the file cannot be read to its end: {exc}"]


def _of_the_file(sql: Sql) -> list[str]:
    lines = [str(line) for (line,) in sql.rows(f"PRAGMA integrity_check({_MOST_LINES})")]
    orphans = [f"row {row} of {table} belongs to nothing" for table, row, *_ in sql.rows("PRAGMA foreign_key_check")]
    return [*(line for line in lines if line != "ok"), *orphans[:_MOST_LINES]]


def create(path: Path, steps: Sequence[Step]) -> None:
    """Create a new database at `path`, durable on return; a crash before that leaves no file of that name."""
    log = beside(path, "-wal")
    if log.exists() and log.stat().st_size:
        raise damage_error(log, f"{path.name}, which it belongs to, is missing")
    draft = beside(path, ".new")
    for leftover in (draft, beside(draft, "-journal")):
        leftover.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(_empty(tuple(steps)))
    connection = apsw.Connection(str(draft), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.pragma("synchronous", "EXTRA")
        with transaction(connection):  # its end syncs the whole file
            connection.execute("UPDATE migrations SET at = ?", (now_text(),))
    finally:
        connection.close()
    draft.chmod(0o600)
    draft.rename(path)
    sync_folder(path.parent)


@cache
def _empty(steps: tuple[Step, ...]) -> bytes:
    """A database file that has these migrations and no rows: every user with conversations gets one of them."""
    connection = apsw.Connection(":memory:")
    try:
        with transaction(connection):
            for step in steps:
                _take(connection, step)
        return connection.serialize("main")
    finally:
        connection.close()


def make_private(path: Path) -> None:
    """Set mode 0600 on the file and its side files; SQLite gives new side files the mode of the main file."""
    for file in (path, *(beside(path, suffix) for suffix in _SIDE_FILES)):
        with suppress(FileNotFoundError):
            file.chmod(0o600)


def begins_like_a_database(path: Path) -> bool:
    """True for a file with the first bytes of a database. It must not be open in this process."""
    return _start_of(path, len(_MAGIC)) == _MAGIC


def refuse_other_files(path: Path) -> None:
    """Raise StorageUnavailable for a file without a database header, or shorter than its header says."""
    header = _start_of(path, _HEADER_BYTES)
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        raise damage_error(path, "it does not begin like a database" if header else "it is empty")
    if _has_frames(beside(path, "-wal")):
        return  # the end may be torn: the log holds it completely
    page_bytes, pages, size = *_PAGES.unpack_from(header), path.stat().st_size
    page_bytes = 65536 if page_bytes == 1 else page_bytes  # too large for its two bytes
    if size < pages * page_bytes or size % max(page_bytes, 1):
        raise damage_error(path, f"it has {size} bytes, and {pages} pages of {page_bytes} belong in it")


def refuse_other_schemas(path: Path, connection: apsw.Connection, steps: Sequence[Step]) -> None:
    """Raise StorageUnavailable for the database of another program, of an unreleased Mnemoir, or of a newer one."""
    if connection.pragma("application_id") != APPLICATION_ID:
        raise StorageUnavailable(f"{path} is not a database of Mnemoir. Choose another directory with --data-dir.")
    at, newest, names = schema_version(connection), steps[-1].number, {step.number: step.name for step in steps}
    recorded = connection.execute("SELECT number, name FROM migrations") if at else ()
    if any(names.get(number, name) != name for number, name in recorded):
        raise other_schema_error(path)
    if at > newest:
        raise StorageUnavailable(
            f"{path} was written by a newer Mnemoir (its schema is {at}, this program knows up to {newest}). "
            "Start the newer program, or restore a backup from before the upgrade."
        )


def other_schema_error(path: Path, more: str = "") -> StorageUnavailable:
    """The error for a file with another schema of Mnemoir; `more` names who else may have made it."""
    return StorageUnavailable(
        f"{path} was made by an unreleased Mnemoir{more}; take its memories along with `export` of the program that "
        "made it, and start with an empty directory."
    )


class SyncedLog:
    """The synced length of the log beside `path` when the last process ended, read before the file is opened."""

    def __init__(self, path: Path) -> None:
        """Raises StorageUnavailable for a log whose header is damaged."""
        self._log, self._index = beside(path, "-wal"), beside(path, "-shm")
        header = _start_of(self._log, _LOG_HEADER_BYTES)
        if _has_frames(self._log) and not _checksum_holds(header):
            raise damage_error(self._log, "its header is not what was written")
        self._noted = _start_of(self._index, 2 * _INDEX_COPY_BYTES)
        self._frames = _synced_frames(self._noted, header)

    def compare(self, connection: apsw.Connection) -> None:
        """Raise StorageUnavailable when less than that is readable; log and index are then restored."""
        ((_, readable, _),) = connection.execute("PRAGMA wal_checkpoint(NOOP)")
        if readable >= self._frames:
            return
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.close()
        with self._index.open("r+b") as index:
            index.write(self._noted)  # so that the next start detects it as well
        raise damage_error(self._log, f"{self._frames - readable} of {self._frames} pages in it cannot be read")


def refuse_lost_log(path: Path) -> None:
    """Raise StorageUnavailable when the log beside the file lost acknowledged writes. No process may have it."""
    synced = SyncedLog(path)
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.pragma("journal_mode", "wal")
        synced.compare(connection)
    finally:
        connection.close()


def _start_of(file: Path, size: int) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.read(size)
    except FileNotFoundError:
        return b""


def _has_frames(log: Path) -> bool:
    return log.exists() and log.stat().st_size > _LOG_HEADER_BYTES + _LOG_FRAME_HEADER_BYTES


def _checksum_holds(header: bytes) -> bool:
    """True for a log header with a valid checksum. Source: SQLite's file format documentation, 4.1 and 4.2."""
    magic = _LOG_HEADER.unpack(header[:24])[0]
    if magic & ~1 != _LOG_MAGIC:
        return False
    order = ">" if magic & 1 else "<"
    words = struct.unpack(f"{order}6I", header[:24])
    first = second = 0
    for at in range(0, 6, 2):
        first = (first + words[at] + second) & 0xFFFFFFFF
        second = (second + words[at + 1] + first) & 0xFFFFFFFF
    return (first, second) == struct.unpack(">2I", header[24:32])


def _synced_frames(index: bytes, header: bytes) -> int:
    """The number of frames that the shared index counts in the log with this header; 0 if it is of another log.

    An index that survived a loss of power may be older than the log: then the salts differ, and it proves nothing.
    """
    first, second = index[:_INDEX_COPY_BYTES], index[_INDEX_COPY_BYTES:]
    if len(second) < _INDEX_COPY_BYTES or first != second:
        return 0
    if len(header) == _LOG_HEADER_BYTES and first[32:40] != header[16:24]:
        return 0  # a log shorter than a header is damaged, not another log
    return int(struct.unpack("=I", first[16:20])[0])
