"""A database that is gone, stopped or cut off costs each caller some seconds and an error, and nothing for good."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

import pytest

from mnemoir.core.errors import KeyUnavailable, StorageUnavailable
from mnemoir.storage.databases import key_store
from mnemoir.storage.sealing.cells import Cells
from mnemoir.storage.sealing.key_ring import KeyRing
from mnemoir.storage.sealing.providers import file_keys
from mnemoir.storage.sql import SqlMemoryStore
from tests.contracts.words import ALL, ASKED, MIRA, SetClock, fact
from tests.postgres_server import PostgresServer, binaries_of, psycopg_module
from tests.storage.sealing_kit import write_key
from tests.swallowing_proxy import SwallowingProxy

pytest.importorskip("psycopg", reason="the package psycopg is not installed")
from mnemoir.storage.postgres.engine import PostgresEngine, SharedTables, open_postgres
from mnemoir.storage.postgres.transactions import PostgresSql

pytestmark = [pytest.mark.slow, pytest.mark.real_time]
MOST_S = 8
CLIENTS = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
Failure = Callable[[PostgresServer, SwallowingProxy], AbstractAsyncContextManager[None]]


@pytest.fixture(scope="module")
def own_server() -> Iterator[PostgresServer]:
    """A server that others do not need."""
    binaries_of(18)
    with PostgresServer(18) as server:
        yield server


@asynccontextmanager
async def gone(server: PostgresServer, proxy: SwallowingProxy) -> AsyncIterator[None]:
    await asyncio.to_thread(server.pause)
    try:
        yield
    finally:
        await asyncio.to_thread(server.resume)


@asynccontextmanager
async def stopped(server: PostgresServer, proxy: SwallowingProxy) -> AsyncIterator[None]:
    server.freeze()
    try:
        yield
    finally:
        server.thaw()


@asynccontextmanager
async def cut_off(server: PostgresServer, proxy: SwallowingProxy) -> AsyncIterator[None]:
    proxy.is_swallowing = True
    try:
        yield
    finally:
        proxy.is_swallowing = False


@pytest.fixture
async def proxy(own_server: PostgresServer) -> AsyncIterator[SwallowingProxy]:
    async with SwallowingProxy(own_server.folder / ".s.PGSQL.5432") as proxy:
        yield proxy


@pytest.fixture
async def engine(proxy: SwallowingProxy) -> AsyncIterator[PostgresEngine]:
    dsn = f"host=127.0.0.1 port={proxy.port} user=postgres dbname=postgres password=geheim"
    engine = await asyncio.to_thread(open_postgres, dsn)
    yield engine
    await engine.aclose()


@pytest.mark.parametrize("failure", [gone, stopped, cut_off])
async def test_a_failing_database_is_an_error_in_time_and_is_used_again(own_server, proxy, engine, failure: Failure):
    store = SqlMemoryStore(engine, SetClock())
    await ask_often(store)
    before = resources(own_server)
    async with failure(own_server, proxy):
        outcomes = await ask_often(store)
        again = await ask_often(store)
    for error, took_s in (*outcomes, *again):
        assert isinstance(error, StorageUnavailable)
        assert "postgres on 127.0.0.1" in error.message
        assert "geheim" not in f"{error!r}"
        assert took_s < MOST_S
    until = time.monotonic() + 10
    while [error for error, _ in await ask_often(store) if error] or resources(own_server) != before:
        assert time.monotonic() < until
        await asyncio.sleep(0.1)


@pytest.mark.parametrize("failure", [gone, stopped, cut_off])
async def test_a_blocking_caller_gets_an_error_in_time_too(own_server, proxy, engine, failure: Failure):
    tables = SharedTables(engine._pool, PostgresSql)
    try:
        async with failure(own_server, proxy):
            began = time.monotonic()
            for ask in (tables.read, tables.write):
                with pytest.raises(StorageUnavailable, match=r"postgres on 127\.0\.0\.1"):
                    await asyncio.to_thread(ask, lambda sql: sql.hold("anything"))
            assert time.monotonic() - began < MOST_S
        await asyncio.to_thread(wait_until_it_is_well, tables)
    finally:
        tables.close()


@pytest.mark.parametrize("failure", [gone, stopped, cut_off])
async def test_without_the_database_of_keys_none_is_used_and_all_are_when_it_is_back(
    own_server, proxy, tmp_path, failure: Failure
):
    with psycopg_module().connect(own_server.dsn, autocommit=True) as almighty:
        almighty.execute("DROP DATABASE IF EXISTS keys WITH (FORCE)")
        almighty.execute("CREATE DATABASE keys")
    place = key_store(tmp_path, f"host=127.0.0.1 port={proxy.port} user=postgres dbname=keys password=geheim")
    ring = await asyncio.to_thread(KeyRing, place, file_keys(write_key(tmp_path)))
    cells, owner = Cells(ring, seals=True), ("default", "demo", "mira")
    try:
        stored = await asyncio.to_thread(lambda: cells.seal(ring.current(owner), b"place", "Likes tea"))
        async with failure(own_server, proxy):
            await asyncio.sleep(1.1)  # for which what is held may be used
            began = time.monotonic()
            for _ in range(2):
                with pytest.raises(KeyUnavailable, match=r"keys on 127\.0\.0\.1") as error:
                    await asyncio.to_thread(cells.open, b"place", stored)
                assert "geheim" not in error.value.message
            assert time.monotonic() - began < MOST_S
        await asyncio.to_thread(wait_until_it_opens, cells, stored)
    finally:
        await asyncio.to_thread(ring.close)


def wait_until_it_opens(cells: Cells, stored: str | bytes) -> None:
    while True:
        with suppress(KeyUnavailable):
            assert cells.open(b"place", stored) == "Likes tea"
            return
        time.sleep(0.1)


@pytest.mark.parametrize("failure", [stopped, cut_off])
async def test_a_database_that_fails_within_a_transaction_is_an_error_in_time(own_server, proxy, engine, failure):
    begun, failed = threading.Event(), threading.Event()

    def work(sql):
        begun.set()
        failed.wait(20)
        sql.hold("anything")

    writing = asyncio.create_task(engine.write(None, work))
    await asyncio.to_thread(begun.wait, 20)
    async with failure(own_server, proxy):
        failed.set()
        began = time.monotonic()
        with pytest.raises(StorageUnavailable, match="no answer"):
            await writing
        assert time.monotonic() - began < MOST_S


async def test_a_slow_statement_of_a_database_that_is_well_is_waited_for(engine):
    released = asyncio.Event()

    async def hold_for_a_while():
        def hold(sql):
            sql.hold("a name")
            loop.call_soon_threadsafe(released.set)
            time.sleep(4)

        await engine.write(None, hold)

    loop = asyncio.get_running_loop()
    holding = asyncio.create_task(hold_for_a_while())
    await released.wait()
    await engine.write(None, lambda sql: sql.hold("a name"))
    await holding


async def test_a_table_that_somebody_locked_is_an_error_in_time(own_server, engine):
    store = SqlMemoryStore(engine, SetClock())
    with psycopg_module().connect(own_server.dsn) as somebody:
        somebody.execute("LOCK TABLE mnemoir.memories, mnemoir.scopes IN ACCESS EXCLUSIVE MODE")
        for error, took_s in await ask_often(store):
            assert isinstance(error, StorageUnavailable)
            assert took_s < MOST_S
    assert {error for error, _ in await ask_often(store)} == {None}


@pytest.mark.usefixtures("engine")  # which makes the tables
async def test_a_connection_that_became_read_only_is_not_used_again(own_server):
    with psycopg_module().connect(own_server.dsn, autocommit=True) as almighty:
        almighty.execute("ALTER DATABASE postgres SET default_transaction_read_only TO on")
        try:
            fresh = await asyncio.to_thread(open_postgres, own_server.dsn)
            with pytest.raises(StorageUnavailable):
                await SqlMemoryStore(fresh, SetClock()).commit(MIRA, [fact("Likes tea")], ASKED)
        finally:
            almighty.execute("ALTER DATABASE postgres RESET ALL")
    try:
        assert await SqlMemoryStore(fresh, SetClock()).commit(MIRA, [fact("Likes rum")], ASKED)
    finally:
        await fresh.aclose()


def test_a_server_that_lets_in_too_few_clients_is_refused_with_the_sum():
    binaries_of(18)
    few = "-c max_connections=11 -c superuser_reserved_connections=3"
    with PostgresServer(18, few) as server, pytest.raises(StorageUnavailable, match=r"lets in 8 clients .* needs 9"):
        open_postgres(server.dsn)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("dbname=nowhere", r"PostgreSQL database nowhere on .*Correct that in storage\.postgres\.dsn"),
        ("user=nobody", r"role .nobody. does not exist\. Correct that in storage\.postgres\.dsn"),
        ("host=127.0.0.1 port=1", r"on 127\.0\.0\.1 port 1 .*Check that it runs"),
    ],
)
def test_a_failure_tells_where_the_database_is_and_what_to_do(own_server, wrong, said):
    with pytest.raises(StorageUnavailable, match=said):
        open_postgres(f"{own_server.dsn} {wrong}")


def wait_until_it_is_well(tables: SharedTables) -> None:
    while True:
        with suppress(StorageUnavailable):
            return tables.read(lambda _: None)
        time.sleep(0.1)


async def ask_often(store: SqlMemoryStore) -> list[tuple[BaseException | None, float]]:
    """The errors of many reads and writes at once, and how long each took in seconds."""

    async def ask(number: int) -> tuple[BaseException | None, float]:
        began = time.monotonic()
        try:
            if number % 4:
                await store.count(MIRA, ALL)
            else:
                await store.commit(MIRA, [fact(f"Likes tea {time.monotonic_ns()}")], ASKED)
        except StorageUnavailable as exc:
            return exc, time.monotonic() - began
        return None, time.monotonic() - began

    return list(await asyncio.gather(*(ask(number) for number in range(24))))


def resources(server: PostgresServer) -> tuple[int, int]:
    """How many threads of the engine there are, and how many connections of clients the server has."""
    threads = sum(thread.name.startswith("postgres") for thread in threading.enumerate())
    with psycopg_module().connect(server.dsn) as connection:
        (count,) = connection.execute(CLIENTS).fetchone()
    return threads, count
