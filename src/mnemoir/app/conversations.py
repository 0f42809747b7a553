"""The conversations of every user: a folder for each, opened while it is used.

`{conversations}/{project}/{user}/` holds `conversations.db`, a file of vectors, and as `objects/` node memories and
attachments. So users share no file, no index and no lock, and taking a folder away takes all of a user's talk away.
"""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Protocol, runtime_checkable

import structlog

from mnemoir.app.in_thread import in_thread
from mnemoir.app.user_pool import UserPool
from mnemoir.conversations.log.sessions import naive_utc
from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.nodes.memory import NodeParts
from mnemoir.conversations.removal import remove_if_old
from mnemoir.conversations.users import OwnConversations
from mnemoir.core.atomic_file import sync_folder
from mnemoir.core.clock import utc_now
from mnemoir.core.discussion_id import directory_name
from mnemoir.core.keyed_lock import KeyedLock
from mnemoir.core.scope import Scope
from mnemoir.storage.conversations.census import Census, Counted
from mnemoir.storage.files.file_errors import file_errors
from mnemoir.storage.locks.file import FileLock
from mnemoir.storage.objects.local import LocalObjects
from mnemoir.storage.sqlite.failures import storage_errors
from mnemoir.storage.sqlite.process_lock import ProcessLock

SESSIONS_FILE = "conversations.db"

MakeManager = Callable[[Path], MemoryManager]  # over the folder of one user
_PATIENCE_S = 30.0  # for who still has something to do in a folder that is to go
_log = structlog.get_logger(__name__)


@runtime_checkable
class _Closable(Protocol):
    """A vector store that holds files or memory until it is told to let go."""

    def close(self) -> None: ...


class Conversations:
    """Implements `UserConversations`. `root` is made when somebody first says something.

    `elsewhere` names a second folder of a user, by the first one, where the files of a vector store lie. `lock` is
    given up at the end.
    """

    def __init__(
        self,
        root: Path,
        make_manager: MakeManager,
        elsewhere: Callable[[Path], Path | None] = lambda folder: None,
        *,
        lock: ProcessLock | None = None,
    ) -> None:
        self.root = root
        self._make_manager = make_manager
        self._elsewhere = elsewhere
        self._lock = lock
        self._pool: UserPool[Path, OwnConversations] = UserPool(self._opened, _close)
        self._one_by_one = KeyedLock()

    @asynccontextmanager
    async def of(self, scope: Scope) -> AsyncIterator[OwnConversations]:
        """Those of the scope's owner, open until the context ends. Raises StorageUnavailable."""
        async with self._pool.holding(self.folder_of(scope)) as own:
            yield own

    def folder_of(self, scope: Scope) -> Path:
        """Where they are, or will be."""
        return self.root / directory_name(scope.project) / directory_name(scope.user)

    def deciding(self, scope: Scope, session_id: str) -> AbstractAsyncContextManager[None]:
        """For whoever adds to a conversation and what is derived from it, or forgets both: one after the other."""
        return self._one_by_one.hold((self.folder_of(scope), session_id))

    async def others_have(self, scope: Scope, session_id: str) -> bool:
        """Whether another user has a conversation of that id, too. Looks at the files of all of them."""
        for folder in await asyncio.to_thread(self._folders):
            if folder != self.folder_of(scope):
                async with self._pool.holding(folder) as own:
                    if await asyncio.to_thread(own.manager.session_exists, session_id):
                        return True
        return False

    async def remove_empty(self, scope: Scope) -> bool:
        """Take a user's folder away with all files in it; False, with nothing done, when a conversation is there.

        Raises StorageUnavailable, and Conflict while somebody uses it.
        """
        folder = self.folder_of(scope)
        async with self._pool.alone(folder, patience_s=_PATIENCE_S):
            return await in_thread(self._removed_empty, folder)

    async def prune(self, days: int) -> int:
        """Delete every user's conversations not used for so many days, unless they are to be kept; how many.

        A user whose files cannot be read or written is passed over, with a warning.
        """
        pruned = 0
        for folder in await asyncio.to_thread(self._folders):
            try:
                pruned += await self._pruned(folder, days)
            except Exception as exc:  # noqa: BLE001  # a foreign vector store may raise anything
                _log.warning("conversations of a user not pruned", folder=str(folder), error=type(exc).__name__)
        return pruned

    async def count(self, census: Census) -> Counted:
        """What all users' files hold. One that cannot be read counts as empty."""
        folders = await asyncio.to_thread(self._folders)
        total = Counted()
        for folder in folders:
            total = _sum(total, await self._counted(census, folder))
        census.forget_others({folder / SESSIONS_FILE for folder in folders})
        return total

    async def aclose(self) -> None:
        """Finish what is under way, for some seconds at most, and let go of all files."""
        await self._pool.aclose()
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.release()

    async def _pruned(self, folder: Path, days: int) -> int:
        async with self._pool.holding(folder) as own:
            before, pruned = naive_utc(utc_now()) - timedelta(days=days), 0
            for session_id in await asyncio.to_thread(own.manager.storage.old_sessions, days):
                async with self._one_by_one.hold((folder, session_id)):
                    pruned += await in_thread(remove_if_old, own, session_id, before)
            return pruned

    async def _counted(self, census: Census, folder: Path) -> Counted | None:
        async with self._pool.untouched(folder):
            return await in_thread(_count, census, folder / SESSIONS_FILE)

    def _folders(self) -> list[Path]:
        return sorted(file.parent for file in self.root.glob(f"*/*/{SESSIONS_FILE}"))

    def _opened(self, folder: Path) -> OwnConversations:
        manager = self._make_manager(folder)
        manager.begin_backfill()  # what a crash, or an embedder that was down, has left without a vector
        parts = NodeParts(objects=LocalObjects(folder / "objects"), lock=FileLock(folder / "locks"))
        return OwnConversations(folder=folder, manager=manager, node_parts=parts)

    def _removed_empty(self, folder: Path) -> bool:
        if (folder / SESSIONS_FILE).exists():
            own = self._opened(folder)
            try:
                if own.manager.list_sessions(1):
                    return False
            finally:
                _close(own)
        elsewhere = self._elsewhere(folder)
        for each in (folder, *([elsewhere] if elsewhere else [])):
            _remove(each)
        return True


def _close(own: OwnConversations) -> None:
    """The vectors last: closing the manager finishes those under way. Raises StorageUnavailable."""
    with storage_errors(own.folder):
        try:
            own.manager.close()
        finally:
            if isinstance(own.manager.vector_store, _Closable):
                own.manager.vector_store.close()


def _count(census: Census, file: Path) -> Counted | None:
    try:
        return census.known(file) or census.count(file)
    except OSError:
        return None  # it was taken away a moment ago


def _sum(total: Counted, more: Counted | None) -> Counted:
    if more is None:
        return total
    return Counted(
        conversations=total.conversations + more.conversations,
        messages=total.messages + more.messages,
        embeddable=total.embeddable + more.embeddable,
        embedded=total.embedded + more.embedded,
    )


def _remove(folder: Path) -> None:
    with file_errors(str(folder), "removed"):
        if folder.exists():
            shutil.rmtree(folder)
            sync_folder(folder.parent)
