"""Empty PostgreSQL servers of the oldest and the newest supported version, with the schema of a database."""

from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import Any

import pytest

from tests.postgres_server import PostgresServer, servers

# the files of their schemas; what asks for conversations asks for tables of `mnemoir.db`
DATABASES = {"": "main", "access": "access", "runs": "runs", "keys": "keys", "servers": "servers", "sessions": "main"}
OpenDatabase = Callable[[str], Any]


@pytest.fixture(scope="session", params=[18, 15])
def postgres(request: pytest.FixtureRequest) -> PostgresServer:
    """A running server of each version."""
    return servers.of(request.param)


@pytest.fixture(autouse=True)
def _databases_are_free() -> Iterator[None]:
    yield
    servers.release()


@pytest.fixture
def open_database(postgres: PostgresServer) -> Iterator[OpenDatabase]:
    """Connects to a new, empty database ("" for `mnemoir.db`), whose tables stand in a schema that goes with it."""
    psycopg = pytest.importorskip("psycopg", reason="the package psycopg is not installed")
    with psycopg.connect(postgres.dsn) as connection:

        def create(database: str) -> Any:
            name = f"of_{database}"
            connection.execute(f"CREATE SCHEMA {name}")
            connection.execute(f"SET LOCAL search_path TO {name}")
            schema = files("mnemoir.storage.postgres") / "schema" / f"{DATABASES[database]}.sql"
            connection.execute(schema.read_text("utf-8"))
            return connection

        yield create
        connection.rollback()
