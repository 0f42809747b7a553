"""What holds for every test: how it is chosen and repeated, and that no logging outlives it."""

import gc
import logging
import os
import sys
from collections.abc import Generator, Iterator
from functools import partial
from pathlib import Path

import psutil
import pytest
import structlog
from argon2 import PasswordHasher
from hypothesis import settings
from stamina.instrumentation import RetryDetails, get_on_retry_hooks, set_on_retry_hooks

from mnemoir.access.sign_in import passwords
from mnemoir.core import clock_guard
from mnemoir.providers.embedding.minilm_encoder import Encoder
from tests.budget import NAME as BUDGET
from tests.budget import Budget
from tests.embedded_once import embed
from tests.forked_servers import Forker
from tests.postgres_server import servers
from tests.real_time import NAME, RealTimeRepeats
from tests.serving import ServerProcess
from tests.share import add_options, share_of
from tests.stages import leave_cases_to_slow

# `jsonschema` imports it for IRIs alone, and it takes two seconds of each process to read its own grammar
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]  # it is not there for whoever imports it
_MEMORY = Path("/dev/shm")
_ENOUGH_BYTES = 4 * 1024**3  # a whole run leaves less than one, if nothing fails

# In these rooms each case of a test opens a database, a server or a process: `make test` has few of many cases.
_COSTLY = {
    "acceptance",
    "access",
    "app",
    "chats",
    "cli",
    "contracts",
    "conversations",
    "fidelity",
    "memory",
    "models",
    "server",
    "storage",
    "trees",
    "upkeep",
    "workflows",
}
_MOST_CASES = 3
_OBJECTS = 50_000  # made and not yet gone, until they are looked through for garbage
# no example is wrong for having taken long: others may be at work on this machine. Each run has other examples.
settings.register_profile("untimed", settings(), deadline=None, max_examples=30)
settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of `make test-late` and of tests/shards.py."""
    parser.addoption("--late", action="store_true", help="browser tests: late answers and a slow processor")
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Repeat failed tests that need real time; keep compiled modules; put temporary files into memory.

    Modules stay compiled, whatever the shell says: two hundred servers would compile them, for 0.4 s each. Memory is
    used where there is enough of it: most of what tests wait for is a disk that syncs, and a killed process leaves
    the same behind on both. PYTEST_DEBUG_TEMPROOT and --basetemp name another directory.
    """
    config.pluginmanager.register(RealTimeRepeats(config=config), NAME)
    if not hasattr(config, "workerinput"):  # a process of xdist runs nothing behind its last test
        config.pluginmanager.register(Budget(), BUDGET)
    if (share := share_of(config)) is not None:
        config.pluginmanager.register(share, "share")
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK | os.X_OK):
        room = min(psutil.disk_usage(str(_MEMORY)).free, psutil.virtual_memory().available)
        if room > _ENOUGH_BYTES:
            os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported stays: looking through it for garbage takes a third of this, and some of each test.

    And a test makes little garbage: to look for it every 700 objects, as Python does, takes a twelfth of all.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(_OBJECTS, *gc.get_threshold()[1:])
        gc.enable()


@pytest.hookimpl(specname="pytest_collection_modifyitems", tryfirst=True)
def pytest_stage(items: list[pytest.Item]) -> None:
    """Before tests are chosen by their markers: of many cases that cost much, leave most to `make test-slow`."""
    tests = Path(__file__).parent
    leave_cases_to_slow(
        (item for item in items if item.path.relative_to(tests).parts[0] in _COSTLY), most=_MOST_CASES
    )


@pytest.fixture(scope="session", autouse=True)
def _servers_are_forked() -> Iterator[None]:
    """A server that is forked costs a tenth of one that imports everything anew, and hundreds are started."""
    ServerProcess.forker = Forker()
    yield
    ServerProcess.forker.close()
    ServerProcess.forker = None


@pytest.fixture(scope="session", autouse=True)
def _databases_end_with_the_tests() -> Iterator[None]:
    yield
    servers.stop()


@pytest.fixture(scope="session", autouse=True)
def _cheap_hashes() -> Iterator[None]:
    """Hashes of passwords, which servers within this process make, cost a thousandth of the real ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            passwords, "PasswordHasher", partial(PasswordHasher, time_cost=1, memory_cost=16, parallelism=1)
        )
        yield


@pytest.fixture(scope="session", autouse=True)
def _texts_are_embedded_once() -> Iterator[None]:
    """A text that the built-in model has embedded in this process has its vector."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Encoder, "embed", embed)
        yield


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    """Logs of a test may go to a stream that is closed with it."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def trusted_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock may decide at once what is deleted by its age, as if a server had run for an hour."""
    monkeypatch.setattr(clock_guard, "WAIT_S", 0)


@pytest.fixture
def planned_waits() -> Iterator[list[float]]:
    """The seconds each repeat of a call is to wait, as they are planned; what a clock shows tells of the machine."""
    waits: list[float] = []

    def note(details: RetryDetails) -> None:
        waits.append(details.wait_for)

    hooks = get_on_retry_hooks()
    set_on_retry_hooks([*hooks, note])
    yield waits
    set_on_retry_hooks(hooks)
