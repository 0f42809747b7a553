"""Which file is which discussion's, by name alone.

Three layouts lie side by side in the directory of a user's discussions. WilmerAI keeps the files of a discussion in a
folder of its name since 2026, and kept them flat in 2025, but for the databases, which then lay beside its
configuration. New files are flat, under the names its documentation gives them. What is found is used where it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

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
# in the order in which they are looked for; the last of a kind is the name of a new file
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
COMPANIONS = ("-wal", "-shm", "-journal", ".tmp", ".lock", ".lock.tmp")  # of any file, left by its writers


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A file below the root: in a folder, or in the root itself when there are no `steps`."""

    steps: Sequence[str] = ()
    file: str

    def below(self, root: Path) -> Path:
        """The whole path."""
        return root.joinpath(*self.steps, self.file)


def places(name: str, kind: Kind) -> list[Place]:
    """Where a file of that kind may be, the first one to be used first."""
    nested = [Place(steps=(name,), file=file) for file, found in _NESTED.items() if found == kind]
    return nested + [Place(file=name + ending) for ending, found in _FLAT.items() if found == kind]


def all_places(name: str) -> list[Place]:
    """Every file that may be the discussion's, but for those that its writers leave beside them."""
    return [Place(steps=(name,), file=file) for file in _NESTED] + [Place(file=name + ending) for ending in _FLAT]


def lock_file(name: str) -> str:
    """The file in the root that stands for the right to make memories of the discussion."""
    return f"{name}.lock"


def kind_in_folder(file: str) -> Kind | None:
    """What a file in a discussion's folder is; None for one that is none of ours."""
    return _NESTED.get(file)


def owner_of(file: str) -> tuple[str, Kind] | None:
    """Whose a file in the root is, and what; None for one that is none of ours."""
    for ending, kind in _FLAT.items():
        if file.endswith(ending) and len(file) > len(ending):
            return file.removesuffix(ending), kind
    return None
