"""Zip archives that nobody vouches for: bounded before they are opened, and never unpacked.

Reading an archive's directory costs memory for each entry, so its size is looked up first in the record at the end of
the file. Only the conversations in it are read, in pieces; nothing in it names a place to write to.
"""

import re
import stat
import struct
import zipfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import PurePosixPath
from typing import IO, BinaryIO, cast

from mnemoir.conversations.transfer.copies import InvalidImport
from mnemoir.conversations.transfer.files import MOST_FILE_BYTES

_MAGIC = b"PK\x03\x04"
_END = struct.Struct("<4s4H2LH")  # "end of central directory", as the format's description has it
_END_MAGIC, _LARGE_MAGIC = b"PK\x05\x06", b"PK\x06\x07"
_LARGE_BYTES = 20  # of the record in front of it that an archive of more than 4 GiB has
_MOST_COMMENT = 2**16
_MOST_DIRECTORY_BYTES = 2 * 2**20  # 20,000 entries with names as such exports have them
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_CONVERSATIONS = re.compile(r"conversations(?:-\d{1,6})?\.json")


def is_archive(file: BinaryIO) -> bool:
    """Whether it begins as one; the file stands at its beginning afterwards."""
    magic = file.read(len(_MAGIC))
    file.seek(0)
    return magic == _MAGIC


def conversation_files(file: BinaryIO) -> Iterator[AbstractContextManager[BinaryIO]]:
    """The files of conversations in an archive, by name. Raises InvalidImport for an archive that may not be read."""
    _refuse_large(file)
    try:
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            for entry in entries:
                _refuse_strange(entry)
            found = sorted((entry for entry in entries if _holds_conversations(entry)), key=lambda entry: entry.filename)
            if not found:
                raise InvalidImport("The archive has no conversations.json in it. Is it the export itself?")
            if sum(entry.file_size for entry in found) > MOST_FILE_BYTES:
                raise _too_large()
            for entry in found:
                yield cast("AbstractContextManager[BinaryIO]", _Entry(archive.open(entry)))
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, EOFError, struct.error) as exc:
        raise InvalidImport(f"The archive is damaged: {exc}.") from None
