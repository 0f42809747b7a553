"""A file of a discussion at one of the places where it may be, reached without following links.

All functions block. What the operating system refuses, and a file that cannot be understood, is StorageUnavailable.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mnemoir.core.atomic_file import (
    Stamp,
    append_file,
    leftover_of,
    read_file,
    remove_durably,
    remove_file,
    replace_file,
    stamp_of,
)
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.discussions.ledger_lines import Entry, LedgerText, array_of, lines_of, parse
from mnemoir.storage.discussions.places import Place
from mnemoir.storage.files.file_errors import damage_errors, file_errors, json_object
from mnemoir.storage.files.workspace import Folder, existing


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedFile:
    """One file; it need not exist."""

    root: Path
    place: Place

    @property
    def folder(self) -> Folder:
        """Where it lies."""
        return Folder(root=self.root, steps=self.place.steps)

    @property
    def name(self) -> str:
        """How messages call it: the path below the root."""
        return self.folder.name_of(self.place.file)

    @property
    def is_array(self) -> bool:
        """Whether its name says that it holds an array; a file of any other name may hold lines or an array."""
        return self.place.file.endswith(".json")

    def is_there(self) -> bool:
        """Whether there is a file; a folder of that name is another discussion's, and a link is there."""
        with self.opened("read") as folder:
            try:
                status = None if folder is None else os.stat(self.place.file, dir_fd=folder, follow_symlinks=False)
            except FileNotFoundError:
                return False
            return status is not None and not stat.S_ISDIR(status.st_mode)

    def stamp(self) -> Stamp | None:
        """None when it is not there."""
        with self.opened("read") as folder:
            return None if folder is None else stamp_of(folder, self.place.file)

    def size(self) -> int:
        """In bytes; 0 when it is not there."""
        stamp = self.stamp()
        return stamp.size if stamp else 0

    def read(self) -> tuple[bytes, Stamp] | None:
        """The bytes and their stamp; None when it is not there."""
        with self.opened("read") as folder:
            return None if folder is None else read_file(folder, self.place.file)

    def members(self) -> dict[str, Any]:
        """Of the JSON object in it; {} when it is not there or empty."""
        read = self.read()
        with self.understood():
            return json_object(read[0] if read else b"")

    def parsed(self) -> LedgerText:
        """Its entries; none when it is not there."""
        return self.understand(self.read())

    def understand(self, read: tuple[bytes, Stamp] | None) -> LedgerText:
        """The entries of what was read from it."""
        with self.understood():
            return parse(read[0] if read else b"", is_array=self.is_array)

    def replace_entries(self, entries: Sequence[Entry], *, as_array: bool) -> None:
        """The same as `replace`, for entries in one form or the other."""
        with self.understood():
            content = array_of(entries) if as_array else lines_of(entries)
        self.replace(content)

    def replace(self, content: bytes) -> Stamp:
        """Put `content` in its place, durably and in one step; folders are made as needed."""
        with self.opened("written", create=True) as folder:
            return replace_file(existing(folder), self.place.file, content)

    def append(self, content: bytes, *, end: int) -> Stamp:
        """Add durably behind the byte `end`; what stands there is cut off. All of the content is added or nothing."""
        with self.opened("written", create=True) as opened:
            remove_file(existing(opened), leftover_of(self.place.file))
            append_file(existing(opened), self.place.file, content, end=end)
            stamp = stamp_of(existing(opened), self.place.file)
        if stamp is None or stamp.size != end + len(content):
            raise StorageUnavailable(f"{self.name} was changed by another program meanwhile. Try again.")
        return stamp

    def remove(self) -> None:
        """Take it away durably; harmless when it is not there."""
        with self.opened("removed") as folder:
            if folder is not None:
                remove_durably(folder, self.place.file)

    @contextmanager
    def opened(self, doing: str, *, create: bool = False) -> Iterator[int | None]:
        """The open folder (`Folder.open`); `doing` is what an error says could not be done to the file."""
        with file_errors(self.name, doing), self.folder.open(create=create) as folder:
            yield folder

    @contextmanager
    def understood(self) -> Iterator[None]:
        """Raise StorageUnavailable in place of ValueError: the content is not what it should be."""
        with damage_errors(self.name):
            yield


def found(root: Path, places: Sequence[Place]) -> PlacedFile | None:
    """The first file that is there; None when none is."""
    files = (PlacedFile(root=root, place=place) for place in places)
    return next((file for file in files if file.is_there()), None)


def found_or_new(root: Path, places: Sequence[Place]) -> PlacedFile:
    """The first file that is there, else the last of the places."""
    return found(root, places) or PlacedFile(root=root, place=places[-1])
