"""A file that other programs may write too, below a root and reached without following links.

All methods block. Errors of the operating system and invalid contents are raised as StorageUnavailable.

Other programs need not take our locks. So the file's stamp is checked again just before the file is replaced; if it
was edited since it was read, the new content is computed again from the edited one.
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
from mnemoir.storage.file_lock import hold_file_lock
from mnemoir.storage.files.workspace import (
    Folder,
    damage_errors,
    existing,
    file_errors,
    json_object,
    refuse_other_spelling,
)

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
        """The name in messages: the path below the root."""
        return self.folder.name_of(self.file)

    @property
    def path(self) -> Path:
        """The whole path."""
        return self.folder.root.joinpath(*self.folder.steps, self.file)

    def is_there(self) -> bool:
        """True when there is a file or a link; a folder of that name is another discussion's."""
        with self.open_folder("read") as folder:
            try:
                status = None if folder is None else os.stat(self.file, dir_fd=folder, follow_symlinks=False)
            except FileNotFoundError:
                return False
            return status is not None and not stat.S_ISDIR(status.st_mode)

    def stamp(self) -> Stamp | None:
        """The file's stamp; None without a file."""
        with self.open_folder("read") as folder:
            return None if folder is None else stamp_of(folder, self.file)

    def size(self) -> int:
        """The size in bytes; 0 without a file."""
        stamp = self.stamp()
        return stamp.size if stamp else 0

    def read(self) -> tuple[bytes, Stamp] | None:
        """The bytes and their stamp; None without a file."""
        with self.open_folder("read") as folder:
            refuse_other_spelling(self.folder)
            return None if folder is None else read_file(folder, self.file)

    def members(self) -> dict[str, Any]:
        """The members of the JSON object in the file; {} when it is missing or empty."""
        read = self.read()
        return self.members_of(read[0] if read else b"")

    def members_of(self, content: bytes) -> dict[str, Any]:
        """The members of the JSON object in the content of the file."""
        with self.content_errors():
            return json_object(content)

    def change(self, make: Callable[[bytes], bytes | None]) -> None:
        """Replace the content by `make` of the content; None leaves the file unchanged."""
        for _ in range(ATTEMPTS):
            read = self.read()
            content = make(read[0] if read else b"")
            if content is None:
                return
            with suppress(EditedMeanwhile):
                self.replace(content, over=read and read[1])
                return
        raise self.concurrent_edit_error()

    def replace(
        self,
        content: bytes,
        *,
        over: Stamp | Literal["any"] | None = "any",
        makes_folder: bool = True,
        announce: Callable[[Stamp], None] = lambda stamp: None,
    ) -> Stamp:
        """Replace the file by `content`, durably and in one step (`core.atomic_file.replace_file`).

        Raises EditedMeanwhile when the file no longer has the stamp `over`. `announce` is called with the new file's
        stamp just before the file becomes visible.
        """

        def before_rename(stamp: Stamp) -> None:
            if over != "any" and self.stamp() != over:
                raise EditedMeanwhile
            announce(stamp)

        with self.open_folder("written", create=makes_folder) as folder:
            return replace_file(existing(folder), self.file, content, before_rename=before_rename)

    def concurrent_edit_error(self) -> StorageUnavailable:
        """The error when the file was edited in each of the ATTEMPTS to change it."""
        return StorageUnavailable(f"{self.name} is edited by another program all the time. Try again later.")

    def append(self, content: bytes, *, end: int) -> Stamp:
        """Append durably after byte `end`, truncating the file there. All of the content is added or nothing."""
        with self.open_folder("written", create=True) as opened:
            remove_file(existing(opened), leftover_of(self.file))
            append_file(existing(opened), self.file, content, end=end)
            stamp = stamp_of(existing(opened), self.file)
        if stamp is None or stamp.size != end + len(content):
            raise StorageUnavailable(f"{self.name} was changed by another program meanwhile. Try again.")
        return stamp

    def remove(self) -> None:
        """Delete the file durably; harmless without a file."""
        with self.open_folder("removed") as folder:
            if folder is not None:
                remove_durably(folder, self.file)

    @contextmanager
    def hold_lock(self) -> Iterator[None]:
        """Hold the lock `<name>.lock` against all writers that take it, in this process and in others.

        Creates the folder, as the holder is about to write.
        """
        with ExitStack() as held:
            with self.open_folder("locked", create=True) as folder:
                refuse_other_spelling(self.folder)
                held.enter_context(hold_file_lock(existing(folder), f"{self.file}.lock"))
            yield

    @contextmanager
    def open_folder(self, doing: str, *, create: bool = False) -> Iterator[int | None]:
        """The open folder (`Folder.open`); `doing` is the failed action in error messages."""
        with file_errors(self.name, doing), self.folder.open(create=create) as folder:
            yield folder

    @contextmanager
    def content_errors(self) -> Iterator[None]:
        """Raise StorageUnavailable in place of ValueError, which means that the content is invalid."""
        with damage_errors(self.name):
            yield
