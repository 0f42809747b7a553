"""The names of discussions' files: one for each id, also where the file system takes two ids for one name."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from mnemoir.core.discussion_id import encoded_name
from mnemoir.core.discussions import ClientFolder, Discussion
from mnemoir.storage.discussions.places import (
    LOCK,
    RECORDS_ENDING,
    Place,
    all_places,
    lock_name,
    name_and_companion,
    owner_of,
)
from mnemoir.storage.spelled_folders import SpelledNames


class DiscussionNames:
    """Thread-safe; all methods block."""

    def __init__(self) -> None:
        self._names = SpelledNames()

    def named_discussion(
        self, root: Path, id: str, legacy: Path | None, client: ClientFolder | None = None
    ) -> Discussion:
        """The discussion with the name of its files.

        In a folder that cannot be listed the id keeps its own name; no file in such a folder can be opened anyway.
        """
        discussion = Discussion(root=root, id=id, legacy=legacy, client=client)
        try:
            name = self._names.of(
                root,
                id,
                lambda: _names_of(discussion),
                lambda name: any(os.path.lexists(path) for path in _paths(discussion, name)),
            )
        except OSError:
            return discussion
        return replace(discussion, is_encoded=name == encoded_name(id) != discussion.file_name)


def _names_of(discussion: Discussion) -> Iterator[str]:
    """The names of all discussions with a file beside those of this one, some more than once."""
    for entry in _entries(discussion.root):
        base, companion = name_and_companion(entry.name)
        if owner := owner_of(base):
            yield owner[0]
        elif companion == LOCK or entry.is_dir(follow_symlinks=False):
            yield base
    for entry in _entries(discussion.legacy):
        owner = owner_of(name_and_companion(entry.name)[0])
        if owner and owner[1] == "records":
            yield owner[0]


def _entries(folder: Path | None) -> list[os.DirEntry[str]]:
    if folder is None:
        return []
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _paths(discussion: Discussion, name: str) -> Iterator[Path]:
    """The paths that show that there is a discussion of that name."""
    yield discussion.root / name
    for place in (*all_places(name), Place(file=lock_name(name))):
        if not place.steps:
            yield place.below(discussion.root)
    if discussion.legacy is not None:
        yield discussion.legacy / (name + RECORDS_ENDING)
