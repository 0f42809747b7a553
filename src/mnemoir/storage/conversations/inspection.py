"""The check of a user's conversation files for damage. Nothing is written or repaired, and no file is left behind."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import apsw

from mnemoir.conversations.attachments.links import ATTACHMENTS, digest_of
from mnemoir.conversations.nodes.document import NewerDocument, UnreadableDocument, read_document, unpack
from mnemoir.conversations.nodes.keys import NODE_MEMORY_PREFIX
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.disk_files import beside
from mnemoir.storage.objects.local import is_unfinished
from mnemoir.storage.sealing.cells import is_sealed
from mnemoir.storage.sqlite.database import BUSY_MS
from mnemoir.storage.sqlite.transactions import FOREIGN

_ASIDE = ".corrupt-"
_MOST_LINES = 5


def inspect_conversations(folder: Path) -> list[str]:
    """One line for each damaged file, and for each damaged file that was set aside; with whole paths. Blocks."""
    objects = folder / "objects"
    try:
        return [
            *_databases(folder),
            *_objects(objects / NODE_MEMORY_PREFIX, "node memory", _is_node_memory),
            *_objects(objects / ATTACHMENTS, "attachment", _is_attachment),
        ]
    except OSError as exc:
        return [f"{exc.filename or folder}: it cannot be read: {exc.strerror or exc}"]


def _databases(folder: Path) -> Iterator[str]:
    for file in sorted(folder.iterdir()):
        if _ASIDE in file.name and not file.name.endswith(("-wal", "-shm")):
            yield f"{file}: a damaged file that was set aside; a new one was begun in its place"
        elif file.suffix == ".db":
            yield from (f"{file}: {problem}" for problem in database_problems(file))


def database_problems(file: Path) -> list[str]:
    """One line for each problem of a database file, without its path. Blocks."""
    if not file.stat().st_size and not beside(file, "-wal").exists():
        return ["it is empty: whoever made it was stopped, or its content is gone"]
    if beside(file, "-wal").exists():
        return _problems_in(file)
    # any other way to read it would leave a log and an index beside it, which a server may not be allowed to write
    found = _problems_in(file, "?immutable=1")
    return _problems_in(file) if found and beside(file, "-wal").exists() else found  # a server was started just now


def _problems_in(file: Path, how: str = "") -> list[str]:
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    try:
        with closing(apsw.Connection(file.absolute().as_uri() + how, flags=flags)) as connection:
            connection.set_busy_timeout(BUSY_MS)
            lines = [str(line) for (line,) in connection.execute("PRAGMA integrity_check(5)")]
            lost = connection.execute("PRAGMA foreign_key_check").fetchall()
            pages = int(connection.pragma("page_count")) * int(connection.pragma("page_size"))
    except FOREIGN as exc:
        return [f"it cannot be read: {exc}"]
    size = file.stat().st_size
    missing = [f"{pages} bytes belong in it, and it has {size}"] if how and size < pages else []
    orphans = [f"row {row} of {table} belongs to nothing" for table, row, *_ in lost[:_MOST_LINES]]
    return [*missing, *(line for line in lines if line != "ok"), *orphans]


def _objects(folder: Path, what: str, is_whole: Callable[[Path], bool]) -> Iterator[str]:
    for file in sorted(folder.rglob("*")):
        if file.is_symlink() or not file.is_file() or is_unfinished(file.name):
            continue
        if _ASIDE in file.name:
            yield f"{file}: a damaged {what} that was set aside"
        elif not is_whole(file):
            yield f"{file}: a damaged {what}"


def _is_node_memory(file: Path) -> bool:
    """True for a valid file; also for one of a later version, and for one that only a missing extra can unpack.

    An encrypted one is not looked into: it tells by itself when it is read.
    """
    try:
        content = file.read_bytes()
        if not is_sealed(content):
            read_document(unpack(content))
    except FileNotFoundError:  # deleted meanwhile
        return True
    except UnreadableDocument:
        return False
    except (NewerDocument, StorageUnavailable):
        return True
    return True


def _is_attachment(file: Path) -> bool:
    """True when its name is the digest of its bytes, and for an encrypted one."""
    try:
        content = file.read_bytes()
        return is_sealed(content) or digest_of(content) == file.stem
    except FileNotFoundError:
        return True
