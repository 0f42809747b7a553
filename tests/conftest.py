"""What holds for every test: the files that take longest begin first, and no logging outlives its test."""

import gc
import logging
import os
import sys
from collections.abc import Generator, Iterator

import pytest
import structlog

# With a file for each processor, one of these at the end would keep the others waiting. Longest first, as measured.
_LONGEST = (
    *("test_every_page.py", "test_wheel.py", "test_conversations_page.py", "test_chat_page.py"),
    *("test_workflows_page.py", "test_memories_page.py", "test_hostile_pages.py", "test_runs_page.py"),
    *("test_kill.py", "test_conversation_crashes.py", "test_conversation_forgetting.py"),
    *("test_discussion_crashes.py", "test_workflow_reliability.py", "test_kill_while_making.py"),
    *("test_long_conversation.py", "test_outage.py", "test_conversation_isolation.py", "test_conversation_damage.py"),
    *("test_restart.py", "test_many_at_once.py", "test_hostile_input.py", "test_serve_command.py"),
    *("test_workflow_failures.py", "test_edits_property.py", "test_file_crashes.py", "test_failing_disk.py"),
    "test_node_memory_writers.py",
)


def pytest_configure() -> None:
    """Keep compiled modules, whatever the shell says: two hundred servers would each compile them, for 0.4 s."""
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


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
    """Half as many again as there are processors: tests wait for servers and disks more than they compute."""
    processors = os.cpu_count() or 1
    return processors + (processors + 1) // 2


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Behind the shuffling of the order. Tests of one page share a server, so they run as they are written."""
    place = {name: at for at, name in enumerate(_LONGEST)}
    items.sort(key=lambda item: _line_of(item) if item.path.parent.name == "browser" else 0)
    items.sort(key=lambda item: place.get(item.path.name, len(place)))


def _line_of(item: pytest.Item) -> int:
    return item.location[1] or 0


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    """Logs of a test may go to a stream that is closed with it."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)
