"""Lookup of files by the names in a configuration, below one folder and never outside it.

Configurations may be written on a system where `Foo.json` and `foo.json` are one file, and run on one where they are
not. So in each part of the path an exact match comes first, then a match ignoring case.
"""

import os
import re
import stat
import time
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from mnemoir.core.errors import SettingsError
from mnemoir.core.text import folded_name

EXTENSION = ".json"
_MOST_BYTES = 255 - len(EXTENSION)  # limit of file systems for one part of a path
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_MOST_ABSENT = 4096  # limited, because names may contain text of people
_SETTLED_NS = 2_000_000_000  # resolution of FAT's times, the coarsest of common file systems

Stamp = tuple[int, int, int, int]


class FileMatch(NamedTuple):
    """A file found by a lookup, with its status at that time."""

    path: str
    stat: os.stat_result


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listing:
    stamp: Stamp
    is_settled: bool
    names: Mapping[str, Sequence[str]]  # by folded name; several names may differ only by case


class Lookup:
    """Finds files below `root`. Listings of directories are cached as long as these do not change."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._listings: dict[str, _Listing] = {}
        self._absent: dict[str, Sequence[tuple[str, Stamp]]] = {}  # by missing path: the folders searched for it

    def find(self, *parts: str) -> FileMatch | None:
        """The file at that path; None for a missing file. The parts must come from `parts_of`, which checks them."""
        exact = os.sep.join((self.root, *parts))  # takes a quarter of the time of os.path.join
        if exact in self._absent and self._is_still_absent(exact):
            return None
        found = regular_file(exact) or next(self._matches(self.root, parts), None)
        if found is None:
            self._note_absent(exact, parts)
        return found

    def directories(self, *parts: str) -> list[str]:
        """All directories that match the path, exact matches first; several may differ only by case."""
        return list(self._directories(self.root, parts))

    def names(self, *folder: str) -> list[str]:
        """The names of JSON files in a folder, without extension, in order; [] for a missing folder."""
        return sorted(
            file[: -len(EXTENSION)] for _, file in self._entries(folder) if file.lower().endswith(EXTENSION)
        )

    def folders(self, *folder: str) -> list[str]:
        """The names of the folders in a folder, in order."""
        return sorted({name for path, name in self._entries(folder) if os.path.isdir(os.path.join(path, name))})

    def has_folder(self, name: str, *folder: str) -> bool:
        """True when `folders` of the folder contains exactly that name. The name may be untrusted text."""
        return any(
            name in self._listing(path).get(folded_name(name), ()) and os.path.isdir(os.path.join(path, name))
            for path in self._directories(self.root, folder)
        )

    def relative(self, path: str) -> str:
        """`path` relative to the root, with slashes."""
        return os.path.relpath(path, self.root).replace(os.sep, "/")

    def _entries(self, folder: Sequence[str]) -> Iterator[tuple[str, str]]:
        for path in self._directories(self.root, folder):
            for names in self._listing(path).values():
                yield from ((path, name) for name in names)

    def _directories(self, start: str, parts: Sequence[str]) -> Iterator[str]:
        """All directories that match the parts, exact matches first."""
        if not parts:
            yield start
            return
        for name in self._alike(start, parts[0]):
            yield from self._directories(os.path.join(start, name), parts[1:])

    def _matches(self, start: str, parts: Sequence[str]) -> Iterator[FileMatch]:
        for directory in self._directories(start, parts[:-1]):
            for name in self._alike(directory, parts[-1]):
                if found := regular_file(os.path.join(directory, name)):
                    yield found

    def _note_absent(self, exact: str, parts: Sequence[str]) -> None:
        """Cache that the file is missing, if the stamps of the folders will show when it is added."""
        paths = {path for depth in range(len(parts)) for path in self._directories(self.root, parts[:depth])}
        listings = [(path, self._listings[path]) for path in paths if path in self._listings]
        if len(listings) == len(paths) and all(listing.is_settled for _, listing in listings):
            if len(self._absent) >= _MOST_ABSENT:
                self._absent.clear()
            self._absent[exact] = [(path, listing.stamp) for path, listing in listings]

    def _is_still_absent(self, exact: str) -> bool:
        try:
            for path, (changed_ns, size, inode, device) in self._absent[exact]:  # most chats run this several times
                found = os.stat(path)
                if (
                    found.st_mtime_ns != changed_ns
                    or found.st_ino != inode
                    or found.st_size != size
                    or found.st_dev != device
                ):
                    break
            else:
                return True
        except OSError:  # a folder was removed
            pass
        del self._absent[exact]
        return False

    def _alike(self, directory: str, name: str) -> Sequence[str]:
        names = self._listing(directory).get(folded_name(name), ())
        return names if len(names) < 2 else sorted(names, key=lambda other: (other != name, other))

    def _listing(self, directory: str) -> Mapping[str, Sequence[str]]:
        try:
            found = os.stat(directory)
        except OSError:
            self._listings.pop(directory, None)
            return {}
        stamp, known = stamp_of(found), self._listings.get(directory)
        if known is None or known.stamp != stamp or not known.is_settled:
            names = _names_in(directory)
            known = self._listings[directory] = _Listing(stamp=stamp, is_settled=is_settled(found), names=names)
        return known.names


def regular_file(path: str) -> FileMatch | None:
    """The regular file at `path`, or None. Raises SettingsError without permission to read its status."""
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as exc:
        raise SettingsError(f"{path} cannot be read: {exc.strerror}. Correct its permissions.") from exc
    return FileMatch(path, found) if stat.S_ISREG(found.st_mode) else None


def stamp_of(found: os.stat_result) -> Stamp:
    """The stamp of a file's status: different after every change that the file system's clock can distinguish."""
    return found.st_mtime_ns, found.st_size, found.st_ino, found.st_dev


def is_settled(found: os.stat_result) -> bool:
    """True when any further change will get a new stamp.

    A change right after the last one may have the same time on a coarse clock.
    """
    return time.time_ns() - found.st_mtime_ns > _SETTLED_NS


def file_names(name: str) -> Sequence[str]:
    """The possible file names of a name: with the extension added, or as it is if it has the extension."""
    return (f"{name}{EXTENSION}", name) if name.lower().endswith(EXTENSION) else (f"{name}{EXTENSION}",)


@lru_cache(maxsize=4096)
def parts_of(name: str) -> tuple[str, ...]:
    """The parts of a path, split at slashes. Raises ValueError with the fault of a forbidden path."""
    if not name:
        raise ValueError("it is empty")
    if len(name) > _MOST_BYTES:
        raise ValueError("it is too long")
    if name.startswith("/") or re.match("[A-Za-z]:", name):
        raise ValueError("it is an absolute path")
    if "\\" in name:
        raise ValueError("it has a backslash; folders are separated by /")
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in name):
        raise ValueError("it has a control character")
    parts = tuple(name.split("/"))
    if any(len(part.encode()) > _MOST_BYTES for part in parts):
        raise ValueError("it is too long")
    for part in parts:
        _check_part(part)
    return parts


def file_parts(field: str, name: str) -> tuple[str, ...]:
    """The parts of the name of a file. Raises SettingsError naming the field and the value if it is forbidden."""
    try:
        return parts_of(name)
    except ValueError as exc:
        shown = name if len(name) <= 80 else f"{name[:80]}…"
        raise SettingsError(f"{field} {shown!r} is not allowed: {exc}. Give the name of something there is.") from exc


def folder_parts(field: str, name: str) -> tuple[str, ...]:
    """The parts of the name of a folder, () for "". Raises SettingsError as `file_parts` does."""
    name = name.removesuffix("/")
    return file_parts(field, name) if name else ()


def _check_part(part: str) -> None:
    if not part:
        raise ValueError("one of its parts is empty")
    if part in (".", ".."):
        raise ValueError(f"{part} would leave its folder")
    if part.endswith((".", " ")):
        raise ValueError("it ends with a dot or a space")
    if _DEVICES.fullmatch(part):
        raise ValueError(f"{part} is the name of a device on some systems")


def _names_in(directory: str) -> Mapping[str, Sequence[str]]:
    names: dict[str, list[str]] = {}
    try:
        listed = os.listdir(directory)
    except OSError:  # no directory, or an unreadable one: nothing is found in it
        return {}
    for name in sorted(listed):
        names.setdefault(folded_name(name), []).append(name)
    return names
