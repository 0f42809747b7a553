"""A file of a discussion at one of its possible places."""

from collections.abc import Sequence
from pathlib import Path

from mnemoir.storage.discussions.ledger_lines import Entry, LedgerText, array_of, lines_of, parse
from mnemoir.storage.discussions.places import Place
from mnemoir.storage.files.stored_file import StoredFile
from mnemoir.storage.files.workspace import Folder


class PlacedFile(StoredFile):
    """One file of a discussion, which may hold entries of a ledger."""

    __slots__ = ()

    @property
    def is_array(self) -> bool:
        """True when its name requires an array; a file of any other name may hold lines or an array."""
        return self.file.endswith(".json")

    def parsed(self) -> LedgerText:
        """Its entries; none without a file."""
        read = self.read()
        return self.understand(read[0] if read else b"")

    def understand(self, content: bytes) -> LedgerText:
        """The entries in its content."""
        with self.understood():
            return parse(content, is_array=self.is_array)

    def content_of(self, entries: Sequence[Entry], *, as_array: bool) -> bytes:
        """The entries serialised for the file, as an array or as lines."""
        with self.understood():
            return array_of(entries) if as_array else lines_of(entries)


def placed(root: Path, place: Place) -> PlacedFile:
    """The file at a place; it need not exist."""
    return PlacedFile(folder=Folder(root=root, steps=place.steps), file=place.file)


def found(root: Path, places: Sequence[Place]) -> PlacedFile | None:
    """The first file that exists; None when none does."""
    files = (placed(root, place) for place in places)
    return next((file for file in files if file.is_there()), None)


def found_or_new(root: Path, places: Sequence[Place]) -> PlacedFile:
    """The first file that exists, else the file at the last place."""
    return found(root, places) or placed(root, places[-1])
