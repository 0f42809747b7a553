"""Every back-end of a port, by name. The suites beside this file run over each; a new one is one more entry."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from mnemoir.core.clock import Clock
from mnemoir.ports.jobs import JobQueue
from mnemoir.ports.memory_store import MemoryStore
from mnemoir.ports.project_settings import ProjectSettingsStore
from mnemoir.ports.search_rows import SearchRows
from mnemoir.storage.files import FileMemoryStore, FileProjectSettings
from mnemoir.storage.sealing.key_ring import KeyRing
from mnemoir.storage.sql import SqlJobQueue, SqlMemoryStore, SqlProjectSettings
from mnemoir.storage.sqlite import open_database
from mnemoir.storage.sqlite.database import SqliteEngine
from mnemoir.storage.sqlite.sealed_sql import sealing
from tests.narrowing import instance
from tests.storage.sealing_kit import cells_in

SPACES = ("multilingual",)  # in which one text has a vector made of each fact of its user


class Store(MemoryStore, SearchRows, Protocol):
    """What every memory back-end is."""


@dataclass(frozen=True, kw_only=True)
class MemoryBackend:
    """`open` gives the store whose data lie in a folder; opening it again finds them there."""

    open: Callable[[Path, Clock], AbstractAsyncContextManager[Store]]
    keeps_past_states: bool = False  # closed memories, for looks into the past
    encrypts: bool = False


@asynccontextmanager
async def _sqlite_memories(folder: Path, clock: Clock) -> AsyncIterator[Store]:
    database = open_database(folder / "mnemoir.db")
    try:
        yield SqlMemoryStore(database, clock, of_all_facts=SPACES)
    finally:
        await database.aclose()


@asynccontextmanager
async def _encrypted(folder: Path) -> AsyncIterator[SqliteEngine]:
    cells = cells_in(folder)
    database = open_database(folder / "mnemoir.db", sealing(cells))
    try:
        yield database
    finally:
        await database.aclose()
        instance(KeyRing, cells.keys).close()


@asynccontextmanager
async def _encrypted_memories(folder: Path, clock: Clock) -> AsyncIterator[Store]:
    async with _encrypted(folder) as database:
        yield SqlMemoryStore(database, clock, of_all_facts=SPACES)


@asynccontextmanager
async def _sqlite_jobs(folder: Path, clock: Clock) -> AsyncIterator[JobQueue]:
    database = open_database(folder / "mnemoir.db")
    try:
        yield SqlJobQueue(database, clock)
    finally:
        await database.aclose()


@asynccontextmanager
async def _encrypted_jobs(folder: Path, clock: Clock) -> AsyncIterator[JobQueue]:
    async with _encrypted(folder) as database:
        yield SqlJobQueue(database, clock)


@asynccontextmanager
async def _sqlite_settings(folder: Path) -> AsyncIterator[ProjectSettingsStore]:
    database = open_database(folder / "mnemoir.db")
    try:
        yield SqlProjectSettings(database)
    finally:
        await database.aclose()


@asynccontextmanager
async def _file_memories(folder: Path, clock: Clock) -> AsyncIterator[Store]:
    database = open_database(folder / "mnemoir.db")
    store = FileMemoryStore(folder / "workspace", database, clock, of_all_facts=SPACES)
    try:
        yield store
    finally:
        await store.aclose()
        await database.aclose()


@asynccontextmanager
async def _file_settings(folder: Path) -> AsyncIterator[ProjectSettingsStore]:
    yield FileProjectSettings(folder / "workspace")


MEMORY_STORES = {
    "sqlite": MemoryBackend(open=_sqlite_memories, keeps_past_states=True),
    "encrypted": MemoryBackend(open=_encrypted_memories, keeps_past_states=True, encrypts=True),
    "files": MemoryBackend(open=_file_memories),
}
JOB_QUEUES = {"sqlite": _sqlite_jobs, "encrypted": _encrypted_jobs}
PROJECT_SETTINGS = {"sqlite": _sqlite_settings, "files": _file_settings}
