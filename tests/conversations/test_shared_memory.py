"""Several agents in several processes share one memory: one file of sessions, one of vectors, a session for each."""

import asyncio
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from mnemoir.conversations import SearchFilter
from tests.conversations.search_kit import WordsClient, manager, vector_ids

PROCESSES, WRITERS, MESSAGES = 4, 2, 200
ALL = PROCESSES * WRITERS * MESSAGES
AGENTS = [f"agent{process}x{writer}" for process in range(PROCESSES) for writer in range(WRITERS)]


@pytest.fixture(scope="module")
def shared(tmp_path_factory) -> tuple[Path, list[tuple[int, str]]]:
    """The folder that they have shared, and what was acknowledged: ids with texts, process by process."""
    folder = tmp_path_factory.mktemp("shared")
    line = [sys.executable, "-m", "tests.conversations.memory_program", str(folder)]
    running = [
        subprocess.Popen(
            [*line, str(number), str(WRITERS), str(MESSAGES)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(PROCESSES)
    ]
    printed = [process.communicate(timeout=100) for process in running]
    assert [(process.returncode, errors) for process, (_, errors) in zip(running, printed, strict=True)] == [
        (0, "")
    ] * PROCESSES
    lines = [line.split(" ", 1) for output, _ in printed for line in output.splitlines()]
    return folder, [(int(message_id), text) for message_id, text in lines]


@pytest.mark.slow
def test_nothing_is_lost_or_doubled_and_ids_only_grow(shared):
    folder, acknowledged = shared
    assert len({message_id for message_id, _ in acknowledged}) == len(acknowledged) == ALL
    with manager(folder, WordsClient()) as memory:
        for agent in AGENTS:
            own = [(message_id, text) for message_id, text in acknowledged if text.startswith(f"{agent} ")]
            assert all(older < newer for (older, _), (newer, _) in pairwise(own))
            assert [text for _, text in own] == [f"{agent} notes number {number}" for number in range(MESSAGES)]
            assert [message.text for message in memory.load_session(f"session of {agent}")] == [t for _, t in own]


def test_every_message_is_found_by_search(shared):
    folder, acknowledged = shared
    with manager(folder, WordsClient()) as memory:
        assert memory.storage.vector_counts() == {"embedded": ALL}
        assert set(vector_ids(memory)) == {f"msg_{message_id}" for message_id, _ in acknowledged}
        assert memory.backfill_embeddings() == 0
        found = asyncio.run(memory.search("notes number", ALL + 1))
        assert {(hit.message_id, hit.message.text) for hit in found} == set(acknowledged)
        for agent in AGENTS:
            [best] = asyncio.run(memory.search(f"{agent} notes number 17", 1))
            assert best.message.text == f"{agent} notes number 17"


@pytest.mark.slow
def test_reading_crosses_sessions_and_may_be_kept_to_one_agent(shared):
    folder, _ = shared
    with manager(folder, WordsClient()) as memory:
        found = asyncio.run(memory.search("notes number 17", ALL, filters=SearchFilter(agent=AGENTS[3])))
        assert {hit.session_id for hit in found} == {f"session of {AGENTS[3]}"}
        assert len(found) == MESSAGES
