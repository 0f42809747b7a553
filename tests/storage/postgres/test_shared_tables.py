"""Blocking callers share the pool of the database of memories, in transactions that see all users."""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

import pytest

from mnemoir.core.data_directory import DATABASE_FILE, RUNS_FILE
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.databases import DirectoryIdentity, databases
from mnemoir.storage.process_lock import is_locked
from mnemoir.storage.sql.engine import FileEngine, queries
from tests.postgres_server import PostgresServer, psycopg_module, servers

pytest.importorskip("psycopg", reason="the package psycopg is not installed")
from mnemoir.storage.postgres.engine import SharedTables, open_shared_tables

_TOKENS = queries("runs/runs")
DAY = {"day": "2026-01-01", "tenant": "default", "project": "p", "user_id": "mira"}
CLIENTS = """SELECT count(*) FROM pg_stat_activity
              WHERE backend_type = 'client backend' AND datname = current_database() AND pid <> pg_backend_pid()"""


@pytest.fixture
def dsn(postgres: PostgresServer, tmp_path: Path) -> str:
    """A new database."""
    return servers.database_of(postgres.version, tmp_path)


@pytest.fixture
def tables(dsn: str) -> Iterator[SharedTables]:
    opened = open_shared_tables(dsn)
    yield opened
    opened.close()


def add(tables: FileEngine, count: int) -> None:
    tables.write(lambda sql: sql.run(_TOKENS["add_tokens"], **DAY, input_tokens=count, output_tokens=0))


def stored(tables: FileEngine) -> int:
    rows = tables.read(lambda sql: sql.rows(_TOKENS["tokens"], since="2026-01-01"))
    return rows[0][1] if rows else 0


def clients(dsn: str) -> int:
    with psycopg_module().connect(dsn) as connection:
        (count,) = connection.execute(CLIENTS).fetchone()
        return int(count)


def wait_until_nobody_is_connected(dsn: str) -> None:
    """The server may notice the end of a connection a moment behind it."""
    while clients(dsn):
        time.sleep(0.01)


def test_what_failed_is_undone(tables):
    add(tables, 1)

    def fail(sql):
        sql.run(_TOKENS["add_tokens"], **DAY, input_tokens=1, output_tokens=0)
        raise LookupError

    with pytest.raises(LookupError):
        tables.write(fail)
    assert stored(tables) == 1


def test_a_read_cannot_write(tables):
    with pytest.raises(StorageUnavailable):
        tables.read(lambda sql: sql.run(_TOKENS["add_tokens"], **DAY, input_tokens=1, output_tokens=0))


def test_threads_that_add_at_once_lose_nothing(tables):
    threads = [threading.Thread(target=add, args=(tables, 1)) for _ in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stored(tables) == 30


def test_work_runs_in_the_context_of_its_caller(tables):
    asked_by = ContextVar("asked_by", default="nobody")
    asked_by.set("mira")
    assert tables.read(lambda _: asked_by.get()) == "mira"


def test_a_closed_one_is_an_error_by_name(tables, dsn):
    tables.close()
    tables.close()
    with pytest.raises(StorageUnavailable, match=r"The PostgreSQL database data\d+ on .* is closed"):
        stored(tables)
    wait_until_nobody_is_connected(dsn)


async def test_memories_and_runs_share_one_pool_and_the_directory_until_both_are_closed(tmp_path, dsn):
    port, folder = databases(dsn), tmp_path / "data"
    main = await asyncio.to_thread(port.open_main, folder / DATABASE_FILE, None, DirectoryIdentity(folder))
    runs = await asyncio.to_thread(port.open_runs, folder / RUNS_FILE)
    asked = [main.read(None, lambda _: None) for _ in range(30)]
    await asyncio.gather(*asked, *(asyncio.to_thread(add, runs, 1) for _ in range(30)))
    assert clients(dsn) <= 8
    await main.aclose()
    assert stored(runs) == 30
    assert is_locked(folder)
    runs.close()
    assert not is_locked(folder)
    wait_until_nobody_is_connected(dsn)
    again = await asyncio.to_thread(port.open_runs, folder / RUNS_FILE)
    assert stored(again) == 30
    again.close()
