"""The check of a backup: exactly the files of its list, and every database sound and of this program's schema."""

import os
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path

import apsw

from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.backups.copies import digest_of
from mnemoir.storage.backups.manifest import DATA_FOLDER, MANIFEST_FILE, FileEntry, Manifest, read_manifest
from mnemoir.storage.discussions.record_schema import refuse_other_files
from mnemoir.storage.sqlite.data_file import APPLICATION_ID, known_steps, reached_by_version, refuse_other_schemas
from mnemoir.storage.sqlite.transactions import FOREIGN, SqliteSql, storage_errors

_KINDS = {"mnemoir.db": "", "access.db": "access", "runs.db": "runs"}
_SESSIONS = "conversations.db"
_COUNTED = {
    "mnemoir.db": {"memories": "SELECT count(*) FROM memories"},
    "access.db": {"keys": "SELECT count(*) FROM api_keys"},
    _SESSIONS: {
        "conversations": "SELECT count(*) FROM sessions",
        "messages": "SELECT count(*) FROM messages",
    },
}


def problems_of(backup: Path) -> Iterator[str]:
    """A line for each problem. Reads all of it, writes nothing."""
    try:
        manifest = read_manifest(backup)
    except StorageUnavailable as exc:
        yield exc.message
        return
    data, listed = backup / DATA_FOLDER, {entry.path: entry for entry in manifest.files}
    there = set(_files_below(data))
    yield from (f"{data / path}: is missing" for path in sorted(listed.keys() - there))
    yield from (f"{data / path}: is not in {MANIFEST_FILE}" for path in sorted(there - listed.keys()))
    sound = []
    for path in sorted(listed.keys() & there):
        found = [*_in_file(data / path, listed[path])]
        yield from found
        if not found:
            sound.append(listed[path])
    if len(sound) == len(manifest.files) and counts_of(data, sound) != manifest.counts:
        yield f"{backup / MANIFEST_FILE}: its counts are not those of the files"


def counts_of(data: Path, entries: list[FileEntry]) -> dict[str, int]:
    """How many memories, conversations, messages and keys the databases hold. Raises StorageUnavailable."""
    counts: dict[str, int] = {}
    for entry in entries:
        for name, count in _count_queries(entry).items():
            path = data / entry.path
            # the suppressed error: another program's database of that name has no such table
            with storage_errors(path), suppress(apsw.SQLError), closing(_immutable_connection(path)) as connection:
                counts[name] = counts.get(name, 0) + int(connection.execute(count).get)
    return counts


def _count_queries(entry: FileEntry) -> Mapping[str, str]:
    """The queries that count what this database holds, by the name of the count; {} for other files."""
    return _COUNTED.get(Path(entry.path).name, {}) if entry.is_database else {}


def _files_below(folder: Path) -> Iterator[str]:
    """Links and other things that are no folders count as files."""
    for place, folders, names in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        for name in (*names, *links):
            yield os.path.relpath(os.path.join(place, name), folder)


def _in_file(path: Path, entry: FileEntry) -> Iterator[str]:
    try:
        if digest_of(path) != (entry.size_bytes, entry.sha256):
            yield f"{path}: is not what was written"
            return
        if entry.is_database:
            yield from _in_database(path)
    except StorageUnavailable as exc:
        yield exc.message
    except (*FOREIGN, OSError) as exc:
        yield f"{path}: cannot be read: {exc}"


def _in_database(path: Path) -> Iterator[str]:
    with closing(_immutable_connection(path)) as connection:
        lines = [str(line) for (line,) in connection.execute("PRAGMA integrity_check(5)")]
        yield from (f"{path}: {line}" for line in lines if line != "ok")
        if path.name == _SESSIONS:
            reached_by_version(path, connection, known_steps("sessions"))
        elif path.name.endswith(".vectors.db"):
            reached_by_version(path, connection, known_steps("vectors"))
        elif path.name in _KINDS and connection.pragma("application_id") == APPLICATION_ID:
            refuse_other_schemas(path, connection, known_steps(_KINDS[path.name]))
        elif path.name.endswith("vector_memory.db"):
            refuse_other_files(path, SqliteSql(connection))


def _immutable_connection(path: Path) -> apsw.Connection:
    # any other way to open it would leave a log beside it
    return apsw.Connection(
        path.absolute().as_uri() + "?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    )


def restorable(backup: Path) -> Manifest:
    """The list of a backup without problems. Raises StorageUnavailable with the first problem of others."""
    for problem in problems_of(backup):
        raise StorageUnavailable(
            f"{backup} was not restored. {problem.removesuffix('.')}. See `mnemoir backup verify`."
        )
    return read_manifest(backup)
