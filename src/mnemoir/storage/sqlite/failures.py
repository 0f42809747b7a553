"""The one border where the database's errors become ours."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.sql.engine import Damaged

FOREIGN = (apsw.Error, UnicodeDecodeError, Damaged)  # the second for a text whose bytes were damaged
_ADVICE = "Run `mnemoir doctor` to see what is wrong, or restore the file from a backup."


@contextmanager
def storage_errors(path: Path, *foreign: type[Exception]) -> Iterator[None]:
    """Raise StorageUnavailable, naming the file, in place of what the database raises, and of `foreign` errors."""
    translated: tuple[type[Exception], ...] = (*FOREIGN, *foreign)
    try:
        yield
    except translated as exc:
        raise unavailable(path, exc) from exc


def unavailable(path: Path, cause: Exception) -> StorageUnavailable:
    """Our error for one of the database's."""
    if isinstance(cause, apsw.FullError):
        return StorageUnavailable(f"{path} could not be written: the disk is full. Free some space and try again.")
    if isinstance(cause, apsw.CorruptError | apsw.NotADBError | UnicodeDecodeError | Damaged):
        return damaged(path, str(cause))
    return StorageUnavailable(f"{path} could not be read or written: {cause}. Look at the disk and its permissions.")


def damaged(path: Path, what: str) -> StorageUnavailable:
    """The error for a file that is not what was written; it is never repaired or replaced on the quiet."""
    return StorageUnavailable(f"{path} is damaged ({what}) and was left as it is. {_ADVICE}")
