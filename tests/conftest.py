"""What holds for every test: the files that take longest begin first, and no logging outlives its test."""

import gc
import logging
import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import psutil
import pytest
import structlog
from hypothesis import settings
from stamina.instrumentation import RetryDetails, get_on_retry_hooks, set_on_retry_hooks

from tests.forked_servers import Forker
from tests.real_time import NAME, RealTimeRepeats
from tests.serving import ServerProcess
from tests.stages import leave_cases_to_slow

# With a file for each processor, one of these at the end would keep the others waiting. Longest first, as measured.
_LONGEST = (
    *("test_wheel.py", "test_request_members.py", "test_discussion_routes.py", "test_learned_words.py"),
    *("test_answer_members.py", "test_memory_routes.py", "test_vector_stores.py", "test_forwarding.py"),
    *("test_chat_page.py", "test_conversations_page.py", "test_workflows_page.py"),
    *("test_every_page.py", "test_hostile_pages.py", "test_memory_drawer.py", "test_memories_page.py"),
    *("test_runs_page.py", "test_chat_rail.py", "test_connect_page.py", "test_browser_description.py"),
    *("test_status_page.py", "test_documentation.py", "test_kill_while_making.py", "test_mcp_tools.py"),
    *("test_kill.py", "test_killed_process.py"),
    *("test_shell.py", "test_memories_commands.py", "test_chat_commands.py", "test_long_conversation.py"),
    *("test_real_time.py", "test_hostile_workflows_secrets.py", "test_chat_terminal.py", "test_doctor_command.py"),
    *("test_discussion_names.py", "test_conversation_forgetting.py", "test_workflow_failures.py"),
    *("test_discussion_crashes.py", "test_discussion_damage.py", "test_hostile_input.py", "test_failing_disk.py"),
    *("test_forgotten_conversations.py", "test_ledger_faults.py", "test_record_faults.py"),
)
_OF_THE_RUN = 0.6  # over how much of it the files of the browser are spread: none of them is to be the last one
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
# no example is wrong for having taken long: others may be at work on this machine. Each run has other examples.
settings.register_profile("untimed", settings(), deadline=None, max_examples=30)
settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option of `make test-late`."""
    parser.addoption("--late", action="store_true", help="browser tests: late answers and a slow processor")


def pytest_configure(config: pytest.Config) -> None:
    """Repeat failed tests that need real time; keep compiled modules; put temporary files into memory.

    Modules stay compiled, whatever the shell says: two hundred servers would compile them, for 0.4 s each. Memory is
    used where there is enough of it: most of what tests wait for is a disk that syncs, and a killed process leaves
    the same behind on both. PYTEST_DEBUG_TEMPROOT and --basetemp name another directory.
    """
    config.pluginmanager.register(RealTimeRepeats(config=config), NAME)
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK | os.X_OK):
        room = min(psutil.disk_usage(str(_MEMORY)).free, psutil.virtual_memory().available)
        if room > _ENOUGH_BYTES:
            os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported stays: looking through it for garbage takes a third of this, and some of each test."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: each of them collects all tests, and few tests wait."""
    return 1 + (os.cpu_count() or 1)


@pytest.hookimpl(specname="pytest_collection_modifyitems", tryfirst=True)
def pytest_stage(items: list[pytest.Item]) -> None:
    """Before tests are chosen by their markers: of many cases that cost much, leave most to `make test-slow`."""
    tests = Path(__file__).parent
    leave_cases_to_slow(
        (item for item in items if item.path.relative_to(tests).parts[0] in _COSTLY), most=_MOST_CASES
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Behind the shuffling: the files that take longest first, and those of the browser spread over the others.

    Pages compute and most other tests wait. Next to each other they share the processors; one kind behind the other,
    the first would crowd them and the second would leave them idle.
    """
    place = {name: at for at, name in enumerate(_LONGEST)}
    files = sorted({item.path: None for item in items}, key=lambda path: place.get(path.name, len(place)))
    pages = [path for path in files if path.parent.name == "browser"]
    rest = [path for path in files if path.parent.name != "browser"]
    order: dict[Path, float] = {path: at for at, path in enumerate(rest)}
    order |= {path: at * len(rest) * _OF_THE_RUN / len(pages) for at, path in enumerate(pages)}
    items.sort(key=lambda item: order[item.path])


@pytest.fixture(scope="session", autouse=True)
def _servers_are_forked() -> Iterator[None]:
    """A server that is forked costs a tenth of one that imports everything anew, and hundreds are started."""
    ServerProcess.forker = Forker()
    yield
    ServerProcess.forker.close()
    ServerProcess.forker = None


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
def planned_waits() -> Iterator[list[float]]:
    """The seconds each repeat of a call is to wait, as they are planned; what a clock shows tells of the machine."""
    waits: list[float] = []

    def note(details: RetryDetails) -> None:
        waits.append(details.wait_for)

    hooks = get_on_retry_hooks()
    set_on_retry_hooks([*hooks, note])
    yield waits
    set_on_retry_hooks(hooks)
