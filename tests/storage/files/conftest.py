"""A file store over a real folder and a real database."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mnemoir.storage.files import FileMemoryStore
from mnemoir.storage.sqlite import SqliteEngine, open_database
from tests.storage.files.file_parts import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "workspace")


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqliteEngine]:
    opened = open_database(tmp_path / "data" / "mnemoir.db")
    yield opened
    await opened.aclose()


@pytest.fixture
async def store(workspace: Workspace, database: SqliteEngine) -> AsyncIterator[FileMemoryStore]:
    opened = FileMemoryStore(workspace.root, database)
    yield opened
    await opened.aclose()
