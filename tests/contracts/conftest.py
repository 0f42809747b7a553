"""One store a test, on real files, under a clock that the test sets."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mnemoir.core.data_directory import RUNS_FILE
from mnemoir.storage.sealing.key_stores import KeyStore
from mnemoir.storage.sql.conversations.log import SqlLog
from mnemoir.storage.sql.engine import Engine, FileEngine
from mnemoir.storage.sql.run_store import SqlRunStore
from tests.contracts.backends import (
    ENGINES,
    JOB_QUEUES,
    KEY_STORES,
    MEMORY_STORES,
    PROJECT_SETTINGS,
    RUN_FILES,
    MemoryBackend,
    Store,
)
from tests.contracts.logs import LOGS, OpenedLogs
from tests.contracts.words import MIRA, SetClock
from tests.postgres_server import servers

Restart = Callable[[], Awaitable[Store]]
OpenRuns = Callable[..., AbstractAsyncContextManager[SqlRunStore]]


def staged_backends(every: Mapping[str, object]) -> list[Any]:
    """The back-ends by name; those over a server of its own are left to the slow stage."""
    slow = pytest.mark.slow
    return [
        pytest.param(one, id=name, marks=slow if name.startswith("postgres") else ()) for name, one in every.items()
    ]


@pytest.fixture(autouse=True)
def _databases_are_free() -> Iterator[None]:
    yield
    servers.release()


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture(params=staged_backends(MEMORY_STORES))
def backend(request: pytest.FixtureRequest) -> MemoryBackend:
    chosen: MemoryBackend = request.param
    return chosen


@pytest.fixture
async def store_factory(backend: MemoryBackend, tmp_path: Path, clock: SetClock) -> AsyncIterator[Restart]:
    """Opens the store; called again, it closes the one before and opens its data anew."""
    async with AsyncExitStack() as stack:

        async def open_anew() -> Store:
            await stack.aclose()
            return await stack.enter_async_context(backend.open(tmp_path, clock))

        yield open_anew


@pytest.fixture
async def store(store_factory: Restart) -> Store:
    return await store_factory()


@pytest.fixture
def past_states(backend: MemoryBackend) -> None:
    """For tests of what only some back-ends keep."""
    if not backend.keeps_past_states:
        pytest.skip("keeps no past states, as documented")


@pytest.fixture(params=staged_backends(ENGINES))
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Engine]:
    """A database of each kind, for what is written over it."""
    async with request.param(tmp_path) as opened:
        yield opened


@pytest.fixture(params=staged_backends(RUN_FILES))
def open_run_file(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], FileEngine]]:
    """Opens the same database of runs with each call."""
    with request.param(tmp_path) as opening:
        yield opening


@pytest.fixture
def open_runs(open_run_file: Callable[[], FileEngine], tmp_path: Path) -> OpenRuns:
    """Opens a store of the same runs with each call."""

    @asynccontextmanager
    async def opened(**bounds: Any) -> AsyncIterator[SqlRunStore]:
        store = SqlRunStore(await asyncio.to_thread(open_run_file), tmp_path / RUNS_FILE, **bounds)
        try:
            yield store
        finally:
            await store.aclose()

    return opened


@pytest.fixture(params=staged_backends(KEY_STORES))
def key_store(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], KeyStore]:
    """The place of the same keys as another process sees it, with each call."""
    return partial(request.param, tmp_path)


@pytest.fixture(params=staged_backends(JOB_QUEUES))
async def jobs_factory(request: pytest.FixtureRequest, tmp_path: Path, clock: SetClock):
    async with AsyncExitStack() as stack:

        async def open_anew():
            await stack.aclose()
            return await stack.enter_async_context(request.param(tmp_path, clock))

        yield open_anew


@pytest.fixture(params=staged_backends(PROJECT_SETTINGS))
async def settings_factory(request: pytest.FixtureRequest, tmp_path: Path):
    async with AsyncExitStack() as stack:

        async def open_anew():
            await stack.aclose()
            return await stack.enter_async_context(request.param(tmp_path))

        yield open_anew


@pytest.fixture(params=staged_backends(LOGS))
def logs(request: pytest.FixtureRequest, tmp_path: Path, clock: SetClock) -> Iterator[OpenedLogs]:
    """The logs of all users of a folder."""
    with request.param(tmp_path, clock) as opened:
        yield opened


@pytest.fixture
def log(logs: OpenedLogs) -> SqlLog:
    """That of one."""
    return logs.of(MIRA)
