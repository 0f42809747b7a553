"""Where the wrapped keys lie: in a file, or in a database that others use too."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from mnemoir.storage.sql.engine import FileEngine, file_state


class KeyStore(Protocol):
    """A place for a key store. Every method blocks, and may raise StorageUnavailable; no two threads call `open`."""

    @property
    def name(self) -> str:
        """What errors call it."""

    def exists(self) -> bool:
        """Whether it is there."""

    def state(self) -> object:
        """Another value after each change by any program. Cheap: it is asked for once a second."""

    def open(self) -> FileEngine:
        """The store, made if it is missing. The caller closes it."""


class KeyFile:
    """A key store in a file, which `open_file` opens."""

    def __init__(self, path: Path, open_file: Callable[[Path], FileEngine]) -> None:
        self.path = path
        self.name = str(path)
        self._open_file = open_file

    def exists(self) -> bool:
        """By the file."""
        return self.path.exists()

    def state(self) -> object:
        """By the file, which is not opened."""
        return file_state(self.path)

    def open(self) -> FileEngine:
        """The file."""
        return self._open_file(self.path)


_: type[KeyStore] = KeyFile  # checked, never run
