"""All memories of a user are deleted in small steps: gone for every reader at once, and from the file in the end."""

import asyncio
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from mnemoir.core.memories import Provenance
from mnemoir.ports.memory_store import StoreCounts
from mnemoir.storage.sql import SqlJobQueue, SqlMemoryStore, forgetting
from mnemoir.storage.sqlite import open_database
from tests.contracts.words import ALL, MIRA, NOW, keep, message
from tests.storage.sqlite.erasing_program import MEMORIES, SECRET


def kill_after(path: Path, transactions: int) -> None:
    """Run the program and kill it when so many of its transactions were committed, or it ends first."""
    program = subprocess.Popen(
        [sys.executable, "-m", "tests.storage.sqlite.erasing_program", path], stdout=subprocess.PIPE, text=True
    )
    try:
        assert program.stdout is not None
        for _ in range(transactions):
            program.stdout.readline()
    finally:
        program.kill()
        program.communicate()


def files_with(word: str, folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir() if word.encode() in file.read_bytes()]


@pytest.mark.slow
@pytest.mark.parametrize("transactions", [2, 3, 5, 8, 12, 16])
def test_killed_on_the_way_nothing_is_to_be_seen_and_the_next_run_erases_the_rest(path, transactions):
    kill_after(path, transactions)
    asyncio.run(assert_nothing_is_seen_and_erase(path))
    assert files_with(SECRET, path.parent) == []


async def assert_nothing_is_seen_and_erase(path: Path) -> None:
    database = open_database(path)
    try:
        store, jobs = SqlMemoryStore(database), SqlJobQueue(database)
        assert (await store.page(MIRA, ALL, limit=9), await store.counts()) == (
            [],
            StoreCounts(projects=0, users=0, memories=0),
        )
        await store.commit(MIRA, [message("I like tea.")], Provenance(reason="verbatim"))
        if job := await jobs.claim("worker", 60):
            assert job.kind == forgetting.ERASE
        await store.erase()
        assert [memory.text for memory in await store.page(MIRA, ALL, limit=9)] == ["I like tea."]
        assert await database.check_integrity() == []
    finally:
        await database.aclose()


async def test_who_writes_meanwhile_waits_for_a_few_rows_alone(path, monkeypatch):
    monkeypatch.setattr(forgetting, "_ROWS_AT_ONCE", 10)
    database = open_database(path)
    store, left = SqlMemoryStore(database), [MEMORIES]
    try:
        await keep(store, *(message(f"I like {SECRET} {number}") for number in range(MEMORIES)))
        moved = await database.write(MIRA, lambda sql: forgetting.make_nobodys(sql, MIRA, NOW))
        assert (moved, await store.count(MIRA, ALL)) == (MEMORIES, 0)
        while await database.write(None, forgetting.erase_some):
            left.append(await database.read(None, lambda sql: sql.value("SELECT count(*) FROM memories")))
        assert max(before - after for before, after in pairwise(left)) == 10
        assert await SqlJobQueue(database).tally() == []
    finally:
        await database.aclose()


async def test_an_index_knows_that_all_memories_of_its_user_are_gone(store):
    await keep(store, *(message(f"I like {number}") for number in range(3)))
    before = await store.reading(lambda view: view.revision(MIRA))
    assert await store.delete_all(MIRA) == 3
    await keep(store, message("I like tea."))
    after, rows = await store.reading(lambda view: (view.revision(MIRA), view.rows_since(MIRA, before.changes)))
    assert (after.changes - before.changes, after.removals - before.removals, len(rows)) == (1, 3, 1)
