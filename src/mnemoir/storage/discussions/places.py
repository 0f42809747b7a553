"""The paths of a discussion's files, a file at one of them, and the discussion and kind of a file by its name.

The directory of a user's discussions mixes three layouts. WilmerAI keeps the files of a discussion in a folder of its
name since 2026, and kept them flat in 2025, except the databases, which were then beside its configuration. New files
are flat, under the names in its documentation. Existing files are used where they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from mnemoir.storage.discussions.ledger_lines import Entry, LedgerText, array_of, lines_of, parse
from mnemoir.storage.files.stored_file import StoredFile
from mnemoir.storage.files.workspace import Folder

Kind = Literal["memories", "summary", "records", "times", "stale", "state", "other"]

_NESTED: Final[dict[str, Kind]] = {
    "memories.json": "memories",
    "chat_summary.json": "summary",
    "vector_memory.db": "records",
    "timestamps.json": "times",
    "condensation_tracker.json": "other",
    "vision_responses.json": "other",
    "state_document.md": "state",
    "state_document.md.bak": "other",
    "state_document.bak": "other",
    "context_compactor_old.json": "other",
    "context_compactor_oldest.json": "other",
}
# in the order of the search; the last of a kind is the name of a new file
_FLAT: Final[dict[str, Kind]] = {
    "_memories.json": "memories",
    "_memories.jsonl": "memories",
    "_chat_summary.json": "summary",
    "_summary.jsonl": "summary",
    "_vector_memory.db": "records",
    "_timestamps.json": "times",
    "_stale.jsonl": "stale",
}
RECORDS_ENDING = "_vector_memory.db"
LOCK = ".lock"
COMPANIONS = ("-wal", "-shm", "-journal", ".tmp", LOCK, ".lock.tmp")  # of any file, left by its writers


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A path below the root: in a folder, or in the root itself when `steps` is empty."""

    steps: Sequence[str] = ()
    file: str

    def below(self, root: Path) -> Path:
        """The whole path."""
        return root.joinpath(*self.steps, self.file)


def places(name: str, kind: Kind) -> list[Place]:
    """The places of a file of that kind, in order of precedence."""
    nested = [Place(steps=(name,), file=file) for file, found in _NESTED.items() if found == kind]
    return nested + [Place(file=name + ending) for ending, found in _FLAT.items() if found == kind]


def all_places(name: str) -> list[Place]:
    """Every file that may be the discussion's, without companion files."""
    return [Place(steps=(name,), file=file) for file in _NESTED] + [Place(file=name + ending) for ending in _FLAT]


def lock_name(name: str) -> str:
    """The name of the file in the root whose lock is the right to make memories of the discussion."""
    return name + LOCK


def parted(file: str) -> tuple[str, str]:
    """The name of a file without the ending of a companion file, and that ending; "" for none."""
    companion = next((ending for ending in COMPANIONS if file.endswith(ending)), "")
    return file.removesuffix(companion), companion


def kind_in_folder(file: str) -> Kind | None:
    """The kind of a file in a discussion's folder; None for an unrelated file."""
    return _NESTED.get(file)


def owner_of(file: str) -> tuple[str, Kind] | None:
    """The discussion's name and the kind of a file in the root; None for an unrelated file."""
    for ending, kind in _FLAT.items():
        if file.endswith(ending) and len(file) > len(ending):
            return file.removesuffix(ending), kind
    return None


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
