"""What holds for every test: the files that take longest begin first, and no logging outlives its test."""

import gc
import logging
import os
import sys
from collections.abc import Generator, Iterator

import pytest
import structlog

# with a file for each processor, one of these at the end would keep the others waiting
_LONGEST = {
    *("test_kill.py", "test_kill_while_making.py", "test_discussion_crashes.py", "test_many_at_once.py"),
    *("test_workflow_reliability.py", "test_starter_tree.py"),
}


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
    """Behind the shuffling of the order."""
    items.sort(key=lambda item: item.path.name not in _LONGEST)


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    """Logs of a test may go to a stream that is closed with it."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)
