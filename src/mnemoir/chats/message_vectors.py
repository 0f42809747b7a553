"""Makes the vectors of messages behind the chats, for the folder of one user after the other.

That a message waits for its vector is noted in its row, so nothing is lost with this process, and no job has to be
stored for each chat. A job of the queue tries again what failed, later and later.
"""

import asyncio
import threading
from contextlib import suppress
from pathlib import Path

import structlog

from mnemoir.chats.conversations import Conversations
from mnemoir.core.errors import ProviderError
from mnemoir.memory.background import Background
from mnemoir.memory.noted_work import NotedWork
from mnemoir.storage.user_pool import in_own_loop

_log = structlog.get_logger(__name__)
KIND = "embed_messages"


class WaitingFolders:
    """The folders of users whose messages may lack vectors, the longest waiting first. Thread-safe."""

    def __init__(self) -> None:
        self.noted = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._folders: dict[Path, None] = {}
        self._opening: Path | None = None

    def note(self, folder: Path) -> None:
        """Add a folder and set `noted`, but for the one that a job is opening: its messages come next anyway."""
        with self._lock:
            if folder == self._opening:
                return
            self._folders[folder] = None
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self.noted.set)

    def put_back(self, folder: Path) -> None:
        """Add the folder of `begin` again, for this job or the next."""
        with self._lock:
            self._opening = None
            self._folders[folder] = None

    async def is_any(self) -> bool:
        """True when a folder waits."""
        return bool(self._folders)

    def begin(self) -> Path | None:
        """The first folder, which waits no longer and is being opened; None when none waits."""
        with self._lock:
            self._opening = next(iter(self._folders), None)
            if self._opening is not None:
                del self._folders[self._opening]
            return self._opening

    def end_opening(self) -> None:
        """Note that the folder of `begin` is open: a message saved in it adds the folder again."""
        with self._lock:
            self._opening = None


class MessageVectors:
    """The work on them, from `start` to `aclose`."""

    def __init__(
        self, conversations: Conversations, background: Background, waiting: WaitingFolders, *, model: str
    ) -> None:
        self._conversations = conversations
        self._waiting = waiting
        self._has_failed = asyncio.Event()
        self._filling = asyncio.Lock()
        self._jobs = NotedWork(background, KIND, self._has_failed, waiting.is_any, self._fill, model=model)
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Make vectors whenever a folder is noted."""
        self._jobs.start()
        self._task = asyncio.create_task(self._fill_on(), name="vectors of messages")

    async def aclose(self) -> None:
        """Make no more of them."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._jobs.aclose()

    async def _fill_on(self) -> None:
        while True:
            await self._waiting.noted.wait()
            self._waiting.noted.clear()
            try:
                await self._fill()
            except ProviderError:
                self._has_failed.set()

    async def _fill(self) -> None:
        """Make the vectors of all waiting folders, of each some at a time. Raises ProviderError."""
        async with self._filling:
            await self._fill_all()

    async def _fill_all(self) -> None:
        while (folder := self._waiting.begin()) is not None:
            try:
                is_left = await self._fill_some(folder)
            except ProviderError:
                self._waiting.put_back(folder)
                raise
            except Exception as exc:  # noqa: BLE001  # a foreign vector store may raise anything
                _log.warning("messages of a user not embedded", folder=str(folder), error=type(exc).__name__)
                is_left = False
            if is_left:
                self._waiting.put_back(folder)
            else:
                self._waiting.end_opening()

    async def _fill_some(self, folder: Path) -> bool:
        async with self._conversations.in_folder(folder) as own:
            self._waiting.end_opening()
            return own is not None and await in_own_loop(own.manager.fill_vectors())
