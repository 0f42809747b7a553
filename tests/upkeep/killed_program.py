"""A program of its own that is killed in front of and behind each holding while it erases or gives.

`python -m tests.upkeep.killed_program <folder> erase|adopt`

Prints how many deaths were made good: nothing of an erased person is left, a given project is there as a whole, and
nothing of it before.
"""

import asyncio
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

from tests.upkeep.cut_kit import (
    ADOPTIONS,
    ALL,
    ANNA,
    ERASURES,
    MIRA,
    NOTHING,
    WORD,
    Point,
    adopt,
    cut,
    erase,
    holding_words,
    opened,
    seen,
    settings_of,
    tell,
)
from tests.upkeep.toy_holding import registered

Work = Callable[[], Coroutine[Any, Any, None]]


def run(work: Work) -> int:
    """The status with which a process ends that does the work; the signal, negative, that killed it."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = 1
    try:
        asyncio.run(work())
        status = 0
    finally:
        if status:
            traceback.print_exc()
        os._exit(status)


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def killed(data: Path, what: str, point: Point) -> None:
    async with opened(settings_of(data)) as parts:
        cut(parts, point, kill)
        await (erase if what == "erase" else adopt)(parts)


async def erased(data: Path, how: str) -> None:
    async with opened(settings_of(data)) as parts:
        await erase(parts)
    found = holding_words(data, MIRA, WORD)
    assert found == {}, found


async def given(data: Path, how: str) -> None:
    """Nothing is seen before, and all behind it: when it is repeated, and when the program just starts again."""
    async with opened(settings_of(data)) as parts:
        before = await seen(parts, ANNA)
        assert before == (ALL if how == "after" else NOTHING), before
        await adopt(parts)
        behind = await seen(parts, ANNA), await seen(parts, MIRA)
        assert behind == (ALL, NOTHING), behind


async def given_by_a_start(data: Path, how: str) -> None:
    async with opened(settings_of(data)) as parts:
        await parts.start()
        behind = await seen(parts, ANNA), await seen(parts, MIRA)
        # one that was killed before its first step has not begun
        assert behind in ((ALL, NOTHING), (NOTHING, ALL)), behind


def main() -> None:
    folder, what = Path(sys.argv[1]), sys.argv[2]
    checks = [erased] if what == "erase" else [given, given_by_a_start]
    with registered():
        assert run(partial(tell, settings_of(folder / "told"))) == 0
        points = ERASURES if what == "erase" else ADOPTIONS
        for point in points:
            data = folder / "data"
            shutil.copytree(folder / "told", data)
            assert run(partial(killed, data, what, point)) == -signal.SIGKILL, str(point)
            for check in checks:
                shutil.copytree(data, folder / "again")
                assert run(partial(check, folder / "again", point.side)) == 0, f"{check.__name__}: {point}"
                shutil.rmtree(folder / "again")
            shutil.rmtree(data)
    print(len(points))


if __name__ == "__main__":
    main()
