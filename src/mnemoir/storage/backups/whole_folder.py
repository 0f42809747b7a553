"""A folder that is made under another name and gets its own when it is whole and synced.

Who is killed on the way leaves `.<name>.unfinished`, which the next one removes.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mnemoir.core.atomic_file import sync_folder
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.disk_files import prepare_folder
from mnemoir.storage.file_lock import try_lock
from mnemoir.storage.sqlite.transactions import storage_errors


@contextmanager
def whole_folder(path: Path, *, replaces: bool = False) -> Iterator[Path]:
    """The folder to fill, private and empty. At the end it becomes `path`; when the block raises, it goes.

    Only with `replaces` it takes the place of a folder that is not empty. Raises StorageUnavailable.
    """
    unfinished, former = _hidden_path(path, "unfinished"), _hidden_path(path, "former")
    with storage_errors(path, OSError):
        for folder in reversed(path.parents):
            prepare_folder(folder)
        with alone_in(path.parent) as is_alone:
            if not is_alone:
                raise StorageUnavailable(f"Another Mnemoir is writing beside {path} now. Try again when it is done.")
            _put_right(path, unfinished, former)
            unfinished.mkdir(0o700)
            try:
                yield unfinished
                _put_in_place(unfinished, path, former if replaces else None)
            except BaseException:
                shutil.rmtree(unfinished, ignore_errors=True)
                raise


@contextmanager
def alone_in(folder: Path) -> Iterator[bool]:
    """Hold the lock of a folder in which folders are made; yields False if another has it. Raises OSError."""
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield try_lock(lock)
    finally:
        os.close(lock)


def _hidden_path(path: Path, state: str) -> Path:
    return path.with_name(f".{path.name}.{state}")


def _put_right(path: Path, unfinished: Path, former: Path) -> None:
    """Remove what a killed one left; a former folder that nothing replaced yet gets its name back."""
    if former.exists() and not path.exists():
        former.rename(path)
    for leftover in (unfinished, former):
        if leftover.is_symlink() or leftover.exists():
            shutil.rmtree(leftover)


def _put_in_place(unfinished: Path, path: Path, former: Path | None) -> None:
    sync_folder(unfinished)
    if former is not None and path.exists():
        path.rename(former)
    unfinished.rename(path)  # also over an empty folder
    sync_folder(path.parent)
    if former is not None:
        shutil.rmtree(former, ignore_errors=True)  # else the next one removes it
