"""A database in a folder of its own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mnemoir.storage.sqlite import Database, SqliteMemoryStore, open_database


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "mnemoir.db"


@pytest.fixture
async def database(path: Path) -> AsyncIterator[Database]:
    opened = open_database(path)
    yield opened
    await opened.aclose()


@pytest.fixture
def store(database: Database) -> SqliteMemoryStore:
    return SqliteMemoryStore(database)
