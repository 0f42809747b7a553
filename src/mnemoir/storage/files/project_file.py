"""`{WORKSPACE_ROOT}/{project}/.etienne/memories.json`: one JSON array of records, all users of a project together.

Other programs read and edit this file too, so it is plain: UTF-8, two spaces of indentation, a newline at the end,
records in the order they came. It is read as a whole and replaced as a whole. A file that is no array of objects is
left exactly as it is, and every request on it fails until a person has repaired it.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import orjson
import structlog

from mnemoir.core.atomic_file import Stamp
from mnemoir.core.errors import InvalidRequest, StorageUnavailable
from mnemoir.ports.memory_store import Project
from mnemoir.storage.files.stored_file import StoredFile
from mnemoir.storage.files.workspace import project_folder

Record = dict[str, Any]  # a JSON object: other programs write any members into it

FILE_NAME = "memories.json"
LOCK_NAME = f"{FILE_NAME}.lock"
_BOM = b"\xef\xbb\xbf"
_AS_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)
_LONG = b"0" * 19  # digits of an integer that may not fit into 64 bits

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileContent:
    """The records of the file, and its stamp when it was read; no records and None without a file.

    `digest` is that of the bytes, to distinguish a touched file from an edited one.
    """

    records: list[Record]
    stamp: Stamp | None
    digest: bytes = b""


class ProjectFile:
    """The file of one project. Every method blocks and raises StorageUnavailable."""

    def __init__(self, root: Path, project: Project) -> None:
        self._file = StoredFile(folder=project_folder(root, project), file=FILE_NAME)
        self._refused: Stamp | None = None
        self.name = self._file.name

    def stamp(self) -> Stamp | None:
        """The file's stamp, without reading it; None when there is no file."""
        return self._file.stamp()

    def read(self) -> FileContent:
        """All records; creates nothing."""
        found = self._file.read()
        if found is None:
            return FileContent(records=[], stamp=None)
        return FileContent(records=self._decode(*found), stamp=found[1], digest=digest_of(found[0]))

    def replace(
        self,
        records: Sequence[Record],
        announce: Callable[[Stamp], None],
        *,
        over: Stamp | Literal["any"] | None = "any",
    ) -> Stamp:
        """Write all records (`StoredFile.replace`); only under the lock.

        Raises InvalidRequest for a value that JSON cannot hold.
        """
        return self._file.replace(encode(records), over=over, makes_folder=False, announce=announce)

    def concurrent_edit_error(self) -> StorageUnavailable:
        """The error when the file was edited during every attempt to change it."""
        return self._file.concurrent_edit_error()

    def hold_lock(self) -> AbstractContextManager[None]:
        """Exclude all other writers (`StoredFile.hold_lock`)."""
        return self._file.hold_lock()

    def _decode(self, content: bytes, stamp: Stamp) -> list[Record]:
        try:
            return decode(content)
        except ValueError as exc:
            if self._refused != stamp:  # once for each content, not for each request
                self._refused = stamp
                _log.error("project file is damaged and was left as it is", file=self.name, cause=str(exc))
            raise StorageUnavailable(
                f"{self.name} is damaged ({exc}) and was left as it is. Repair it or put a copy in its place."
            ) from exc


def digest_of(content: bytes) -> bytes:
    """A digest of 16 bytes, to detect a change of the file's content."""
    return hashlib.blake2b(content, digest_size=16).digest()


def decode(content: bytes) -> list[Record]:
    """The records of a file; none for an empty one. Raises ValueError for anything but an array of objects."""
    content = content.removeprefix(_BOM)
    if not content:
        return []
    records = orjson.loads(content)
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise ValueError("it is JSON, but not an array of objects")
    # orjson makes a float of an integer over 64 bits, and a rewrite would then change the data
    return cast(list[Record], json.loads(content)) if _may_hold_long_integers(content) else records


def _may_hold_long_integers(content: bytes) -> bool:
    """True if it may hold one, never a false False. Searches bytes: 5 ms for 10,000 records, a pattern takes 80."""
    digits = content.translate(_AS_ZEROS)
    at = digits.find(_LONG)
    while at >= 0:
        if digits[at - 1 : at] in b":,[ \t\r\n-":
            return True
        at = digits.find(_LONG, at + len(_LONG))
    return False


def encode(records: Sequence[Record]) -> bytes:
    """The bytes of the file. Raises InvalidRequest for a value that JSON cannot hold."""
    try:
        return orjson.dumps(list(records), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    except orjson.JSONEncodeError:
        return _encode_slowly(records)


def _encode_slowly(records: Sequence[Record]) -> bytes:
    """The same bytes by the standard library, which supports long integers and deep nesting, ten times slower."""
    try:
        return (json.dumps(list(records), ensure_ascii=False, allow_nan=False, indent=2) + "\n").encode()
    except (TypeError, ValueError, RecursionError) as exc:  # lone surrogates are a ValueError too
        raise InvalidRequest(f"A memory cannot be written as JSON: {exc}.", code="validation_error") from exc
