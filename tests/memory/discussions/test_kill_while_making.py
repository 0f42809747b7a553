"""kill -9 while memories are made: no chunk is lost, none is there twice, and the next making goes on."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.memory.discussions.making_kit import POLICY, STORES, Memory
from tests.memory.discussions.making_program import MESSAGES
from tests.narrowing import present

pytestmark = pytest.mark.slow

KILLS = 25  # for each store
CHUNKS = 12  # begun by a program at most before it is killed


def make_until_killed(root: Path, kind: str, chunks: int) -> None:
    program = subprocess.Popen(
        [sys.executable, "-m", "tests.memory.discussions.making_program", root, kind], stdout=subprocess.PIPE
    )
    try:
        for _ in range(chunks):
            present(program.stdout).readline()
    finally:
        program.kill()
        program.communicate()


@pytest.mark.parametrize("kind", STORES)
async def test_what_was_made_before_a_kill_is_there_once_and_the_rest_is_made_later(tmp_path, kind):
    rng, texts = random.Random(5), [message.text for message in MESSAGES]
    memory = Memory(root=tmp_path, kind=kind)
    begun = 0
    for _ in range(KILLS):
        chunks = rng.randint(1, CHUNKS)
        make_until_killed(tmp_path, kind, chunks)
        covered = await memory.covered()
        assert covered == texts[: len(covered)]
        assert len(await memory.chunks()) >= begun + chunks - 1
        begun = len(await memory.chunks())
    await memory.make(MESSAGES)
    covered = await memory.covered()
    assert covered == texts[: len(texts) - POLICY.lookback]
    assert await memory.chunks(stale=True) == []
    await memory.aclose()
