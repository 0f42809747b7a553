"""What a user's file of conversations holds, read without opening what belongs to conversations."""

from contextlib import suppress
from pathlib import Path

import apsw

from mnemoir.core.text import digest
from mnemoir.storage.sql.catalogue import Contents
from mnemoir.storage.sql.conversations.vector_notes import SPACES
from mnemoir.storage.sql.queries import queries
from mnemoir.storage.sqlite.data_file import beside
from mnemoir.storage.sqlite.database import BUSY_MS
from mnemoir.storage.sqlite.transactions import storage_errors

_QUERIES = queries("sessions/vectors")


def contents_of(file: Path, model: str | None) -> Contents | None:
    """What it holds now; None without a file. `model` is whose vectors count; None for those of any.

    Nobody may take its folder away meanwhile. Raises StorageUnavailable for a file that cannot be read.
    """
    stamp = stamp_of(file, model)
    if stamp is None:
        return None
    with storage_errors(file):
        # one that may write: a reader that comes alone would leave a log and its index behind
        connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.set_busy_timeout(BUSY_MS)
            used_at = {digest(id): at for id, at in connection.execute(_QUERIES["sessions"])}
            ((messages, embeddable, embedded),) = connection.execute(
                _QUERIES["progress"], {"model": model, "spaces": SPACES}
            )
        finally:
            connection.close()
    return Contents(stamp=stamp, used_at=used_at, messages=messages, embeddable=embeddable, embedded=embedded)


def stamp_of(file: Path, model: str | None) -> str | None:
    """Differs when the file, its log or the model is another one; None without a file."""
    try:
        found = file.stat()
    except OSError:
        return None
    stamp = f"{found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {model or ''}"
    with suppress(OSError):
        log = beside(file, "-wal").stat()  # whoever opens it may change its owner, and so its ctime
        return f"{stamp}; {log.st_ino} {log.st_size} {log.st_mtime_ns}"
    return stamp
