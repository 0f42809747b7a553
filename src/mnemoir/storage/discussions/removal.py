"""Which discussions have files, and the removal of those that Mnemoir and WilmerAI know."""

import os
from collections.abc import Sequence
from pathlib import Path

from mnemoir.core.discussions import Discussion
from mnemoir.storage.discussions.places import (
    COMPANIONS,
    RECORDS_ENDING,
    Place,
    all_places,
    file_at,
    first_file,
    lock_name,
)
from mnemoir.storage.files.workspace import Folder, file_errors


def is_kept(discussion: Discussion) -> bool:
    """True when it has any file; a lock file alone does not count. Blocks."""
    return any(first_file(root, its) is not None for root, its in _everywhere(discussion))


def remove_files(discussion: Discussion) -> bool:
    """Delete all files; True when there were any. Those of other programs stay, and so does their folder. Blocks."""
    name = discussion.file_name
    removed = [_remove_all(root, place) for root, its in _everywhere(discussion) for place in its]
    remove_folder(Folder(root=discussion.root, steps=(name,)))
    file_at(discussion.root, Place(file=lock_name(name))).remove()
    return any(removed)


def _everywhere(discussion: Discussion) -> list[tuple[Path, Sequence[Place]]]:
    name = discussion.file_name
    everywhere: list[tuple[Path, Sequence[Place]]] = [(discussion.root, all_places(name, discussion.client))]
    if discussion.legacy is not None:
        everywhere.append((discussion.legacy, [Place(file=name + RECORDS_ENDING)]))
    return everywhere


def _remove_all(root: Path, place: Place) -> bool:
    """Delete a file and its companion files; True when any of them existed."""
    names = [place.file, *(place.file + companion for companion in COMPANIONS)]
    files = [file_at(root, Place(steps=place.steps, file=name)) for name in names]
    there = [file for file in files if file.is_there()]
    for file in there:
        file.remove()
    return bool(there)


def remove_folder(folder: Folder) -> None:
    """Delete the folder unless it is not empty."""
    parent = Folder(root=folder.root, steps=folder.steps[:-1])
    with file_errors(folder.name_of(""), "removed"), folder.open() as opened, parent.open() as outer:
        if opened is not None and outer is not None and not os.listdir(opened):
            os.rmdir(folder.steps[-1], dir_fd=outer)
            os.fsync(outer)
