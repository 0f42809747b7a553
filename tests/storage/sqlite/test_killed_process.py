"""kill -9 while several tasks commit: what was acknowledged is there, nothing is there by half."""

import asyncio
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from mnemoir.storage.sql import SqlMemoryStore
from mnemoir.storage.sqlite import open_database
from tests.contracts.words import ALL, MIRA
from tests.narrowing import present
from tests.storage.sqlite.writing_program import PER_COMMIT

pytestmark = pytest.mark.slow

KILLS = 10


def acknowledged_until_killed(path: Path, round_: int, after: int) -> list[str]:
    """Lines the program printed before it was killed, some time after the given number of them."""
    program = subprocess.Popen(
        [sys.executable, "-m", "tests.storage.sqlite.writing_program", path, f"{round_}"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        lines = [present(program.stdout).readline() for _ in range(after)]
    finally:
        program.kill()
    rest, _ = program.communicate()
    return [line.strip() for line in "".join([*lines, rest]).splitlines(keepends=True) if line.endswith("\n")]


def test_ten_kills_lose_no_acknowledged_commit_and_leave_no_half_one(path):
    rng, printed = random.Random(11), []
    for round_ in range(KILLS):
        printed += acknowledged_until_killed(path, round_, rng.randint(1, 60))
        asyncio.run(assert_all_is_whole(path, printed))


async def assert_all_is_whole(path: Path, printed: list[str]) -> None:
    database = open_database(path)
    try:
        store = SqlMemoryStore(database)
        assert await database.check_integrity() == []
        stored = {memory.text for memory in await store.page(MIRA, ALL, limit=1_000_000)}
        whole = Counter(text.split(" part ")[0] for text in stored)
        assert set(whole.values()) == {PER_COMMIT}
        added = {line.removeprefix("added ") for line in printed if line.startswith("added ")}
        rewritten = {line.removeprefix("rewritten ") for line in printed if line.startswith("rewritten ")}
        assert added <= set(whole)
        assert {f"{label} part 0 again" for label in rewritten} <= stored
    finally:
        await database.aclose()
