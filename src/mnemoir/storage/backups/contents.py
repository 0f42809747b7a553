"""The files below a folder that belong into a backup, databases apart; links are reported, not followed."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mnemoir.core.atomic_file import leftover_of
from mnemoir.storage.held_files import is_held_file
from mnemoir.storage.process_lock import LOCK_FILE
from mnemoir.storage.sqlite.data_file import begins_like_a_database
from mnemoir.storage.sqlite.shared_file import is_set_aside

_SIDE_ENDINGS = ("-wal", "-shm", "-journal")
_LEFTOVERS = (leftover_of(""), ".db.new", ".db.new-journal")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Paths below the root, with slashes, sorted. `passed_over` has a line for each that cannot be copied."""

    databases: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    passed_over: list[str] = field(default_factory=list)


def found_in(root: Path, below: str = "", is_skipped: Callable[[str], bool] = lambda path: False) -> Found:
    """What lies below `root/below`. Raises OSError."""
    found = Found()
    for path, entry in _entries(root, below, is_skipped):
        if entry.is_symlink():
            found.passed_over.append(f"{root / path} is a link, and links are not followed.")
        elif not entry.is_file(follow_symlinks=False):
            found.passed_over.append(f"{root / path} is no regular file.")
        elif not _is_passing(root / path):
            (found.databases if is_database(root / path) else found.files).append(path)
    return found


def is_database(path: Path) -> bool:
    """True for a database, but for a damaged one that was set aside. It must not be open in this process."""
    return not is_set_aside(path.name) and begins_like_a_database(path)


def _is_passing(path: Path) -> bool:
    """True for locks, for what a writer has not finished, and for side files, whose content a copied database has."""
    if path.name == LOCK_FILE or is_held_file(path.name) or path.name.endswith(_LEFTOVERS):
        return True
    main = next((path.name.removesuffix(end) for end in _SIDE_ENDINGS if path.name.endswith(end)), None)
    return main is not None and not is_set_aside(main) and path.with_name(main).exists()


def _entries(root: Path, below: str, is_skipped: Callable[[str], bool]) -> Iterator[tuple[str, "os.DirEntry[str]"]]:
    try:
        with os.scandir(root / below) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except FileNotFoundError:
        return
    for entry in entries:
        path = f"{below}/{entry.name}" if below else entry.name
        if is_skipped(path):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _entries(root, path, is_skipped)
        else:
            yield path, entry
