"""Durable copies of single files and of databases, also while others write to them.

A file is copied again until it was the same before and after. Databases are copied by SQLite's online backup within a
reading transaction, which delays no writer of a write-ahead log.
"""

import hashlib
import os
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

import apsw

from mnemoir.core.atomic_file import replacing, stamp_of, sync_file
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.backups.manifest import FileEntry
from mnemoir.storage.disk_files import beside
from mnemoir.storage.file_lock import patiently
from mnemoir.storage.files.workspace import Folder
from mnemoir.storage.sqlite.transactions import storage_errors, unavailable

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PIECE = 1 << 20
_PATIENCE_S = 30.0  # for a file that is being written
_MOMENT_S = 5.0  # for a moment in which nobody writes to one of several databases
_BUSY_MS = 30_000


@dataclass(frozen=True, slots=True)
class _Copied:
    size_bytes: int
    sha256: str


_GONE = _Copied(0, "")  # of a file that was deleted


def copy_file(root: Path, path: str, target: Path) -> FileEntry | None:
    """Copy `root/path` to `target/path`; None for a file that is gone. Raises StorageUnavailable."""
    *steps, name = path.split("/")
    source = Folder(root=root, steps=steps)
    with storage_errors(root / path, OSError), ExitStack() as opened:
        folder = opened.enter_context(source.open())
        if folder is None:
            return None
        opened.enter_context(Folder(root=target, steps=steps).open(create=True))
        attempt = partial(_unchanged_copy, folder, name, target / path)
        copied = patiently(attempt, _PATIENCE_S)
    if copied is None:
        raise StorageUnavailable(f"{root / path} changes faster than it can be copied. Try again later.")
    return None if copied is _GONE else _entry(path, copied, is_database=False)


def copy_databases(root: Path, paths: Sequence[str], target: Path) -> list[FileEntry]:
    """Copy the databases as of one moment, or, when their writers never pause, each a little after the one before.

    Raises StorageUnavailable, also for a damaged one.
    """
    with ExitStack() as opened:
        sources = [(path, opened.enter_context(closing(_source(root / path)))) for path in paths]
        watches = [opened.enter_context(closing(_source(root / path))) for path in paths[:-1]]
        with storage_errors(root / paths[0]):
            # without a write-ahead log nobody can write to what is being read
            watches = [watch for watch in watches if watch.pragma("journal_mode") == "wal"]
            patiently(lambda: _begun_at_once([source for _, source in sources], watches) or None, _MOMENT_S)
        return [_copied_database(root, path, source, target) for path, source in sources]


def digest_of(path: Path) -> tuple[int, str]:
    """Size in bytes and SHA-256 of a file that is no link. Raises OSError."""
    with open(os.open(path, _READ), "rb") as file:
        return os.fstat(file.fileno()).st_size, hashlib.file_digest(file, "sha256").hexdigest()


def _unchanged_copy(folder: int, name: str, target: Path) -> _Copied | None:
    """One try; None when the file was changed meanwhile."""
    before = stamp_of(folder, name)
    with suppress(FileNotFoundError):
        if before is not None:
            with replacing(target) as file:
                copied = _copy_bytes(open(os.open(name, _READ, dir_fd=folder), "rb"), file)  # noqa: SIM115
            return copied if stamp_of(folder, name) == before else None
    target.unlink(missing_ok=True)
    return _GONE


def _copy_bytes(source: BinaryIO, target: BinaryIO) -> _Copied:
    digest, size = hashlib.sha256(), 0
    with source:
        while piece := source.read(_PIECE):
            digest.update(piece)
            size += target.write(piece)
    return _Copied(size, digest.hexdigest())


def _source(path: Path) -> apsw.Connection:
    # a journal that a killed writer left is rolled back, as the next one who opens the file does, too
    is_left = beside(path, "-journal").exists()
    flags = apsw.SQLITE_OPEN_READWRITE if is_left else apsw.SQLITE_OPEN_READONLY
    with storage_errors(path):
        connection = apsw.Connection(str(path), flags=flags)
        connection.set_busy_timeout(_BUSY_MS)
        return connection


def _begun_at_once(sources: Sequence[apsw.Connection], watches: Sequence[apsw.Connection]) -> bool:
    """Begin to read all of them, in their order; True when nobody wrote to an earlier one meanwhile."""
    before = [_version(watch) for watch in watches]
    for source in sources:
        if source.in_transaction:
            source.execute("ROLLBACK")
        source.execute("BEGIN")
    for source in sources:
        source.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # from now on it sees one state
    return [_version(watch) for watch in watches] == before


def _version(watch: apsw.Connection) -> int:
    """A number that changes with every write of others."""
    return int(watch.pragma("data_version"))


def _copied_database(root: Path, path: str, source: apsw.Connection, target: Path) -> FileEntry:
    copy = target / path
    with storage_errors(root / path, OSError):
        with Folder(root=target, steps=path.split("/")[:-1]).open(create=True):
            os.close(os.open(copy, _CREATE, 0o600))
        with closing(apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READWRITE)) as written:
            written.pragma("journal_mode", "off")
            written.pragma("synchronous", "off")  # it is synced below
            try:
                with written.backup("main", source, "main") as backup:
                    backup.step(-1)
            except apsw.FullError as exc:  # what else fails may be the source
                raise unavailable(copy, exc) from exc
        source.execute("ROLLBACK")
        sync_file(copy)
        return _entry(path, _Copied(*digest_of(copy)), is_database=True)


def _entry(path: str, copied: _Copied, *, is_database: bool) -> FileEntry:
    return FileEntry(path=path, size_bytes=copied.size_bytes, sha256=copied.sha256, is_database=is_database)
