"""A program of its own over the file store, for what a test cannot do to itself: race, die and run out of things.

`python -m tests.storage.files.file_program add|kill|fail <folder> …`. Faults come through Python's audit hooks, which
are called at the border to the operating system: one that raises makes that call fail, one that exits dies there.
"""

import asyncio
import itertools
import os
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.files import FileMemoryStore
from mnemoir.storage.sqlite import open_database
from tests.storage.files.file_parts import ASKED, MIRA, Workspace, fact, record

_DIED = 9
_STEPS = {"open", "os.mkdir", "os.rename", "os.remove", "os.listdir", "os.scandir", "fcntl.flock"}
_OURS = ("workspace", "demo", ".etienne", "memories.json", "memories.json.tmp", "memories.json.lock")


class Fault:
    """Strikes at the `at`-th step on a project file, counted from 1, whatever that step is; 0 is never."""

    def __init__(self, strike: Callable[[], None]) -> None:
        self.at = 0
        self.seen = 0
        self._strike = strike
        sys.addaudithook(self._look)

    def arm(self, at: int) -> None:
        self.at, self.seen = at, 0

    def disarm(self) -> bool:
        """Whether it struck."""
        at, self.at = self.at, 0
        return self.seen >= at

    def _look(self, event: str, args: tuple[object, ...]) -> None:
        if not self.at or event not in _STEPS or not self._is_ours(event, args):
            return
        self.seen += 1
        if self.seen == self.at:
            self._strike()

    @staticmethod
    def _is_ours(event: str, args: tuple[object, ...]) -> bool:
        return event == "fcntl.flock" or os.path.basename(str(args[0])) in _OURS or isinstance(args[0], int)


async def add(folder: Path, name: str, count: str) -> None:
    """Add facts one after the other and print each that was acknowledged."""
    database = open_database(folder / name / "mnemoir.db")
    store = FileMemoryStore(folder / "workspace", database)
    for number in range(int(count)):
        await store.commit(MIRA, [fact(f"{name} {number}")], ASKED)
        print(f"{name} {number}", flush=True)
    await store.aclose()
    await database.aclose()


def kill(folder: Path) -> None:
    """Let a process die at each step of two adds with an edit by another program between them.

    Prints how many deaths were survived.
    """
    deaths = 0
    while _in_child(_add_two(folder / str(deaths), die_at=deaths + 1)) == _DIED:
        _check_what_is_left(folder / str(deaths))
        deaths += 1
    print(deaths)


async def fail(folder: Path, error: str) -> None:
    """Let each step of an add fail in turn; prints how many failures were survived."""

    def strike() -> None:
        raise OSError(int(error), os.strerror(int(error)))

    fault = Fault(strike)
    workspace = Workspace(folder / "workspace")
    database = open_database(folder / "data" / "mnemoir.db")
    store = FileMemoryStore(workspace.root, database)
    kept: set[str] = set()

    async def add_fact(text: str) -> None:
        with suppress(StorageUnavailable):
            await store.commit(MIRA, [fact(text)], ASKED)
            kept.add(text)

    for at in itertools.count(1):
        fault.arm(at)
        await add_fact(f"struck {at}")
        if not fault.disarm():
            break
        assert kept <= set(workspace.texts()), "an acknowledged memory is gone"
        await add_fact(f"after {at}")
        assert f"after {at}" in kept, "the next add does not work"
        assert kept <= set(workspace.texts()), "an acknowledged memory is gone"
    print(at - 1)
    await store.aclose()
    await database.aclose()


def _in_child(work: Coroutine[None, None, None]) -> int:
    child = os.fork()
    if child:
        work.close()
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    asyncio.run(work)
    os._exit(0)


async def _add_two(place: Path, die_at: int) -> None:
    fault = Fault(lambda: os._exit(_DIED))
    database = open_database(place / "data" / "mnemoir.db")
    store = FileMemoryStore(place / "workspace", database)
    fault.arm(die_at)
    workspace = Workspace(place / "workspace")
    await store.commit(MIRA, [fact("first")], ASKED)
    (place / "acknowledged first").touch()
    workspace.put(*workspace.records(), record("theirs"))
    (place / "acknowledged theirs").touch()
    await store.commit(MIRA, [fact("second")], ASKED)
    (place / "acknowledged second").touch()


async def _add_another(place: Path) -> None:
    database = open_database(place / "data" / "mnemoir.db")
    store = FileMemoryStore(place / "workspace", database)
    await store.commit(MIRA, [fact("another")], ASKED)
    assert await store.backlog("m1") >= (0, 1)
    await store.aclose()
    await database.aclose()


def _check_what_is_left(place: Path) -> None:
    workspace = Workspace(place / "workspace")
    left = workspace.texts()
    written = ["first", "theirs", "second"]
    acknowledged = [text for text in written if (place / f"acknowledged {text}").exists()]
    assert left[: len(acknowledged)] == acknowledged, "an acknowledged memory is gone"
    assert left == written[: len(left)], "the file is neither the old one nor the new one"
    assert _in_child(_add_another(place)) == 0, "the next add does not work"
    assert workspace.texts() == [*left, "another"]
    assert {file.name for file in workspace.file().parent.iterdir()} == {"memories.json", "memories.json.lock"}


if __name__ == "__main__":
    command, folder, *rest = sys.argv[1:]
    if command == "kill":
        kill(Path(folder))
    else:
        commands: dict[str, Callable[..., Coroutine[Any, Any, None]]] = {"add": add, "fail": fail}
        asyncio.run(commands[command](Path(folder), *rest))
