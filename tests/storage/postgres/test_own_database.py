"""A data directory is served from its own database alone, at the start and behind each new connection."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from mnemoir.core.data_directory import DATABASE_FILE, POSTGRES
from mnemoir.core.errors import StorageDamaged
from mnemoir.settings import Settings
from mnemoir.settings.tree import Postgres, Storage
from mnemoir.storage.databases import DirectoryIdentity, MainDatabase, databases
from mnemoir.storage.sql import SqlMemoryStore
from mnemoir.upkeep.losses import begin_anew, losses_in
from tests.contracts.words import ASKED, MIRA, SetClock, fact, texts
from tests.postgres_server import PostgresServer, psycopg_module, servers

pytest.importorskip("psycopg", reason="the package psycopg is not installed")
AWAY, BACK = "ALTER SCHEMA mnemoir RENAME TO away", "ALTER SCHEMA away RENAME TO mnemoir"
OTHER = "UPDATE mnemoir.identity SET directory = reverse(directory)"
CUT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> %s"


@pytest.fixture
def dsn(postgres: PostgresServer, tmp_path: Path) -> str:
    """A new database."""
    return servers.database_of(postgres.version, tmp_path)


def opened(folder: Path, dsn: str | None) -> MainDatabase:
    return databases(dsn).open_main(folder / DATABASE_FILE, identity=DirectoryIdentity(folder))


def settings_of(folder: Path, dsn: str | None) -> Settings:
    over_postgres: dict[str, Any] = {"backend": "postgres", "postgres": Postgres(dsn=SecretStr(dsn))} if dsn else {}
    return Settings(storage=Storage(data_dir=folder, **over_postgres))


async def stored(folder: Path, dsn: str | None, text: str) -> None:
    """Open the directory, store a memory and close it."""
    database = await asyncio.to_thread(opened, folder, dsn)
    await SqlMemoryStore(database, SetClock()).commit(MIRA, [fact(text)], ASKED)
    await database.aclose()


def asked(dsn: str, *statements: str) -> None:
    with psycopg_module().connect(dsn, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.execute(CUT, [connection.info.backend_pid])


@pytest.mark.parametrize("loss", [AWAY, "DELETE FROM mnemoir.identity"])
async def test_an_empty_database_in_the_place_of_one_with_memories_is_refused_until_it_is_taken(tmp_path, dsn, loss):
    folder = tmp_path / "data"
    await stored(folder, dsn, "Likes tea")
    asked(dsn, loss)
    settings = settings_of(folder, dsn)
    try:
        for _ in range(2):
            with pytest.raises(StorageDamaged, match="--begin-anew postgresql"):
                await stored(folder, dsn, "Likes rum")
        assert [*losses_in(settings)] == [POSTGRES]
        await asyncio.to_thread(begin_anew, settings, POSTGRES)
        assert losses_in(settings) == {}
        await stored(folder, dsn, "Likes rum")
    finally:
        if loss == AWAY:
            asked(dsn, "DROP SCHEMA away CASCADE")


@pytest.mark.parametrize("was_over_postgres", [True, False])
async def test_memories_in_one_kind_of_database_are_not_looked_for_in_the_other(tmp_path, dsn, was_over_postgres):
    before, now = (dsn, None) if was_over_postgres else (None, dsn)
    folder, lost = tmp_path / "data", POSTGRES if was_over_postgres else DATABASE_FILE
    await stored(folder, before, "Likes tea")
    with pytest.raises(StorageDamaged, match=f"storage.backend .* --begin-anew {lost}"):
        await stored(folder, now, "Likes rum")
    assert [*losses_in(settings_of(folder, now))] == [lost]
    await stored(folder, before, "Likes gin")
    await asyncio.to_thread(begin_anew, settings_of(folder, now), lost)
    await stored(folder, now, "Likes rum")


@pytest.mark.parametrize(("swap", "back"), [(AWAY, BACK), (OTHER, OTHER)])
async def test_a_running_server_refuses_a_database_that_took_the_place_of_its_own(tmp_path, dsn, swap, back):
    database = await asyncio.to_thread(opened, tmp_path / "data", dsn)
    store = SqlMemoryStore(database, SetClock())
    try:
        await store.commit(MIRA, [fact("Likes tea")], ASKED)
        asked(dsn, swap)
        for _ in range(2):
            with pytest.raises(StorageDamaged):
                await store.commit(MIRA, [fact("Likes rum")], ASKED)
            with pytest.raises(StorageDamaged):
                await texts(store)
        asked(dsn, back)
        assert await texts(store) == ["Likes tea"]
    finally:
        await database.aclose()
