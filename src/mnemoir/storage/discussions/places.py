"""The paths of a discussion's files, a file at one of them, and the discussion and kind of a file by its name.

The directory of a user's discussions mixes three layouts. WilmerAI keeps the files of a discussion in a folder of its
name since 2026, and kept them flat in 2025, except the databases, which were then beside its configuration. New files
are flat, under the names in its documentation. Existing files are used where they are. In the folder of a client's
key there are only folders of discussions.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from mnemoir.core.atomic_file import Stamp
from mnemoir.core.discussions import ClientFolder, Discussion
from mnemoir.storage.discussions.client_keys import plain_content, sealed_content
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
    "stale.jsonl": "stale",
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


def places(name: str, kind: Kind, client: ClientFolder | None = None) -> list[Place]:
    """The places of a file of that kind, in order of precedence; in the folder of a client's key there is one."""
    nested = [Place(steps=(name,), file=file) for file, found in _NESTED.items() if found == kind]
    if client is not None:
        return nested
    return nested + [Place(file=name + ending) for ending, found in _FLAT.items() if found == kind]


def all_places(name: str, client: ClientFolder | None = None) -> list[Place]:
    """Every file that may be the discussion's, without companion files."""
    nested = [Place(steps=(name,), file=file) for file in _NESTED]
    return nested if client is not None else nested + [Place(file=name + ending) for ending in _FLAT]


def lock_name(name: str) -> str:
    """The name of the file in the root whose lock is the right to make memories of the discussion."""
    return name + LOCK


def name_and_companion(file: str) -> tuple[str, str]:
    """The name of a file without the ending of a companion file, and that ending; "" for none."""
    companion = next((ending for ending in COMPANIONS if file.endswith(ending)), "")
    return file.removesuffix(companion), companion


def of_kinds(*wanted: Kind) -> list[str]:
    """The names that files of these kinds have in a discussion's folder."""
    return [file for file, kind in _NESTED.items() if kind in wanted]


def kind_in_folder(file: str) -> Kind | None:
    """The kind of a file in a discussion's folder; None for an unrelated file."""
    return _NESTED.get(file)


def owner_of(file: str) -> tuple[str, Kind] | None:
    """The discussion's name and the kind of a file in the root; None for an unrelated file."""
    for ending, kind in _FLAT.items():
        if file.endswith(ending) and len(file) > len(ending):
            return file.removesuffix(ending), kind
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedFile(StoredFile):
    """One file of a discussion, which may hold entries of a ledger; encrypted by `secret`, if there is one."""

    secret: bytes | None = field(default=None, repr=False)

    @property
    def is_array(self) -> bool:
        """True when its name requires an array; a file of any other name may hold lines or an array."""
        return self.file.endswith(".json")

    @property
    def grows(self) -> bool:
        """True when lines may be appended to it; an encrypted file is only replaced as a whole."""
        return self.secret is None and not self.is_array

    def read(self) -> tuple[bytes, Stamp] | None:
        """Its bytes, decrypted, and their stamp; None without a file. Raises KeyUnavailable."""
        read = self.raw()
        return None if read is None else (plain_content(read[0], self.secret, self.name), read[1])

    def raw(self) -> tuple[bytes, Stamp] | None:
        """Its bytes as they are stored, and their stamp; None without a file."""
        return StoredFile.read(self)

    def replace(
        self,
        content: bytes,
        *,
        over: Stamp | Literal["any"] | None = "any",
        makes_folder: bool = True,
        announce: Callable[[Stamp], None] = lambda stamp: None,
    ) -> Stamp:
        """See StoredFile; the content is encrypted."""
        stored = content if self.secret is None else sealed_content(content, self.secret)
        return StoredFile.replace(self, stored, over=over, makes_folder=makes_folder, announce=announce)

    def ledger_text(self) -> LedgerText:
        """Its entries; none without a file."""
        read = self.read()
        return self.understand(read[0] if read else b"")

    def understand(self, content: bytes) -> LedgerText:
        """The entries in its content."""
        with self.content_errors():
            return parse(content, is_array=self.is_array)

    def content_of(self, entries: Sequence[Entry], *, as_array: bool) -> bytes:
        """The entries serialised for the file, as an array or as lines."""
        with self.content_errors():
            return array_of(entries) if as_array else lines_of(entries)


def file_at(root: Path, place: Place, client: ClientFolder | None = None) -> PlacedFile:
    """The file at a place; it need not exist."""
    secret = None if client is None else client.secret
    return PlacedFile(folder=Folder(root=root, steps=place.steps), file=place.file, secret=secret)


def first_file(root: Path, places: Sequence[Place], client: ClientFolder | None = None) -> PlacedFile | None:
    """The first file that exists; None when none does."""
    files = (file_at(root, place, client) for place in places)
    return next((file for file in files if file.is_there()), None)


def file_of(discussion: Discussion, kind: Kind) -> PlacedFile | None:
    """The discussion's file of that kind; None when there is none."""
    client = discussion.client
    return first_file(discussion.root, places(discussion.file_name, kind, client), client)


def new_file_of(discussion: Discussion, kind: Kind) -> PlacedFile:
    """The file of that kind that is to be made where there is none."""
    client = discussion.client
    return file_at(discussion.root, places(discussion.file_name, kind, client)[-1], client)
