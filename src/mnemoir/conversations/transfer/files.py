"""Opening of files for import and export, which callers give as a path, bytes, or an open binary file."""

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
    """The file, positioned at its beginning and seekable; a stream that cannot seek is copied first.

    Raises InvalidImport for a stream of more than 1 GiB, and StorageUnavailable when the file cannot be read.
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
    """Write an export to an open file, or atomically to a path; the number of bytes.

    Only the owner can read a file at a path. Raises StorageUnavailable when it cannot be written.
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
