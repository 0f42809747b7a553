"""The databases that a server's memories, keys and people may lie in, for modules whose tests hold over each.

Such a module imports `database_settings` from here, which takes the place of the fixture of that name.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.postgres_server import binaries_of, servers

FILES = pytest.param(None, id="sqlite")


def postgres(version: int) -> Any:
    """A parameter for a database of a real server of PostgreSQL 15 or 18."""
    return pytest.param(version, id=f"postgres-{version}", marks=pytest.mark.slow)


@contextmanager
def settings_of(version: int | None, folder: Path) -> Iterator[dict[str, Any]]:
    """The settings for an empty database of that version, None for files."""
    if version is None:
        yield {}
        return
    pytest.importorskip("psycopg", reason="the package psycopg is not installed")
    binaries_of(version)
    yield {"storage.backend": "postgres", "storage.postgres.dsn": servers.database_of(version, folder)}
    servers.release()


@pytest.fixture(params=[FILES, postgres(18)])
def database_settings(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """The settings for it."""
    with settings_of(request.param, tmp_path) as settings:
        yield settings
