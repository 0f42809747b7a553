"""Opening of files for import and export (a path, bytes, or an open binary file), and of untrusted zip archives.

Reading an archive's directory costs memory per entry, so its size is first read from the record at the end of the
file. Only the conversations in the archive are read, in pieces; no name in it becomes a path to write to.
"""

import stat
import struct
import tempfile
import zipfile
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, getreader
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from mnemoir.conversations.transfer.copies import ImportTooLarge, InvalidImport
from mnemoir.core.atomic_file import replacing
from mnemoir.core.errors import StorageUnavailable

MOST_FILE_BYTES = 2**30
_IN_MEMORY = 2**20
_COPIED = 2**16
_BEGINNING = b"PK\x03\x04"
_END = struct.Struct("<4s4H2LH")  # the record at the end: magic, disks, entries, size and offset of the directory


@contextmanager
def readable(data: bytes | BinaryIO | str | Path) -> Iterator[BinaryIO]:
    """The file, positioned at its beginning and seekable; a stream that cannot seek is copied first.

    Raises InvalidImport for a stream of more than 1 GiB, and StorageUnavailable when the file cannot be read.
    """
    if isinstance(data, bytes):
        yield BytesIO(data)
    elif isinstance(data, str | Path):
        with _open_file(Path(data)) as file:
            yield file
    elif data.seekable():
        yield data
    else:
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as copied:
            _copy(data, copied)
            yield copied  # type: ignore[misc]  # its stub lacks what typing.BinaryIO only names


@contextmanager
def in_utf8(file: BinaryIO) -> Iterator[BinaryIO]:
    """The file, or a copy of it in UTF-8 where its mark tells of UTF-16. Raises InvalidImport for a broken one."""
    beginning = file.read(2)
    file.seek(0)
    if beginning not in (BOM_UTF16_LE, BOM_UTF16_BE):
        yield file
        return
    reader = getreader("utf-16")(file)
    with tempfile.SpooledTemporaryFile(_IN_MEMORY) as copied:
        try:
            while piece := reader.read(_COPIED):
                copied.write(piece.encode("utf-8", "replace"))
        except UnicodeError:
            raise InvalidImport("The file begins as UTF-16 and is not. Save it as UTF-8.") from None
        copied.seek(0)
        yield copied  # type: ignore[misc]  # as above


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
def _open_file(path: Path) -> Iterator[BinaryIO]:
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


_END_MAGIC, _LARGE_MAGIC = b"PK\x05\x06", b"PK\x06\x07"
_LARGE_BYTES = 20  # of the record before it in an archive of more than 4 GiB
_MOST_COMMENT = 2**16
_MOST_DIRECTORY_BYTES = 2 * 2**20  # 20,000 entries with typical names of exports
_MOST_SWOLLEN, _SMALL = 200, 2**20  # conversations shrink to a tenth, only crafted data to a thousandth
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_IS_ENCRYPTED = 1
_DATA = (".json", ".jsonl")


def is_archive(file: BinaryIO) -> bool:
    """True when the file begins like a zip archive; its position is then at the beginning again."""
    beginning = file.read(len(_BEGINNING))
    file.seek(0)
    return beginning == _BEGINNING


@contextmanager
def opened_archive(file: BinaryIO) -> Iterator[zipfile.ZipFile]:
    """The archive. Raises InvalidImport when it is damaged, too large, or has a path outside itself."""
    _refuse_large(file)
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, struct.error, ValueError, NotImplementedError) as exc:
        raise _damaged_archive(exc) from None
    with archive:
        for entry in archive.infolist():
            _refuse_strange(entry)
        try:
            yield archive
        except (zipfile.BadZipFile, zlib.error, EOFError) as exc:
            raise _damaged_archive(exc) from None


def archive_entries(archive: zipfile.ZipFile) -> Sequence[zipfile.ZipInfo]:
    """The files in the archive, in its order. Raises ImportTooLarge when those with data are suspiciously large."""
    found = [entry for entry in archive.infolist() if not entry.is_dir()]
    data = [entry for entry in found if PurePosixPath(entry.filename).suffix in _DATA]
    size_bytes = sum(entry.file_size for entry in data)
    is_swollen = any(entry.file_size > _SMALL + _MOST_SWOLLEN * entry.compress_size for entry in data)
    if size_bytes > MOST_FILE_BYTES or is_swollen:
        raise ImportTooLarge(
            f"The conversations in the archive have {size_bytes} bytes. Unpack it, and import them in parts."
        )
    return found


def _refuse_large(file: BinaryIO) -> None:
    """Raise for a directory over the limit, whose size is in the record at the end of the file."""
    size = file.seek(0, 2)
    file.seek(max(0, size - _MOST_COMMENT - _END.size - _LARGE_BYTES))
    tail = file.read()
    file.seek(0)
    at = tail.rfind(_END_MAGIC)
    if at < 0 or len(tail) < at + _END.size:
        raise InvalidImport("The archive is cut off: its end is missing. Download it again.")
    directory_bytes = _END.unpack_from(tail, at)[5]
    if directory_bytes > _MOST_DIRECTORY_BYTES or _LARGE_MAGIC in tail[max(0, at - _LARGE_BYTES) : at]:
        raise ImportTooLarge("The archive has too many entries. Unpack it, and import its conversations.json.")


def _refuse_strange(entry: zipfile.ZipInfo) -> None:
    path = PurePosixPath(entry.filename)
    if path.is_absolute() or ".." in path.parts or "\\" in entry.filename:
        raise InvalidImport("The archive has an entry with a path outside of it. It is not an export.")
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise InvalidImport("The archive has a link in it. It is not an export.")
    if entry.flag_bits & _IS_ENCRYPTED or entry.compress_type not in _METHODS:
        raise InvalidImport("The archive is encrypted, or packed in a way that is not read. Unpack it first.")


def _damaged_archive(cause: Exception) -> InvalidImport:
    return InvalidImport(f"The archive is damaged ({type(cause).__name__}). Download it again.")
