"""Packs of indexes as files: a folder for each user with one numpy archive of arrays.

The archive has a checksum for each array, so a damaged one is detected and deleted. With cells it is encrypted as a
whole, by the key of its user.
"""

import hashlib
import shutil
import threading
from collections import Counter
from contextlib import ExitStack, suppress
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import numpy as np
import orjson
import structlog

from mnemoir.core.atomic_file import replacing, sync_folder
from mnemoir.core.errors import KeyUnavailable
from mnemoir.core.scope import Scope
from mnemoir.ports.index_packs import Arrays, IndexPacks
from mnemoir.storage.files.workspace import file_errors
from mnemoir.storage.sealing.cells import Cells
from mnemoir.storage.sql.tables import Owner

_log = structlog.get_logger(__name__)


class _Dropped(Exception):
    """The packs of the scope were dropped while one was written."""


class PackFiles:
    """Packs below a folder, which only this process uses; the first write creates it.

    They have the key of their user, or of `owner` if all are of one.
    """

    def __init__(self, folder: Path, cells: Cells | None = None, owner: Owner | None = None) -> None:
        self._folder = folder
        self._cells = cells
        self._owner = owner
        self._lock = threading.Lock()
        self._drops: Counter[Path] = Counter()

    def read(self, scope: Scope, model: str) -> Arrays | None:
        """The stored arrays; None without any. An unreadable file is deleted."""
        path = self._path(scope, model)
        try:
            with path.open("rb") as file, np.load(self._plain_file(path, file), allow_pickle=False) as kept:
                return dict(kept)
        except (FileNotFoundError, KeyUnavailable):  # it is made anew of rows, whose keys are asked for
            return None
        except Exception as exc:  # noqa: BLE001  # a damaged archive may raise anything
            _log.warning("index is made anew", file=str(path), error=type(exc).__name__)
            with suppress(OSError):
                path.unlink()
            return None

    def mark(self, scope: Scope) -> int:
        """The number of times that this process dropped the scope's packs."""
        return self._drops[self._folder_of(scope)]

    def write(self, scope: Scope, model: str, arrays: Arrays, mark: int) -> None:
        """Store the arrays in a file that replaces the previous one."""
        path = self._path(scope, model)
        try:
            for folder in (self._folder.parent, self._folder, path.parent):
                folder.mkdir(mode=0o700, exist_ok=True)
            with ExitStack() as until_renamed, replacing(path) as file:
                self._save(scope, path, file, arrays)
                until_renamed.enter_context(self._lock)
                if self.mark(scope) != mark:
                    raise _Dropped
            for other in path.parent.iterdir():
                if other != path:
                    other.unlink()
        except _Dropped:
            _log.debug("index not kept, rows were removed")
        except (OSError, KeyUnavailable) as exc:
            _log.warning("index not kept", file=str(path), error=str(exc))

    def drop(self, scope: Scope) -> None:
        """Delete the scope's folder. A pack that is being written for it is discarded."""
        folder = self._folder_of(scope)
        with self._lock, file_errors(str(folder), "removed"):
            self._drops[folder] += 1
            if folder.exists():
                shutil.rmtree(folder)
                sync_folder(folder.parent)

    def _plain_file(self, path: Path, file: BinaryIO) -> BinaryIO:
        if self._cells is None:
            return file
        opened = self._cells.open(_place(path), file.read())
        assert isinstance(opened, bytes)  # as bytes were given
        return BytesIO(opened)

    def _save(self, scope: Scope, path: Path, file: BinaryIO, arrays: Arrays) -> None:
        if self._cells is None or not self._cells.seals:
            np.savez(file, allow_pickle=False, **arrays)
            return
        packed = BytesIO()
        np.savez(packed, allow_pickle=False, **arrays)
        key = self._cells.keys.current(self._owner or (scope.tenant, scope.project, scope.user))
        sealed = self._cells.seal(key, _place(path), packed.getvalue())
        assert isinstance(sealed, bytes)  # as bytes were given
        file.write(sealed)

    def _path(self, scope: Scope, model: str) -> Path:
        return self._folder_of(scope) / f"{_digest(model)}.npz"

    def _folder_of(self, scope: Scope) -> Path:
        return self._folder / _digest(scope.tenant, scope.project, scope.user)


def _place(path: Path) -> bytes:
    return f"pack\0{path.parent.name}\0{path.name}".encode()


def _digest(*names: str) -> str:
    return hashlib.blake2b(orjson.dumps(names), digest_size=16).hexdigest()


_: type[IndexPacks] = PackFiles  # checked, never run
