"""Copies the files of a data directory into a backup, also while a server writes them."""

from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from pathlib import Path

from mnemoir.storage.backups.contents import Found, found_in, is_database
from mnemoir.storage.backups.copies import copy_databases, copy_file
from mnemoir.storage.backups.discussions import by_discussion
from mnemoir.storage.backups.manifest import FileEntry
from mnemoir.storage.file_lock import hold_file_lock
from mnemoir.storage.files.workspace import Folder
from mnemoir.workflows.discussion_files import OWNERS, USERS

_LOCK_PATIENCE_S = 5.0  # memories may be made for minutes; files are copied in an order that is right then, too


class Copying:
    """`entries` are the copied files by path below `root`, and `passed_over` tells what is not copied."""

    def __init__(self, root: Path, target: Path, is_skipped: Callable[[str], bool]) -> None:
        self.root = root
        self.entries: dict[str, FileEntry] = {}
        self.passed_over: list[str] = []
        self._target = target
        self._is_skipped = is_skipped

    def contents(self, folder: str) -> Found:
        """What lies below a folder of the root and is to be copied."""
        return found_in(self.root, folder, self._is_skipped)

    def copy_databases(self, paths: list[str]) -> None:
        """Copy databases as of one moment."""
        if paths:
            self.entries |= {entry.path: entry for entry in copy_databases(self.root, paths, self._target)}

    def copy_files(self, paths: Iterable[str]) -> None:
        """Copy files one by one, databases among them, unless they are copied already."""
        for path in paths:
            if path in self.entries:
                continue
            if is_database(self.root / path):
                self.copy_databases([path])
            elif (entry := copy_file(self.root, path, self._target)) is not None:
                self.entries[path] = entry

    def copy(self, path: str) -> None:
        """Copy a file, or what lies below a folder, databases first; "" is the root."""
        if (self.root / path).is_dir():
            found = self.contents(path)
            self.passed_over.extend(line for line in found.passed_over if line not in self.passed_over)
            self.copy_files([*found.databases, *found.files])
        elif is_database(self.root / path) or not (self.root / path).is_symlink():
            self.copy_files([path] if (self.root / path).is_file() else [])


def copy_user_folders(copying: Copying, place: str) -> None:
    """Copy folders of users, `{project}/{user}/`, each as of one moment: messages before what they refer to."""
    for each in sorted(copying.root.glob(f"{place}/*/*/")):
        if each.is_symlink() or each.parent.is_symlink():
            continue  # links are not followed; it is told with all others
        folder = each.relative_to(copying.root).as_posix()
        copying.copy_databases(sorted(copying.contents(folder).databases, key=lambda path: (path.count("/"), path)))
        copying.copy_files(copying.contents(folder).files)


def copy_discussions(copying: Copying, place: str) -> None:
    """Copy discussions one by one, while no memories are made of one, if that does not take long."""
    root = copying.root / place
    found = found_in(root)
    for lock, paths in by_discussion([*found.files, *found.databases], frozenset((USERS, OWNERS))).items():
        with ExitStack() as held:
            if (root / lock).is_file():  # without it no memories were made yet
                steps = lock.split("/")
                folder = held.enter_context(Folder(root=root, steps=steps[:-1]).open())
                with suppress(TimeoutError):
                    held.enter_context(hold_file_lock(folder or -1, steps[-1], patience_s=_LOCK_PATIENCE_S))
            copying.copy_files(f"{place}/{path}" for path in paths)
