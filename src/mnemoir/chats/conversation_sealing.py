"""Brings the files of conversations to the keys of now: a folder after the other, also those that nobody opens.

A folder that no key opens any more, as the owner's keys were destroyed, is removed.
"""

from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, closing, nullcontext
from pathlib import Path
from typing import Protocol

import structlog

from mnemoir.chats.conversation_folders import owner_of, remove, users_below
from mnemoir.chats.user_folders import OBJECTS
from mnemoir.core.data_directory import SESSIONS_FILE
from mnemoir.core.errors import Conflict, KeyDestroyed, StorageUnavailable
from mnemoir.storage.databases import embedded
from mnemoir.storage.objects.local import LocalObjects
from mnemoir.storage.objects.sealed import SealedObjects
from mnemoir.storage.sealing.cells import Cells, OwnCells
from mnemoir.storage.sealing.key_ring import KeyRing
from mnemoir.storage.sealing.own_files import SealState, bring_file_up_to_date, sealed_state
from mnemoir.storage.sql.engine import FileEngine
from mnemoir.storage.sql.tables import SESSION_FILE, VECTOR_FILE, SealedFile
from mnemoir.storage.user_pool import in_thread

_VECTORS = "*.vectors.db"
_INDEXES = "cache"
_log = structlog.get_logger(__name__)


class Folders(Protocol):
    """The folders of users, of which this process may have some open."""

    def keep_folder(self, folder: Path) -> AbstractAsyncContextManager[None]:
        """A context during which the folder is not removed."""

    async def remove_folder(self, folder: Path) -> None:
        """Remove a folder. Raises StorageUnavailable, and Conflict while it is in use."""


class ClosedFolders:
    """Folders that this process has not open."""

    def keep_folder(self, folder: Path) -> AbstractAsyncContextManager[None]:
        """Does nothing."""
        return nullcontext()

    async def remove_folder(self, folder: Path) -> None:
        """Remove a folder."""
        await in_thread(remove, folder)


async def bring_folders_up_to_date(root: Path, cells: Cells, ring: KeyRing, folders: Folders) -> tuple[int, int]:
    """Encrypt or decrypt what is not as it should be; the numbers of folders done, and of those that failed."""
    done = failed = 0
    for folder in await in_thread(users_below, root):
        try:
            done += await _bring_folder_up_to_date(folder, OwnCells(cells, owner_of(folder)), ring, folders)
        except (StorageUnavailable, Conflict) as exc:
            failed += 1
            _log.warning("conversations of a user not written anew", folder=str(folder), cause=exc.message)
    return done, failed


async def _bring_folder_up_to_date(folder: Path, own: OwnCells, ring: KeyRing, folders: Folders) -> bool:
    """Encrypt, decrypt or re-encrypt a folder's files; False when there was nothing to do."""
    try:
        async with folders.keep_folder(folder):
            return await in_thread(_brought_up_to_date, folder, own, ring)
    except KeyDestroyed:
        await folders.remove_folder(folder)
        return True


def share_of_folders(root: Path) -> tuple[int, int]:
    """The number of users with conversations, and of those whose messages and vectors are all encrypted. Blocks.

    Objects are not looked at. A file that cannot be read counts as plain.
    """
    found = [[bool(_known_state(path).sealed_by) for path, _ in _databases(folder)] for folder in users_below(root)]
    return sum(map(bool, found)), sum(bool(files) and all(files) for files in found)


def is_any_sealed(root: Path) -> bool:
    """True when any file of conversations that can be read may hold encrypted cells. Blocks."""
    return any(not _known_state(path).fits(None) for folder in users_below(root) for path, _ in _databases(folder))


def is_unreadable(folder: Path, ring: KeyRing) -> bool:
    """True when a key of the folder's files was destroyed. Blocks."""
    return any(key and ring.is_destroyed(key) for path, _ in _databases(folder) for key in embedded.seal_state(path))


def _brought_up_to_date(folder: Path, own: OwnCells, ring: KeyRing) -> bool:
    if is_unreadable(folder, ring):
        raise KeyDestroyed("Its key was destroyed.")
    others = [(path, kind) for path, kind in _databases(folder) if not embedded.seal_state(path).fits(own.key())]
    if others:
        remove(folder / _INDEXES)  # first: when that fails, all of it is tried again
    is_changed = False
    for path, kind in others:
        with closing(_open_file(path, kind, own)) as file:
            is_changed |= bring_file_up_to_date(file, kind, own)
    objects = folder / OBJECTS
    if objects.exists():
        is_changed |= SealedObjects(LocalObjects(objects), own).bring_up_to_date()
    return is_changed


def _databases(folder: Path) -> Iterator[tuple[Path, SealedFile]]:
    sessions = folder / SESSIONS_FILE
    if sessions.exists():
        yield sessions, SESSION_FILE
    for path in sorted(folder.glob(_VECTORS)):
        yield path, VECTOR_FILE


def _open_file(path: Path, kind: SealedFile, own: OwnCells) -> FileEngine:
    return embedded.open_own(path, kind, own)


def _known_state(path: Path) -> SealState:
    """The same, that of a plain file for one that cannot be read."""
    try:
        return embedded.seal_state(path)
    except StorageUnavailable:
        return sealed_state(None)
