"""A file that other programs may write too, below a root and reached without following links.

All methods block. What the operating system refuses, and a content that cannot be understood, is StorageUnavailable.

Other programs need not take our locks. So a file is looked at once more just before a new content takes its place; if
it was edited since it was read, the new content is made again, of the edit.
"""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

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
from mnemoir.storage.file_lock import file_locked
from mnemoir.storage.files.file_errors import damage_errors, file_errors, json_object
from mnemoir.storage.files.workspace import Folder, existing, refuse_other_spelling

ATTEMPTS = 5


class EditedMeanwhile(Exception):
    """Another program has changed the file since it was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """One file; neither it nor its folder need exist."""

    folder: Folder
    file: str

    @property
    def name(self) -> str:
        """How messages call it: the path below the root."""
        return self.folder.name_of(self.file)

    @property
    def path(self) -> Path:
        """The whole path."""
        return self.folder.root.joinpath(*self.folder.steps, self.file)

    def is_there(self) -> bool:
        """Whether there is a file; a folder of that name is another discussion's, and a link is there."""
        with self.opened("read") as folder:
            try:
                status = None if folder is None else os.stat(self.file, dir_fd=folder, follow_symlinks=False)
            except FileNotFoundError:
                return False
            return status is not None and not stat.S_ISDIR(status.st_mode)

    def stamp(self) -> Stamp | None:
        """None when it is not there."""
        with self.opened("read") as folder:
            return None if folder is None else stamp_of(folder, self.file)

    def size(self) -> int:
        """In bytes; 0 when it is not there."""
        stamp = self.stamp()
        return stamp.size if stamp else 0

    def read(self) -> tuple[bytes, Stamp] | None:
        """The bytes and their stamp; None when it is not there."""
        with self.opened("read") as folder:
            refuse_other_spelling(self.folder)
            return None if folder is None else read_file(folder, self.file)

    def members(self) -> dict[str, Any]:
        """Of the JSON object in it; {} when it is not there or empty."""
        read = self.read()
        return self.members_of(read[0] if read else b"")

    def members_of(self, content: bytes) -> dict[str, Any]:
        """Of the JSON object that was read from it."""
        with self.understood():
            return json_object(content)

    def change(self, make: Callable[[bytes], bytes | None]) -> None:
        """Put what `make` makes of the content in its place; None leaves the file as it is."""
        for _ in range(ATTEMPTS):
            read = self.read()
            content = make(read[0] if read else b"")
            if content is None:
                return
            with suppress(EditedMeanwhile):
                self.replace(content, over=read and read[1])
                return
        raise self.always_edited()

    def replace(
        self,
        content: bytes,
        *,
        over: Stamp | Literal["any"] | None = "any",
        makes_folder: bool = True,
        announce: Callable[[Stamp], None] = lambda stamp: None,
    ) -> Stamp:
        """Put `content` in its place, durably and in one step (`core.atomic_file.replace_file`).

        Raises EditedMeanwhile when the file is not the one of the stamp `over` any more. `announce` is told the stamp
        that the new file has just before it is seen.
        """

        def before_rename(stamp: Stamp) -> None:
            if over != "any" and self.stamp() != over:
                raise EditedMeanwhile
            announce(stamp)

        with self.opened("written", create=makes_folder) as folder:
            return replace_file(existing(folder), self.file, content, before_rename=before_rename)

    def always_edited(self) -> StorageUnavailable:
        """What to raise when the file was edited in each of the ATTEMPTS to change it."""
        return StorageUnavailable(f"{self.name} is edited by another program all the time. Try again later.")

    def append(self, content: bytes, *, end: int) -> Stamp:
        """Add durably behind the byte `end`; what stands there is cut off. All of the content is added or nothing."""
        with self.opened("written", create=True) as opened:
            remove_file(existing(opened), leftover_of(self.file))
            append_file(existing(opened), self.file, content, end=end)
            stamp = stamp_of(existing(opened), self.file)
        if stamp is None or stamp.size != end + len(content):
            raise StorageUnavailable(f"{self.name} was changed by another program meanwhile. Try again.")
        return stamp

    def remove(self) -> None:
        """Take it away durably; harmless when it is not there."""
        with self.opened("removed") as folder:
            if folder is not None:
                remove_durably(folder, self.file)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep every writer out that takes this lock (`<name>.lock`), in this process and in others.

        Makes the folder: whoever locks is about to write.
        """
        with ExitStack() as held:
            with self.opened("locked", create=True) as folder:
                refuse_other_spelling(self.folder)
                held.enter_context(file_locked(existing(folder), f"{self.file}.lock"))
            yield

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
