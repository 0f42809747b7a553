"""The folders of users' conversations: opened while they are used, given to others, and removed.

`{conversations}/{project}/{user}/` holds `conversations.db`, a file of vectors, and as `objects/` node memories and
attachments. So users share no file, no index and no lock, and removing a folder removes all conversations of a user.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol, runtime_checkable

from mnemoir.chats.catalogue import CatalogueUpkeep
from mnemoir.chats.conversation_folders import (
    folder_of,
    folders_in,
    give_file,
    of_tenant,
    owner_of,
    place_of,
    remove,
    rename,
)
from mnemoir.chats.expected_folders import ExpectedFolders
from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.nodes.memory import NodeParts
from mnemoir.conversations.open_questions import OpenQuestions
from mnemoir.conversations.users import OwnConversations
from mnemoir.core.data_directory import SESSIONS_FILE
from mnemoir.core.discussion_id import is_encoded
from mnemoir.core.errors import Conflict, NotSupported, StorageUnavailable
from mnemoir.core.keyed_lock import KeyedLock
from mnemoir.core.scope import Scope
from mnemoir.ports.objects import ConditionalStore
from mnemoir.storage.databases import embedded
from mnemoir.storage.locks.file import FileLock
from mnemoir.storage.objects.local import LocalObjects
from mnemoir.storage.objects.sealed import SealedObjects
from mnemoir.storage.process_lock import ProcessLock
from mnemoir.storage.sealing.cells import Cells, OwnCells
from mnemoir.storage.spelled_folders import SpelledFolders
from mnemoir.storage.sql.catalogue import Catalogue
from mnemoir.storage.sql.holds import Holds
from mnemoir.storage.user_pool import UserPool, in_thread

MakeManager = Callable[[Path], MemoryManager]  # over the folder of one user
OBJECTS = "objects"
_PATIENCE_S = 30.0  # for running work in a folder that is to be removed


@runtime_checkable
class _Closable(Protocol):
    """A vector store that holds files or memory until it is closed."""

    def close(self) -> None: ...


class UserFolders:
    """The folders of all users below `root`, which is created with the first conversation.

    `elsewhere` returns the separate folder with the vector store of a user's folder, if any. `lock` is released at
    the end. `model` names the embedding model whose message vectors are counted; None counts those of any. Nothing of
    users on hold (`holds`) is pruned. `cells` encrypt objects. `expected` knows whose file must be there.
    """

    def __init__(
        self,
        root: Path,
        make_manager: MakeManager,
        catalogue: Catalogue,
        elsewhere: Callable[[Path], Path | None] = lambda folder: None,
        *,
        lock: ProcessLock | None = None,
        model: str | None = None,
        holds: Holds | None = None,
        cells: Cells | None = None,
        expected: ExpectedFolders,
    ) -> None:
        self.root = root
        self._cells = cells
        self._expected = expected
        self._holds = holds
        self._make_manager = make_manager
        self._elsewhere = elsewhere
        self._folders = SpelledFolders()
        self._lock = lock
        self._pool: UserPool[Path, OwnConversations] = UserPool(self._open_folder, _close)
        self._one_by_one = KeyedLock()
        self._open_questions = OpenQuestions()  # here, since a folder may be closed while an answer is under way
        self._hidden: set[Path] = set()
        self._catalogue = CatalogueUpkeep(catalogue, root, self._pool.shared_lock, self._pool.is_used, model)

    @asynccontextmanager
    async def of(self, scope: Scope) -> AsyncIterator[OwnConversations]:
        """The conversations of the scope's owner, open until the context ends. Raises StorageUnavailable."""
        folder = self.folder_of(scope)
        await self._expected.learn(folder, scope)
        async with self._opened_in(folder) as own:
            await self._expected.expect(folder, scope)
            yield own

    @asynccontextmanager
    async def in_folder(self, folder: Path) -> AsyncIterator[OwnConversations | None]:
        """The conversations in a folder, open until the context ends; None when it was removed.

        Raises StorageUnavailable.
        """
        async with self._pool.shared_lock(folder):
            if await asyncio.to_thread((folder / SESSIONS_FILE).exists):
                async with self._opened_in(folder) as own:
                    yield own
            else:
                yield None

    async def exist(self, scope: Scope) -> bool:
        """True when the scope's owner has, or had, conversations.

        Raises StorageUnavailable, and StorageDamaged for a folder that is gone.
        """
        folder = self.folder_of(scope)
        self._refuse_hidden_folder(folder)
        if await asyncio.to_thread(folder.exists):
            return True
        await self._expected.refuse_absence(folder, scope)
        return False

    def folder_of(self, scope: Scope) -> Path:
        """The folder of the scope's owner; it need not exist yet."""
        return folder_of(self._folders, self.root, scope)

    async def marked_owners(self) -> list[Scope]:
        """All of whom it is known that they have conversations. Raises StorageUnavailable."""
        return await self._expected.marked_scopes()

    def folders_of(self, tenant: str, projects: Iterable[str], users: Iterable[str]) -> dict[Path, str]:
        """The users' folders of a tenant that are there, each with its user. Blocks.

        A folder whose name is encoded is found only if its user, and its project, are named.
        """
        sign = of_tenant(tenant, "")
        plain = (name for name in folders_in(self.root) if name.startswith(sign) and ("=" in name) == bool(sign))
        places = {self.root / name for name in plain if not is_encoded(name)}
        places |= {self._folders.of(self.root, of_tenant(tenant, project)) for project in projects}
        named, found = sorted(set(users)), dict[Path, str]()
        for place in places:
            names = folders_in(place)
            found |= {place / name: name for name in names if not is_encoded(name)}
            if any(map(is_encoded, names)):
                found |= {folder: user for user in named if (folder := self._folders.of(place, user)).name in names}
        return found

    def keep_folder(self, folder: Path) -> AbstractAsyncContextManager[None]:
        """A context during which the folder is not removed. It opens no file."""
        return self._pool.shared_lock(folder)

    async def remove_folder(self, folder: Path) -> None:
        """Remove a user's folder, whatever is in it. Raises StorageUnavailable, and Conflict while it is in use."""
        async with self._pool.alone(folder, patience_s=_PATIENCE_S):
            for scope in await self._expected.marked_scopes():
                if self.folder_of(scope) == folder:
                    await self._expected.release(folder, scope)
            await in_thread(remove, folder)
        await self._catalogue.drop(folder)

    @asynccontextmanager
    async def giving(self, scope: Scope, user: str) -> AsyncIterator[bool]:
        """A context in which a user's folder becomes that of another user of the project; whether there is one.

        It may have been given before. It becomes the former one's again when the context raises. Raises Conflict for
        a user who has a folder besides, and while one is in use, StorageUnavailable, and NotSupported where vectors
        are kept elsewhere.
        """
        taken = Scope(tenant=scope.tenant, project=scope.project, user=user)
        old, new = self.folder_of(scope), self.folder_of(taken)
        first, second = sorted((old, new))
        async with (
            self._pool.alone(first, patience_s=_PATIENCE_S),
            self._pool.alone(second, patience_s=_PATIENCE_S),
        ):
            await self._expected.release(new, taken)  # the mark of the other one comes with the rows
            is_moved = await in_thread(self._move, old, new)
            try:
                yield is_moved or not await in_thread(self._removed_empty, new)
            except BaseException:
                if is_moved:
                    await in_thread(rename, new, old)
                raise
            finally:
                self._expected.unlearn(old, new)
        await self._catalogue.drop(old)
        self._catalogue.note(new)

    def hide(self, owners: Collection[Scope]) -> None:
        """Open no folder of these owners, which an adoption that was cut may have given; open those of all others."""
        self._hidden = {self.folder_of(owner) for owner in owners}

    async def remove_empty(self, scope: Scope) -> bool:
        """Remove a user's folder with all its files; False, with nothing removed, when it holds a conversation.

        Raises StorageUnavailable, and Conflict while it is in use.
        """
        folder = self.folder_of(scope)
        async with self._pool.alone(folder, patience_s=_PATIENCE_S):
            if not await in_thread(self._is_empty, folder):
                return False
            await self._expected.release(folder, scope)
            await in_thread(self._remove_files, folder)
        await self._catalogue.drop(folder)
        return True

    async def aclose(self) -> None:
        """Finish the work under way, for some seconds at most, and close all files."""
        await self._pool.aclose()
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.release()

    def _refuse_hidden_folder(self, folder: Path) -> None:
        if folder in self._hidden:
            raise StorageUnavailable(
                f"The conversations in {place_of(folder)} were being given to another user, and that was cut. Repeat "
                "it with `mnemoir users adopt`, or restart the server."
            )

    @asynccontextmanager
    async def _opened_in(self, folder: Path) -> AsyncIterator[OwnConversations]:
        self._refuse_hidden_folder(folder)
        self._catalogue.note(folder)
        async with self._pool.holding(folder) as own:
            yield own

    def _move(self, old: Path, new: Path) -> bool:
        """Rename a folder, if it is there; whether it was. One that was renamed before is given whole now."""
        if not old.exists():
            give_file(new)
            return False
        elsewhere = self._elsewhere(old)
        if elsewhere is not None and elsewhere.exists():
            raise NotSupported("Conversations whose vectors are kept in a store of their own cannot be moved.")
        if new.exists() and not self._removed_empty(new):
            raise Conflict(
                f"There are conversations of {new.name[:80]!r} already, so nothing was moved.", code="memories_exist"
            )
        rename(old, new)
        return True

    def _open_folder(self, folder: Path) -> OwnConversations:
        manager = self._make_manager(folder)
        manager.begin_backfill()  # for messages left without a vector by a crash or an embedder that was down
        parts = NodeParts(objects=self._objects_in(folder), lock=FileLock(folder / "locks"))
        return OwnConversations(folder=folder, manager=manager, node_parts=parts, open_questions=self._open_questions)

    def _objects_in(self, folder: Path) -> ConditionalStore:
        objects = LocalObjects(folder / OBJECTS)
        return objects if self._cells is None else SealedObjects(objects, OwnCells(self._cells, owner_of(folder)))

    def _removed_empty(self, folder: Path) -> bool:
        is_empty = self._is_empty(folder)
        if is_empty:
            self._remove_files(folder)
        return is_empty

    def _is_empty(self, folder: Path) -> bool:
        if not (folder / SESSIONS_FILE).exists():
            return True
        own = self._open_folder(folder)
        try:
            return not own.log.list_sessions(1)
        finally:
            _close(own)

    def _remove_files(self, folder: Path) -> None:
        elsewhere = self._elsewhere(folder)
        for each in (folder, *([elsewhere] if elsewhere else [])):
            remove(each)


def _close(own: OwnConversations) -> None:
    """Close the manager, then the vector store, which the manager still writes to. Raises StorageUnavailable."""
    with embedded.errors(own.folder):
        try:
            own.manager.close()
        finally:
            if isinstance(own.manager.vector_store, _Closable):
                own.manager.vector_store.close()
