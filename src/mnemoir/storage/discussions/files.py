"""The files of discussions as a whole: the right to make memories, the list of discussions, their check and removal.

The right is a lock on `<name>.lock`, released when its process ends. The check for damage writes and repairs nothing:
every file that may be a discussion's is read, also one that is not in use because another one takes precedence.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, suppress
from pathlib import Path

import apsw

from mnemoir.core.discussions import ClientFolder, Discussion, DiscussionListed
from mnemoir.core.errors import KeyUnavailable, StorageUnavailable
from mnemoir.ports.discussions import DiscussionFiles
from mnemoir.storage.discussions.as_stored import files_with_content
from mnemoir.storage.discussions.client_keys import ClientKeyRing, is_folder_name
from mnemoir.storage.discussions.listing import DiscussionListing, can_be_named
from mnemoir.storage.discussions.moving import move_files
from mnemoir.storage.discussions.names import DiscussionNames
from mnemoir.storage.discussions.places import (
    Kind,
    Place,
    PlacedFile,
    file_at,
    file_of,
    kind_in_folder,
    lock_name,
    owner_of,
)
from mnemoir.storage.discussions.record_files import identity_of, is_too_short, open_connection, real
from mnemoir.storage.discussions.record_schema import refuse_other_files
from mnemoir.storage.discussions.removal import is_kept, remove_files
from mnemoir.storage.file_lock import lock_file, pauses
from mnemoir.storage.files.workspace import Folder, existing, file_errors
from mnemoir.storage.sqlite.transactions import FOREIGN, SqliteSql

_HALF_WRITTEN = "a killed writer left it half written. The next use of the discussion undoes that; then look again."

KindOf = Callable[[str], Kind | None]  # of a file, by its name; None for an unrelated file


@asynccontextmanager
async def making_lock(discussion: Discussion, patience_s: float) -> AsyncIterator[bool]:
    """Hold the lock if it is free within `patience_s` seconds; yields True if held. Raises StorageUnavailable."""
    lock = await _patiently(discussion, patience_s)
    try:
        yield lock is not None
    finally:
        if lock is not None:
            os.close(lock)


async def _patiently(discussion: Discussion, patience_s: float) -> int | None:
    for pause in pauses(patience_s):
        if (lock := await _try_in_thread(discussion)) is not None:
            return lock
        await asyncio.sleep(pause)
    return await _try_in_thread(discussion)


async def _try_in_thread(discussion: Discussion) -> int | None:
    attempt = asyncio.ensure_future(asyncio.to_thread(_try, discussion))
    try:
        return await asyncio.shield(attempt)
    except asyncio.CancelledError:
        attempt.add_done_callback(_give_back)  # the thread continues, and may still acquire it
        raise


def _give_back(attempt: asyncio.Future[int | None]) -> None:
    if not attempt.cancelled() and attempt.exception() is None and (lock := attempt.result()) is not None:
        os.close(lock)


def _try(discussion: Discussion) -> int | None:
    file = file_at(discussion.root, Place(file=lock_name(discussion.file_name)))
    with file.open_folder("locked", create=True) as folder:
        return lock_file(existing(folder), file.file)


def inspect(root: Path, legacy: Path | None) -> list[str]:
    """One line for each damaged file; each begins with the whole path. Blocks."""
    problems = [*_in_folder(real(root), (), _kind_in_root, inner=kind_in_folder)]
    with suppress(StorageUnavailable):  # it was told above
        for client in _client_folders(root):
            problems += _in_folder(real(root) / client.name, (), _no_kind, inner=kind_in_folder)
    return problems if legacy is None else [*problems, *_in_folder(real(legacy), (), _kind_in_legacy)]


def _in_folder(root: Path, steps: Sequence[str], kind_of: KindOf, inner: KindOf | None = None) -> Iterator[str]:
    """The problems of a folder; with `inner` also those of its subfolders that may be discussions'."""
    try:
        entries = sorted(_entries(root, steps))
    except StorageUnavailable as exc:
        yield exc.message
        return
    for name, is_folder in entries:
        if not is_folder:
            yield from _in_file(root, Place(steps=steps, file=name), kind_of(name))
        elif inner is not None and can_be_named(name):
            yield from _in_folder(root, (name,), inner)


def _entries(root: Path, steps: Sequence[str]) -> list[tuple[str, bool]]:
    """The entries of a folder: (name, True for a folder)."""
    name = str(root.joinpath(*steps))
    with file_errors(name, "listed"), Folder(root=root, steps=steps).open() as folder:
        if folder is None:
            return []
        with os.scandir(folder) as entries:
            return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]


def _kind_in_root(file: str) -> Kind | None:
    owner = owner_of(file)
    return owner[1] if owner and can_be_named(owner[0]) else None


def _no_kind(file: str) -> Kind | None:
    return None


def _kind_in_legacy(file: str) -> Kind | None:
    return "records" if _kind_in_root(file) == "records" else None


def _in_file(root: Path, place: Place, kind: Kind | None) -> Iterator[str]:
    if kind == "records":
        yield from _in_records(place.below(root))
    elif kind in ("memories", "stale", "summary", "times"):
        yield from _in_json(file_at(root, place), PlacedFile.members if kind == "times" else PlacedFile.ledger_text)


def _in_json(file: PlacedFile, read: Callable[[PlacedFile], object]) -> Iterator[str]:
    try:
        read(file)
    except KeyUnavailable:  # only with the client's key can it be told
        return
    except StorageUnavailable as exc:
        yield f"{file.folder.root}/{exc.message}"  # which begins with the path below the root


def _in_records(path: Path) -> Iterator[str]:
    try:
        cause = _cause_in_records(path)
    except StorageUnavailable as exc:  # a link, another program's file, or a newer one
        yield exc.message
    except apsw.ReadOnlyError:
        yield f"{path}: {_HALF_WRITTEN}"
    except (*FOREIGN, OSError) as exc:
        yield f"{path} could not be read: {exc}."
    else:
        if cause is not None:
            yield f"{path} is damaged ({cause})."


def _cause_in_records(path: Path) -> str | None:
    if identity_of(path) is None:  # WilmerAI leaves an empty file where it searched
        return None
    if is_too_short(path):
        return "it is too short for a database"
    with closing(open_connection(path, apsw.SQLITE_OPEN_READONLY)) as connection:
        refuse_other_files(path, SqliteSql(connection))
        cause = str(connection.execute("PRAGMA quick_check(1)").get)
    return None if cause == "ok" else cause


class FileDiscussionFiles:
    """Accesses nothing outside a root, except the databases that WilmerAI kept beside its configuration."""

    def __init__(self) -> None:
        self._listing = DiscussionListing()
        self._names = DiscussionNames()
        self._keys = ClientKeyRing()

    async def named_discussion(
        self, root: Path, id: str, legacy: Path | None = None, client: ClientFolder | None = None
    ) -> Discussion:
        """See the port."""
        return await asyncio.to_thread(self._names.named_discussion, root, id, legacy, client)

    async def client_folder(self, client_key: str, user: str | None) -> ClientFolder:
        """See the port."""
        return await self._keys.folder(client_key, user)

    async def client_folders(self, root: Path) -> Sequence[ClientFolder]:
        """See the port."""
        return await asyncio.to_thread(_client_folders, root)

    async def move(self, source: Discussion, target: Discussion) -> bool:
        """See the port; a killed process leaves the source whole."""
        return await asyncio.to_thread(move_files, source, target)

    def making(self, discussion: Discussion, *, patience_s: float = 0.0) -> AbstractAsyncContextManager[bool]:
        """See the port. The lock is released when the process ends; other discussions do not wait for it."""
        return making_lock(discussion, patience_s)

    async def discussions_in(
        self, root: Path, legacy: Path | None = None, client: ClientFolder | None = None
    ) -> Sequence[DiscussionListed]:
        """See the port; unreadable files are logged and counted as 0."""
        return await asyncio.to_thread(self._listing.discussions_in, root, legacy, client)

    async def problems(self, root: Path, legacy: Path | None = None) -> Sequence[str]:
        """See the port; an unreadable file is a problem too."""
        return await asyncio.to_thread(inspect, root, legacy)

    async def entry(self, discussion: Discussion) -> DiscussionListed | None:
        """See the port."""
        return await asyncio.to_thread(self._listing.entry, discussion)

    async def exists(self, discussion: Discussion) -> bool:
        """See the port; a lock file alone does not count."""
        return await asyncio.to_thread(is_kept, discussion)

    async def stored_files(self, discussion: Discussion) -> Mapping[str, bytes]:
        """See the port."""
        return await asyncio.to_thread(files_with_content, discussion)

    async def state_document(self, discussion: Discussion) -> str | None:
        """See the port. Raises StorageUnavailable for a file that is no UTF-8 text."""
        return await asyncio.to_thread(_state_document, discussion)

    async def remove(self, discussion: Discussion) -> bool:
        """See the port. Files of other programs than Mnemoir and WilmerAI stay, and so does their folder."""
        return await asyncio.to_thread(remove_files, discussion)


def _client_folders(root: Path) -> list[ClientFolder]:
    with file_errors("The folder of discussions", "listed"), Folder(root=root, steps=()).open() as folder:
        if folder is None:
            return []
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    return [ClientFolder(name=name) for name in sorted(names) if is_folder_name(name)]


def _state_document(discussion: Discussion) -> str | None:
    file = file_of(discussion, "state")
    read = file.read() if file else None
    if file is None or read is None:
        return None
    with file.content_errors():
        return read[0].decode("utf-8-sig")


_: type[DiscussionFiles] = FileDiscussionFiles  # checked, never run
