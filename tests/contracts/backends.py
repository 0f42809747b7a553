"""Every back-end of a port, by name. The suites beside this file run over each; a new one is one more entry."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import pytest

from mnemoir.core.clock import Clock
from mnemoir.core.data_directory import RUNS_FILE
from mnemoir.ports.jobs import JobQueue
from mnemoir.ports.memory_store import MemoryStore
from mnemoir.ports.project_settings import ProjectSettingsStore
from mnemoir.ports.search_rows import SearchRows
from mnemoir.storage.databases import databases, embedded, key_store
from mnemoir.storage.files import FileMemoryStore, FileProjectSettings
from mnemoir.storage.sealing.key_ring import KeyRing
from mnemoir.storage.sealing.key_stores import KeyStore
from mnemoir.storage.sql import SqlJobQueue, SqlMemoryStore, SqlProjectSettings
from mnemoir.storage.sql.engine import Engine, FileEngine
from mnemoir.storage.sqlite import open_database
from mnemoir.storage.sqlite.sealed_sql import sealing
from tests.contracts.words import SetClock
from tests.narrowing import instance
from tests.postgres_server import psycopg_module, servers
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
async def _sqlite(folder: Path) -> AsyncIterator[Engine]:
    database = open_database(folder / "mnemoir.db")
    try:
        yield database
    finally:
        await database.aclose()


@asynccontextmanager
async def _encrypted(folder: Path) -> AsyncIterator[Engine]:
    cells = cells_in(folder)
    database = open_database(folder / "mnemoir.db", sealing(cells))
    try:
        yield database
    finally:
        await database.aclose()
        instance(KeyRing, cells.keys).close()


@asynccontextmanager
async def _postgres(version: int, folder: Path) -> AsyncIterator[Engine]:
    pytest.importorskip("psycopg", reason="the package psycopg is not installed")
    from mnemoir.storage.postgres.engine import open_postgres  # the driver is an extra

    database = await asyncio.to_thread(open_postgres, servers.database_of(version, folder))
    try:
        yield database
    finally:
        await database.aclose()


@asynccontextmanager
async def _encrypted_postgres(version: int, folder: Path) -> AsyncIterator[Engine]:
    pytest.importorskip("psycopg", reason="the package psycopg is not installed")
    from mnemoir.storage.postgres.engine import open_postgres  # the same

    cells, dsn = cells_in(folder), servers.database_of(version, folder)
    database = await asyncio.to_thread(open_postgres, dsn, cells=cells)
    try:
        yield database
    finally:
        await database.aclose()
        instance(KeyRing, cells.keys).close()


OpenEngine = Callable[[Path], AbstractAsyncContextManager[Engine]]
ENGINES: Mapping[str, OpenEngine] = {
    "sqlite": _sqlite,
    "encrypted": _encrypted,
    "postgres-18": partial(_postgres, 18),
    "postgres-15": partial(_postgres, 15),
    "postgres-18-encrypted": partial(_encrypted_postgres, 18),
    "postgres-15-encrypted": partial(_encrypted_postgres, 15),
}


@contextmanager
def _shared_sqlite(folder: Path, *, is_sealed: bool) -> Iterator[Callable[[], FileEngine]]:
    cells = cells_in(folder) if is_sealed else None
    yield lambda: embedded.open_runs(folder / RUNS_FILE, cells)
    if cells is not None:
        instance(KeyRing, cells.keys).close()


@contextmanager
def _shared_postgres(version: int, folder: Path, *, is_sealed: bool) -> Iterator[Callable[[], FileEngine]]:
    pytest.importorskip("psycopg", reason="the package psycopg is not installed")
    cells = cells_in(folder) if is_sealed else None
    port = databases(servers.database_of(version, folder))
    yield lambda: port.open_runs(folder / RUNS_FILE, cells)
    if cells is not None:
        instance(KeyRing, cells.keys).close()


OpenShared = Callable[[Path], AbstractContextManager[Callable[[], FileEngine]]]
RUN_FILES: Mapping[str, OpenShared] = {  # each opens what other stores may have open, too
    "sqlite": partial(_shared_sqlite, is_sealed=False),
    "encrypted": partial(_shared_sqlite, is_sealed=True),
    "postgres-18": partial(_shared_postgres, 18, is_sealed=False),
    "postgres-15": partial(_shared_postgres, 15, is_sealed=False),
    "postgres-18-encrypted": partial(_shared_postgres, 18, is_sealed=True),
    "postgres-15-encrypted": partial(_shared_postgres, 15, is_sealed=True),
}


def _keys_in_postgres(version: int, folder: Path) -> KeyStore:
    pytest.importorskip("psycopg", reason="the package psycopg is not installed")
    return key_store(folder, servers.database_of(version, folder, "keys"))


KEY_STORES: Mapping[str, Callable[[Path], KeyStore]] = {
    "sqlite": lambda folder: key_store(folder / "data-keys.db", None),
    "postgres-18": partial(_keys_in_postgres, 18),
    "postgres-15": partial(_keys_in_postgres, 15),
}


@asynccontextmanager
async def _sql_memories(open_engine: OpenEngine, folder: Path, clock: Clock) -> AsyncIterator[Store]:
    async with open_engine(folder) as database:
        yield SqlMemoryStore(database, clock, of_all_facts=SPACES)


@asynccontextmanager
async def _sql_jobs(open_engine: OpenEngine, folder: Path, clock: Clock) -> AsyncIterator[JobQueue]:
    async with open_engine(folder) as database:
        yield SqlJobQueue(database, clock)


@asynccontextmanager
async def _postgres_jobs(name: str, folder: Path, clock: SetClock) -> AsyncIterator[JobQueue]:
    """Leases go by the clock of the database: when the test's is moved, they are moved in its place."""
    version = int(name.split("-")[1])
    dsn, moved = servers.database_of(version, folder), "UPDATE mnemoir.jobs SET lease_until = lease_until - %s"

    def move(seconds: float) -> None:
        with psycopg_module().connect(dsn) as connection:
            connection.execute("SELECT set_config('mnemoir.all', 'on', true)")
            connection.execute(moved, [seconds])

    async with _sql_jobs(ENGINES[name], folder, clock) as jobs:
        clock.on_move = move
        yield jobs


@asynccontextmanager
async def _sql_settings(open_engine: OpenEngine, folder: Path) -> AsyncIterator[ProjectSettingsStore]:
    async with open_engine(folder) as database:
        yield SqlProjectSettings(database)


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
    name: MemoryBackend(
        open=partial(_sql_memories, open_engine), keeps_past_states=True, encrypts=name.endswith("encrypted")
    )
    for name, open_engine in ENGINES.items()
} | {"files": MemoryBackend(open=_file_memories)}
JOB_QUEUES = {name: partial(_sql_jobs, open_engine) for name, open_engine in ENGINES.items()} | {
    name: partial(_postgres_jobs, name) for name in ENGINES if name.startswith("postgres")
}
PROJECT_SETTINGS = {name: partial(_sql_settings, open_engine) for name, open_engine in ENGINES.items()} | {
    "files": _file_settings
}
