"""Whether whoever wrote something down still works: each holds a file beside the database while it does.

A file is locked, which ends with its process however that ends, so the next one knows at once. As it stands in the
folder of the database, programs that share that know of each other, also from several containers of one machine.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mnemoir.storage.disk_files import beside, prepare_folder
from mnemoir.storage.file_lock import lock_file, patiently, try_lock

_NAME = re.compile(r"[0-9a-f]{32}")
_MARK = "-held-"
_PATIENCE_S = 10.0  # with somebody who looks whether the file is held
_OPEN = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


def is_held_file(name: str) -> bool:
    """True for the name of such a file."""
    return _NAME.fullmatch(name.rpartition(_MARK)[2]) is not None and _MARK in name


class HeldFiles:
    """The files beside a database. Names are random, of 32 hexadecimal digits. Raises OSError."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._held: dict[str, int] = {}

    def hold(self, name: str) -> None:
        """Hold the file of a name, which nobody else has, until `let_go`. May be called again."""
        if name not in self._held:
            prepare_folder(self._database.parent)
            with _open_folder(self._database.parent) as folder:
                lock = patiently(lambda: lock_file(folder, self._path(name).name), _PATIENCE_S)
            if lock is None:
                raise FileExistsError(f"{self._path(name)} is held by another process.")
            self._held[name] = lock

    def let_go(self, name: str) -> None:
        """Remove the file of a name, if this object holds it."""
        if (lock := self._held.pop(name, None)) is not None:
            self._path(name).unlink(missing_ok=True)
            os.close(lock)

    def is_held(self, name: str) -> bool | None:
        """Whether a process holds the file of a name; None for a file that is not there, and for another name."""
        if _NAME.fullmatch(name) is None:
            return None
        try:
            file = os.open(self._path(name), _OPEN)
        except FileNotFoundError:
            return None
        try:
            return not try_lock(file)
        finally:
            os.close(file)

    def remove_left(self) -> None:
        """Remove the files that nobody holds any more."""
        begin = self._path("").name
        with suppress(FileNotFoundError):  # there is no folder yet
            for entry in [*self._database.parent.iterdir()]:
                name = entry.name.removeprefix(begin)
                if self.is_held(name) is False:
                    self._path(name).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return beside(self._database, f"{_MARK}{name}")


@contextmanager
def _open_folder(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
