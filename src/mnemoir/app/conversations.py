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

import structlog

from mnemoir.app.in_thread import in_thread
from mnemoir.app.user_pool import UserPool
from mnemoir.conversations.removal import remove_if_old
from mnemoir.conversations.sessions import naive_utc
from mnemoir.conversations.users import OwnConversations
from mnemoir.core.clock import utc_now
from mnemoir.core.discussion_id import directory_name
from mnemoir.core.scope import Scope
from mnemoir.memory.facts.turnstile import Turnstile
from mnemoir.storage.files.file_errors import file_errors
from mnemoir.storage.sqlite.data_file import sync_folder

SESSIONS_FILE = "conversations.db"

Open = Callable[[Path], OwnConversations]  # those of one user, in that folder
Close = Callable[[OwnConversations], None]
_PATIENCE_S = 30.0  # for who still has something to do in a folder that is to go
_log = structlog.get_logger(__name__)


class Conversations:
    """Implements `UserConversations`. `root` is made when somebody first says something.

    `elsewhere` names a further folder of a user, by the first one, where files of a vector store lie.
    """

    def __init__(self, root: Path, open: Open, close: Close, elsewhere: Callable[[Path], Path | None]) -> None:
        self.root = root
        self._open = open
        self._close = close
        self._elsewhere = elsewhere
        self._pool: UserPool[Path, OwnConversations] = UserPool(open, close)
        self._one_by_one = Turnstile()

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
        return self._one_by_one.passing((self.folder_of(scope), session_id))

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

    async def aclose(self) -> None:
        """Finish what is under way, for some seconds at most, and let go of all files."""
        await self._pool.aclose()

    async def _pruned(self, folder: Path, days: int) -> int:
        async with self._pool.holding(folder) as own:
            before, pruned = naive_utc(utc_now()) - timedelta(days=days), 0
            for session_id in await asyncio.to_thread(own.manager.storage.old_sessions, days):
                async with self._one_by_one.passing((folder, session_id)):
                    pruned += await in_thread(remove_if_old, own, session_id, before)
            return pruned

    def _folders(self) -> list[Path]:
        return sorted(file.parent for file in self.root.glob(f"*/*/{SESSIONS_FILE}"))

    def _removed_empty(self, folder: Path) -> bool:
        if (folder / SESSIONS_FILE).exists():
            own = self._open(folder)
            try:
                if own.manager.list_sessions(1):
                    return False
            finally:
                self._close(own)
        elsewhere = self._elsewhere(folder)
        for each in (folder, *([elsewhere] if elsewhere else [])):
            _remove(each)
        return True


def _remove(folder: Path) -> None:
    with file_errors(str(folder), "removed"):
        if folder.exists():
            shutil.rmtree(folder)
            sync_folder(folder.parent)
