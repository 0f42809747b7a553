"""What is kept and how much room it takes, found out aside and kept for a while: no look at a page counts anything."""

import asyncio
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mnemoir.app.conversation_parts import folder_of_conversations
from mnemoir.app.conversations import Conversations
from mnemoir.app.kept import Kept
from mnemoir.core.clock import to_text, utc_now
from mnemoir.ports.memory_store import MemoryStore
from mnemoir.ports.run_store import RunStore
from mnemoir.settings import Settings
from mnemoir.storage.conversations.census import Census, Counted

_COUNT_AGAIN_S = 10.0
_MEASURE_AGAIN_S = 300.0  # the folders of a thousand users are many files
_PATIENCE_S = 1.0
_OF_DATABASE = ("mnemoir.db", "mnemoir.db-wal", "mnemoir.db-shm")
_OF_RUNS = ("runs.db", "runs.db-wal", "runs.db-shm")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How much there is of everybody. Of `embeddable` messages `embedded` have a vector.

    None stands for what is still being counted for the first time.
    """

    projects: int | None
    users: int | None
    memories: int | None
    conversations: int | None
    messages: int | None
    embeddable: int | None
    embedded: int | None
    runs: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one part of the stored data takes."""

    name: str
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """The data on the disk. `shares` are None until they were measured; `free_bytes` is the disk's, None if unknown."""

    backend: str
    data_dir: str
    writable: bool
    free_bytes: int | None
    disk_bytes: int | None
    shares: list[Share] | None
    measured_at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measured:
    shares: list[Share]
    at: str


class Stock:
    """Counts and measures what one server keeps."""

    def __init__(self, settings: Settings, store: MemoryStore, runs: RunStore, conversations: Conversations) -> None:
        self._settings = settings
        self._store = store
        self._runs = runs
        self._conversations = conversations
        vectors = settings.memory.vector_store
        self._census = Census(_model_of_messages(settings))
        self._embeds_messages = vectors.enabled and vectors.backend == "builtin"
        self._counts = Kept(self._count, for_s=_COUNT_AGAIN_S)
        self._talk = Kept(self._count_talk, for_s=_COUNT_AGAIN_S)
        self._sizes = Kept(self._measure, for_s=_MEASURE_AGAIN_S)

    async def counts(self) -> Counts:
        """How much there is, as it was some seconds ago. Raises StorageUnavailable."""
        stored, talk = await asyncio.gather(
            self._counts.get(patience_s=_PATIENCE_S), self._talk.get(patience_s=_PATIENCE_S)
        )
        memories, runs = stored or (None, None)
        return Counts(
            projects=None if memories is None else memories.projects,
            users=None if memories is None else memories.users,
            memories=None if memories is None else memories.memories,
            conversations=None if talk is None else talk.conversations,
            messages=None if talk is None else talk.messages,
            embeddable=None if talk is None or not self._embeds_messages else talk.embeddable,
            embedded=None if talk is None or not self._embeds_messages else talk.embedded,
            runs=runs,
        )
