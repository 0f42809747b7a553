"""Files to read from and to write to, as callers name them: a path, bytes, or an open binary file."""

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from mnemoir.conversations.transfer.copies import ImportTooLarge
from mnemoir.core.atomic_file import replacing
from mnemoir.core.errors import StorageUnavailable

MOST_FILE_BYTES = 2**30
_IN_MEMORY = 2**20
_COPIED = 2**16


@contextmanager
def readable(data: bytes | BinaryIO | str | Path) -> Iterator[BinaryIO]:
    """The file, at its beginning, to be read more than once; one that cannot go back is copied aside first.

    Raises InvalidImport for one of more than a GiB, and StorageUnavailable when it cannot be read.
    """
    if isinstance(data, bytes):
        yield BytesIO(data)
    elif isinstance(data, str | Path):
        with _opened(Path(data)) as file:
            yield file
    elif data.seekable():
        yield data
    else:
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as copied:
            _copy(data, copied)
            yield copied  # type: ignore[misc]  # its stub lacks what typing.BinaryIO only names


def write_export(pieces: Iterable[bytes], file: str | Path | BinaryIO) -> int:
    """Write an export to an open file, or to a path, where it stands whole or not at all; the number of bytes.

    A file is readable by its owner alone. Raises StorageUnavailable when it cannot be written.
    """
    if not isinstance(file, str | Path):
        return sum(file.write(piece) for piece in pieces)
    path = Path(file).expanduser()
    try:
        with replacing(path) as target:
            return sum(target.write(piece) for piece in pieces)
    except OSError as exc:
        raise StorageUnavailable(f"{path} cannot be written: {exc.strerror or exc}. Choose another place.") from exc


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        file = path.expanduser().open("rb")
    except OSError as exc:
        raise StorageUnavailable(f"{path} cannot be read: {exc.strerror or exc}. Choose another file.") from exc
    with file:
        yield file


def _copy(data: BinaryIO, copied: "tempfile.SpooledTemporaryFile[bytes]") -> None:
    size = 0
    while piece := data.read(_COPIED):
        size += len(piece)
        if size > MOST_FILE_BYTES:
            raise ImportTooLarge(f"The file is larger than {MOST_FILE_BYTES} bytes.")
        copied.write(piece)
    copied.seek(0)
