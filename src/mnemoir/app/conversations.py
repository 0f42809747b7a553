"""The conversations of every user: a folder for each, opened while it is used.

`{conversations}/{project}/{user}/` holds `conversations.db`, a file of vectors, and as `objects/` node memories and
attachments. So users share no file, no index and no lock, and taking a folder away takes all of a user's talk away.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from mnemoir.app.user_pool import UserPool
from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.node_memory import NodeParts
from mnemoir.conversations.removal import prune_conversations
from mnemoir.conversations.users import OwnConversations
from mnemoir.core.discussion_id import directory_name
from mnemoir.core.scope import Scope
from mnemoir.storage.locks.file import FileLock
from mnemoir.storage.objects.local import LocalObjects

SESSIONS_FILE = "conversations.db"

MakeManager = Callable[[Path], MemoryManager]  # over the folder of one user


class Conversations:
    """Implements `UserConversations`. `root` is made when somebody first says something."""

    def __init__(self, root: Path, make_manager: MakeManager) -> None:
        self.root = root
        self._make_manager = make_manager
        self._open: UserPool[Path, OwnConversations] = UserPool(self._opened, _close)

    @asynccontextmanager
    async def of(self, scope: Scope) -> AsyncIterator[OwnConversations]:
        """Those of the scope's owner, open until the context ends. Raises StorageUnavailable."""
        async with self._open.holding(self.folder_of(scope)) as own:
            yield own

    def folder_of(self, scope: Scope) -> Path:
        """Where they are, or will be."""
        return self.root / directory_name(scope.project) / directory_name(scope.user)

    async def prune(self, days: int) -> int:
        """Delete every user's conversations not used for so many days, unless they are to be kept; how many."""
        pruned = 0
        for folder in await asyncio.to_thread(self._folders):
            async with self._open.holding(folder) as own:
                pruned += len(await asyncio.to_thread(prune_conversations, own, days))
        return pruned

    async def aclose(self) -> None:
        """Finish what is under way, for some seconds at most, and let go of all files."""
        await self._open.aclose()

    def _folders(self) -> list[Path]:
        return sorted(file.parent for file in self.root.glob(f"*/*/{SESSIONS_FILE}"))

    def _opened(self, folder: Path) -> OwnConversations:
        manager = self._make_manager(folder)
        parts = NodeParts(objects=LocalObjects(folder / "objects"), lock=FileLock(folder / "locks"))
        return OwnConversations(folder=folder, manager=manager, node_parts=parts)


def _close(own: OwnConversations) -> None:
    own.manager.close()
