"""A database in a folder of its own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mnemoir.storage.sql import SqlMemoryStore
from mnemoir.storage.sqlite import SqliteEngine, open_database


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "mnemoir.db"


@pytest.fixture
async def database(path: Path) -> AsyncIterator[SqliteEngine]:
    opened = open_database(path)
    yield opened
    await opened.aclose()


@pytest.fixture
def store(database: SqliteEngine) -> SqlMemoryStore:
    return SqlMemoryStore(database)
