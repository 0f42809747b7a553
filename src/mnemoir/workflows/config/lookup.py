"""Names to files: a name in a configuration is looked up below one folder, and never leads out of it.

Configurations are written on systems that take `Foo.json` and `foo.json` for one file, and run on those that do not.
So an exact match comes first, and one without regard to case second, in each part of the path.
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

EXTENSION = ".json"
_MOST_BYTES = 255 - len(EXTENSION)  # what file systems allow in one part of a path
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_MOST_ABSENT = 4096  # names may be filled in from what people say
_SETTLED_NS = 2_000_000_000  # the coarsest clock of a common file system, FAT's

Stamp = tuple[int, int, int, int]


class FileMatch(NamedTuple):
    """A file that was there a moment ago, and what the system said of it."""

    path: str
    stat: os.stat_result


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listing:
    stamp: Stamp
    is_settled: bool
    names: Mapping[str, Sequence[str]]  # by folded name; several where only case tells them apart


class Lookup:
    """Finds files below `root`. Listings are kept as long as their directories do not change."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._listings: dict[str, _Listing] = {}
        self._absent: dict[str, Sequence[tuple[str, Stamp]]] = {}  # by path: the folders that were searched in vain

    def find(self, *parts: str) -> FileMatch | None:
        """The file at that path; None when there is none. Each part is one that `parts_of` has let through."""
        exact = os.sep.join((self.root, *parts))  # a quarter of what os.path.join takes
        if exact in self._absent and self._is_still_absent(exact):
            return None
        found = regular_file(exact) or next(self._matches(self.root, parts), None)
        if found is None:
            self._note_absent(exact, parts)
        return found

    def directories(self, *parts: str) -> list[str]:
        """All directories that path may mean, exact ones first; several where only case tells them apart."""
        return list(self._directories(self.root, parts))

    def names(self, *folder: str) -> list[str]:
        """The JSON files of a folder, without extension and in order; none of a folder that is not there."""
        return sorted(
            file[: -len(EXTENSION)] for _, file in self._entries(folder) if file.lower().endswith(EXTENSION)
        )

    def folders(self, *folder: str) -> list[str]:
        """The folders in a folder, in order."""
        return sorted({name for path, name in self._entries(folder) if os.path.isdir(os.path.join(path, name))})

    def has_folder(self, name: str, *folder: str) -> bool:
        """Whether `folders` of the folder has that very name, which may be anybody's text."""
        return any(
            name in self._listing(path).get(folded(name), ()) and os.path.isdir(os.path.join(path, name))
            for path in self._directories(self.root, folder)
        )

    def relative(self, path: str) -> str:
        """`path` as seen from the root, with slashes."""
        return os.path.relpath(path, self.root).replace(os.sep, "/")

    def _entries(self, folder: Sequence[str]) -> Iterator[tuple[str, str]]:
        for path in self._directories(self.root, folder):
            for names in self._listing(path).values():
                yield from ((path, name) for name in names)

    def _directories(self, start: str, parts: Sequence[str]) -> Iterator[str]:
        """All directories that the parts may mean, exact ones first."""
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
        """Remember that no such file was found, where the stamps of the folders will tell when one is added."""
        paths = {path for depth in range(len(parts)) for path in self._directories(self.root, parts[:depth])}
        listings = [(path, self._listings[path]) for path in paths if path in self._listings]
        if len(listings) == len(paths) and all(listing.is_settled for _, listing in listings):
            if len(self._absent) >= _MOST_ABSENT:
                self._absent.clear()
            self._absent[exact] = [(path, listing.stamp) for path, listing in listings]

    def _is_still_absent(self, exact: str) -> bool:
        try:
            for path, (changed_ns, size, inode, device) in self._absent[exact]:  # most chats ask this, several times
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
        except OSError:  # a folder is gone
            pass
        del self._absent[exact]
        return False

    def _alike(self, directory: str, name: str) -> Sequence[str]:
        names = self._listing(directory).get(folded(name), ())
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
    """The file at `path`; None for what is missing or no file. Raises SettingsError where it may not be looked at."""
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as exc:
        raise SettingsError(f"{path} cannot be read: {exc.strerror}. Correct its permissions.") from exc
    return FileMatch(path, found) if stat.S_ISREG(found.st_mode) else None


def stamp_of(found: os.stat_result) -> Stamp:
    """Differs after every change that the clock of the file system can tell apart."""
    return found.st_mtime_ns, found.st_size, found.st_ino, found.st_dev


def is_settled(found: os.stat_result) -> bool:
    """Whether a next change will have another stamp; one right after the last may share its tick of the clock."""
    return time.time_ns() - found.st_mtime_ns > _SETTLED_NS


def folded(name: str) -> str:
    """The same for names that differ in case, or in how their accents are composed."""
    return unicodedata.normalize("NFC", name).casefold()


def file_names(name: str) -> Sequence[str]:
    """What the file of that name may be called: the extension is added, and tolerated where it is there."""
    return (f"{name}{EXTENSION}", name) if name.lower().endswith(EXTENSION) else (f"{name}{EXTENSION}",)


@lru_cache(maxsize=4096)
def parts_of(name: str) -> tuple[str, ...]:
    """The parts of a path, split at slashes. Raises ValueError saying what is wrong with it."""
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
    """The parts of the name of a file. Raises SettingsError naming the field and the value."""
    try:
        return parts_of(name)
    except ValueError as exc:
        shown = name if len(name) <= 80 else f"{name[:80]}…"
        raise SettingsError(f"{field} {shown!r} is not allowed: {exc}. Give the name of something there is.") from exc


def folder_parts(field: str, name: str) -> tuple[str, ...]:
    """The parts of the name of a folder, of which "" has none. Raises SettingsError like `file_parts`."""
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
    except OSError:  # no directory, or one that may not be read: nothing is found in it
        return {}
    for name in sorted(listed):
        names.setdefault(folded(name), []).append(name)
    return names
