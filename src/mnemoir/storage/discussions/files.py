"""The files of discussions as a whole: the right to make memories, the list of discussions, and their removal."""

import asyncio
import os
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from mnemoir.core.discussion_id import directory_name
from mnemoir.core.discussions import Discussion, DiscussionListed
from mnemoir.ports.discussions import DiscussionFiles
from mnemoir.storage.discussions.inspection import inspect
from mnemoir.storage.discussions.listing import DiscussionListing
from mnemoir.storage.discussions.making_lock import making_lock
from mnemoir.storage.discussions.placed_file import found, placed
from mnemoir.storage.discussions.places import COMPANIONS, RECORDS_ENDING, Place, all_places, lock_name, places
from mnemoir.storage.files.file_errors import file_errors
from mnemoir.storage.files.workspace import Folder


class FileDiscussionFiles:
    """Accesses nothing outside a root, except the databases that WilmerAI kept beside its configuration."""

    def __init__(self) -> None:
        self._listing = DiscussionListing()

    def making(self, discussion: Discussion, *, patience_s: float = 0.0) -> AbstractAsyncContextManager[bool]:
        """See the port. The lock is released when the process ends; other discussions do not wait for it."""
        return making_lock(discussion, patience_s)

    async def listed(self, root: Path, legacy: Path | None = None) -> Sequence[DiscussionListed]:
        """See the port; unreadable files are logged and counted as 0."""
        return await asyncio.to_thread(self._listing.listed, root, legacy)

    async def problems(self, root: Path, legacy: Path | None = None) -> Sequence[str]:
        """See the port; an unreadable file is a problem too."""
        return await asyncio.to_thread(inspect, root, legacy)

    async def entry(self, discussion: Discussion) -> DiscussionListed | None:
        """See the port."""
        return await asyncio.to_thread(self._listing.entry, discussion)

    async def exists(self, discussion: Discussion) -> bool:
        """See the port; a lock file alone does not count."""
        return await asyncio.to_thread(_exists, discussion)

    async def state_document(self, discussion: Discussion) -> str | None:
        """See the port. Raises StorageUnavailable for a file that is no UTF-8 text."""
        return await asyncio.to_thread(_state_document, discussion)

    async def remove(self, discussion: Discussion) -> bool:
        """See the port. Files of other programs than Mnemoir and WilmerAI stay, and so does their folder."""
        return await asyncio.to_thread(_remove, discussion)


def _exists(discussion: Discussion) -> bool:
    return any(found(root, its) is not None for root, its in _everywhere(discussion))


def _state_document(discussion: Discussion) -> str | None:
    file = found(discussion.root, places(directory_name(discussion.id), "state"))
    read = file.read() if file else None
    if file is None or read is None:
        return None
    with file.understood():
        return read[0].decode("utf-8-sig")


def _remove(discussion: Discussion) -> bool:
    name = directory_name(discussion.id)
    removed = [_remove_all(root, place) for root, its in _everywhere(discussion) for place in its]
    _remove_folder(Folder(root=discussion.root, steps=(name,)))
    placed(discussion.root, Place(file=lock_name(name))).remove()
    return any(removed)


def _everywhere(discussion: Discussion) -> list[tuple[Path, Sequence[Place]]]:
    name = directory_name(discussion.id)
    everywhere: list[tuple[Path, Sequence[Place]]] = [(discussion.root, all_places(name))]
    if discussion.legacy is not None:
        everywhere.append((discussion.legacy, [Place(file=name + RECORDS_ENDING)]))
    return everywhere


def _remove_all(root: Path, place: Place) -> bool:
    """Delete a file and its companion files; True when any of them existed."""
    names = [place.file, *(place.file + companion for companion in COMPANIONS)]
    files = [placed(root, Place(steps=place.steps, file=name)) for name in names]
    there = [file for file in files if file.is_there()]
    for file in there:
        file.remove()
    return bool(there)


def _remove_folder(folder: Folder) -> None:
    """Delete the folder unless it is not empty."""
    parent = Folder(root=folder.root, steps=folder.steps[:-1])
    with file_errors(folder.name_of(""), "removed"), folder.open() as opened, parent.open() as outer:
        if opened is not None and outer is not None and not os.listdir(opened):
            os.rmdir(folder.steps[-1], dir_fd=outer)
            os.fsync(outer)


_: type[DiscussionFiles] = FileDiscussionFiles  # checked, never run
