"""Which files of a user's conversations are not whole. Nothing is written or mended."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw

from mnemoir.storage.sqlite.failures import FOREIGN
from mnemoir.storage.sqlite.readers import BUSY_MS

_ASIDE = ".corrupt-"
_MOST_LINES = 5
_GZIP = b"\x1f\x8b"


def inspect_conversations(folder: Path) -> list[str]:
    """One line for each file that is not whole, and for each damaged one that was set aside; whole paths. Blocks."""
    return [*_databases(folder), *_objects(folder / "objects" / "node_memory")]


def _databases(folder: Path) -> Iterator[str]:
    for file in sorted(folder.iterdir()):
        if _ASIDE in file.name and not file.name.endswith(("-wal", "-shm")):
            yield f"{file}: a damaged file that was set aside; a new one was begun in its place"
        elif file.suffix == ".db":
            yield from (f"{file}: {problem}" for problem in _in_database(file))


def _in_database(file: Path) -> list[str]:
    try:
        with closing(apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            connection.set_busy_timeout(BUSY_MS)
            lines = [str(line) for (line,) in connection.execute("PRAGMA integrity_check(5)")]
            lost = connection.execute("PRAGMA foreign_key_check").fetchall()
    except FOREIGN as exc:
        return [f"it cannot be read: {exc}"]
    orphans = [f"row {row} of {table} belongs to nothing" for table, row, *_ in lost[:_MOST_LINES]]
    return [*(line for line in lines if line != "ok"), *orphans]


def _objects(folder: Path) -> Iterator[str]:
    for file in sorted(folder.rglob("*")):
        if file.is_symlink() or not file.is_file():
            continue
        if _ASIDE in file.name:
            yield f"{file}: a damaged node memory that was set aside"
        elif file.suffix == ".json" and not _is_json(file):
            yield f"{file}: a node memory that cannot be read"


def _is_json(file: Path) -> bool:
    """Compressed ones are read when they are used, with a limit to their size; here they are taken as they are."""
    try:
        content = file.read_bytes()
        return content.startswith(_GZIP) or isinstance(json.loads(content), dict)
    except (OSError, ValueError, RecursionError):
        return False
