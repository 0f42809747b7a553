"""The user's files that a workflow reads and writes, below the directories that the settings allow.

A path is first resolved with all its links and then opened step by step without following any, so that a folder
cannot be swapped for a link between the check and the use. A new content is written to `<name>.tmp` beside the file,
which it replaces in one step; the writer holds the lock of the folder, in this process and in others.
"""

import asyncio
import errno
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mnemoir.core.atomic_file import append_file, read_file, replace_file, stamp_of
from mnemoir.core.errors import SettingsError
from mnemoir.ports.node_services import Refusal, UserFiles
from mnemoir.storage.file_lock import hold_folder_lock
from mnemoir.storage.files.workspace import Folder, existing

_SETTING = "workflows.file_directories"
_MOST_BYTES = 16 * 1024 * 1024
_FOREIGN = re.compile(r"[A-Za-z]:|.*\\", re.DOTALL)  # a drive, or a backslash anywhere
_UNWRITABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]|[A-Za-z][\w+.-]*://")
_CODE = (".py", ".pyc", ".pyd", ".so", ".dylib")  # files that Python would run or import from a folder


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A file below an allowed directory; `spelled` is its path as the workflow spells it."""

    spelled: str
    folder: Folder
    name: str


class FileUserFiles:
    """The files below `roots`, but none below `closed`; relative paths begin at `base`.

    A file with more than `most_bytes` is not read. A new file is private; one that is there keeps its rights.
    """

    def __init__(
        self, roots: Sequence[Path], base: Path, *, closed: Sequence[Path] = (), most_bytes: int = _MOST_BYTES
    ) -> None:
        self._roots = tuple(roots)
        self._base = base
        self._closed = tuple(closed)
        self._most_bytes = most_bytes

    async def read(self, path: str) -> str | None:
        """See the port."""
        return await asyncio.to_thread(self._read, path)

    async def write(self, path: str, text: str) -> str:
        """See the port."""
        return await asyncio.to_thread(self._write, path, _encoded_text(text, path))

    async def append(self, path: str, text: str) -> str:
        """See the port."""
        return await asyncio.to_thread(self._append, path, _encoded_text(text, path))

    def _read(self, path: str) -> str | None:
        place = self._place(path)
        content = self._content(place)
        if content is None:
            other = _other_case(place)
            content = self._content(self._place(other)) if other else None
        return None if content is None else _decoded_text(content, place.spelled)

    def _content(self, place: _Place) -> bytes | None:
        with place.folder.open() as folder:
            stamp = None if folder is None else stamp_of(folder, place.name)
            if folder is None or stamp is None:
                return None
            if stamp.size > self._most_bytes:
                raise OSError(errno.EFBIG, f"it has more than {self._most_bytes} bytes", place.spelled)
            found = read_file(folder, place.name)
        return found[0] if found else None

    def _write(self, path: str, content: bytes) -> str:
        place = self._writable(path)
        with place.folder.open(create=True) as folder, hold_folder_lock(existing(folder)):
            replace_file(existing(folder), place.name, content, keep_mode=True)
        return place.spelled

    def _append(self, path: str, content: bytes) -> str:
        place = self._writable(path)
        with place.folder.open(create=True) as folder, hold_folder_lock(existing(folder)):
            append_file(existing(folder), place.name, content)
        return place.spelled

    def _writable(self, path: str) -> _Place:
        """The place to write. Raises SettingsError also for code: a model's output must never become a module."""
        place = self._place(path)
        if place.name.lower().endswith(_CODE):
            raise SettingsError(
                f"The file {path} would be code, which no workflow may write. Give it another ending."
            )
        return place

    def full_path(self, path: str) -> str:
        """See the port. One that is no path here stays as it is."""
        return path if _refusal_of_name(path) else os.path.join(self._base, os.path.expanduser(path))

    def refusal(self, path: str) -> Refusal | None:
        """See the port."""
        found = self._place_of(path)
        return found if isinstance(found, Refusal) else None

    def _place(self, path: str) -> _Place:
        """The place of a path. Raises SettingsError for another system's, or one outside the allowed directories."""
        found = self._place_of(path)
        if isinstance(found, Refusal):
            raise SettingsError(f"{found.cause} {found.fix}")
        return found

    def _place_of(self, path: str) -> _Place | Refusal:
        if refusal := _refusal_of_name(path):
            return refusal
        spelled = self.full_path(path)
        resolved = Path(os.path.realpath(spelled))
        shut = any(_is_below(resolved, closed) for closed in self._closed)
        root = next((root for root in self._roots if _is_below(resolved, root)), None)
        if root is None or shut:
            return Refusal(
                cause=f"The file {path} lies outside the directories that workflows may read and write.",
                fix=f"Put it below one of them, or add its directory to {_SETTING}.",
            )
        steps = resolved.relative_to(os.path.realpath(root)).parts
        return _Place(spelled=spelled, folder=Folder(root=root, steps=steps[:-1]), name=steps[-1])


def _refusal_of_name(path: str) -> Refusal | None:
    """The refusal of a path that is invalid for any allowed directories; None for a valid one."""
    if _FOREIGN.match(path):
        return Refusal(
            cause=f"The path {path} is written for Windows and this server runs on another system.",
            fix=f"Put the file into the public folder and name it by a relative path with forward slashes, or add "
            f"its directory here to {_SETTING}.",
        )
    if not path or _UNWRITABLE.search(path):
        return Refusal(
            cause=f"{path!r} is no path of a file: it is empty, an address, or has control characters.",
            fix="Give the path of a file.",
        )
    if path.startswith("~") and os.path.expanduser(path) == path:
        return Refusal(
            cause=f"The path {path} names a home directory that does not exist here.", fix="Give the whole path."
        )
    return None


def _is_below(resolved: Path, root: Path) -> bool:
    inside = Path(os.path.realpath(root))
    return resolved != inside and resolved.is_relative_to(inside)


def _other_case(place: _Place) -> str | None:
    """The path of a file whose name differs only by case, the first in name order; None without one."""
    with place.folder.open() as folder:
        names = sorted(os.listdir(folder)) if folder is not None else []
    wanted = place.name.casefold()
    found = next((name for name in names if name.casefold() == wanted), None)
    return None if found is None else os.path.join(os.path.dirname(place.spelled), found)


def _decoded_text(content: bytes, path: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise OSError(errno.EILSEQ, "it is not UTF-8 text", path) from exc


def _encoded_text(text: str, path: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as exc:
        raise OSError(errno.EILSEQ, "the content cannot be written as UTF-8", path) from exc


_: type[UserFiles] = FileUserFiles
