"""A workflow lock has one holder at a time, across requests, programs and crashes, while the holder works."""

import asyncio
import os
import re
import signal
from contextlib import asynccontextmanager
from functools import partial

import apsw
import pytest

from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.locks.rows import RowLeases
from mnemoir.storage.sql.engine import queries
from mnemoir.storage.sqlite.opening import open_lock_file
from mnemoir.workflows.locks import WorkflowLocks
from tests.contracts.words import SetClock

QUERIES = queries("locks/workflow_locks")


@pytest.fixture
def database(tmp_path):
    return tmp_path / "new" / "locks" / "WilmerDb.mira.sqlite"


@pytest.fixture
def clock():
    return SetClock()


@asynccontextmanager
async def opened(instance, clock, **options):
    locks = WorkflowLocks(partial(RowLeases, instance, open_lock_file, clock=clock), **options)
    try:
        yield locks
    finally:
        await locks.aclose()


@pytest.fixture
async def locks(clock):
    async with opened("this", clock) as locks:
        yield locks


def rows(database):
    """Session and name of every lock in the file."""
    return [(row[0], row[2]) for row in whole_rows(database)]


def whole_rows(database):
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_timeout(5000)
    try:
        return connection.execute(
            "SELECT WilmerSessionId, WorkflowId, WorkflowLockId, ExpirationDate FROM WorkflowLocks ORDER BY Id"
        ).fetchall()
    finally:
        connection.close()


def expiries(database):
    return [row[3] for row in whole_rows(database)]


async def test_a_lock_has_one_holder_until_it_is_released(locks, database):
    assert await locks.acquire(database, "memories", run="a")
    assert rows(database) == [("mnemoir-this", "memories")]
    assert not await locks.acquire(database, "memories", run="b")
    assert not await locks.acquire(database, "memories", run="a")
    await locks.release(run="b")
    assert not await locks.acquire(database, "memories", run="b")
    await locks.release(run="a")
    assert rows(database) == []
    assert await locks.acquire(database, "memories", run="b")


async def test_of_many_at_once_one_gets_it(locks, database):
    taken = await asyncio.gather(*(locks.acquire(database, "memories", run=f"{n}") for n in range(50)))
    assert taken.count(True) == 1


async def test_of_two_programs_one_gets_it(locks, clock, database):
    async with opened("other", clock) as other:
        await other.acquire(database, "warm up", run="x")
        await locks.acquire(database, "warm up too", run="y")
        assert await other.acquire(database, "memories", run="a")
        assert not await locks.acquire(database, "memories", run="b")
        await other.release(run="a")
        assert await locks.acquire(database, "memories", run="b")


async def test_a_release_ends_all_locks_of_the_run_and_no_others(locks, database, tmp_path):
    fallback = tmp_path / "fallback.sqlite"
    await locks.acquire(database, "one", run="a")
    await locks.acquire(fallback, "two", run="a")
    await locks.acquire(database, "three", run="b")
    await locks.release(run="a")
    assert (rows(database), rows(fallback)) == ([("mnemoir-this", "three")], [])


async def test_locks_of_the_same_name_of_two_users_are_independent(locks, tmp_path):
    assert await locks.acquire(tmp_path / "WilmerDb.mira.sqlite", "memories", run="a")
    assert await locks.acquire(tmp_path / "WilmerDb.jon.sqlite", "memories", run="b")


@pytest.fixture
def other_process(database):
    """Another process that got the lock of a name; called again, it is killed."""
    pids: list[int] = []

    def run(name):
        if pids:
            os.kill(pids[0], signal.SIGKILL)
            os.waitpid(pids.pop(), 0)
            return
        reading, writing = os.pipe()
        pids.append(os.fork())
        if not pids[0]:
            got = RowLeases("other", open_lock_file, database).acquire(name, ttl=600, wait=0)
            os.write(writing, b"1" if got else b"0")
            signal.pause()
        assert os.read(reading, 1) == b"1"
        for end in (reading, writing):
            os.close(end)

    yield run
    if pids:
        run("")


async def test_of_two_processes_one_gets_a_lock_and_keeps_it(locks, database, other_process):
    other_process("memories")
    assert await locks.acquire(database, "summary", run="a")
    assert not await locks.acquire(database, "memories", run="a")
    assert rows(database) == [("mnemoir-other", "memories"), ("mnemoir-this", "summary")]


async def test_the_lock_of_a_killed_process_is_free_at_once(locks, database, other_process):
    other_process("memories")
    other_process("")
    assert await locks.acquire(database, "memories", run="a")
    assert rows(database) == [("mnemoir-this", "memories")]
    assert len(held_files(database)) == 1


async def test_what_killed_processes_left_beside_the_file_goes_with_its_old_bytes(locks, database, other_process):
    other_process("memories")
    other_process("")
    assert await locks.acquire(database, "summary", run="a")
    assert len(held_files(database)) == 2
    await locks.wipe(database)
    assert len(held_files(database)) == 1
    await locks.release(run="a")
    assert held_files(database) == []


async def test_a_lock_of_another_program_is_not_taken_from_it(locks, database):
    await locks.acquire(database, "warm up", run="x")
    connection = apsw.Connection(str(database))
    connection.execute(
        "INSERT INTO WorkflowLocks (WilmerSessionId, WorkflowId, WorkflowLockId, ExpirationDate)"
        " VALUES ('theirs', 'x', 'memories', '9999-12-31 23:59:59.000000')"
    )
    connection.close()
    assert not await locks.acquire(database, "memories", run="a")


def held_files(database):
    return [file for file in os.listdir(database.parent) if "-held-" in file]


async def test_a_lock_of_another_program_ends_when_its_time_is_over(locks, clock, database):
    async with opened("other", clock) as other:
        await locks.acquire(database, "warm up", run="x")
        await other.acquire(database, "memories", run="a")
        clock.move(minutes=9.9)
        assert not await locks.acquire(database, "memories", run="b")
        clock.move(minutes=0.2)
        assert await locks.acquire(database, "memories", run="b")


async def test_a_lock_is_renewed_while_its_holder_works(locks, clock, database):
    async with opened("other", clock) as other:
        await other.acquire(database, "warm up", run="x")
        await locks.acquire(database, "memories", run="a")
        clock.move(minutes=9)
        await locks.renew()
        clock.move(minutes=9)
        assert not await other.acquire(database, "memories", run="b")


async def test_locks_are_renewed_by_themselves(clock, database):
    async with opened("this", clock, renewed_every_s=0.001) as locks:
        await locks.acquire(database, "memories", run="a")
        before = expiries(database)
        clock.move(minutes=5)
        async with asyncio.timeout(60):
            while await asyncio.to_thread(expiries, database) == before:
                pass


async def test_the_expiry_is_ten_minutes_ahead_in_local_time(locks, clock, database):
    await locks.acquire(database, "memories", run="a")
    (expires,) = expiries(database)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}", expires)
    clock.move(minutes=10)
    assert expires == clock().astimezone().strftime("%Y-%m-%d %H:%M:%S.%f")


async def test_the_table_is_the_one_that_other_programs_know(locks, database):
    await locks.acquire(database, "memories", run="a")
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    columns = [row[1:3] for row in connection.execute("PRAGMA table_info(WorkflowLocks)")]
    connection.close()
    assert columns == [
        ("Id", "INTEGER"),
        ("WilmerSessionId", "NVARCHAR(50)"),
        ("WorkflowId", "NVARCHAR(50)"),
        ("WorkflowLockId", "NVARCHAR(500)"),
        ("ExpirationDate", "DATETIME"),
    ]


async def test_a_table_with_odd_rows_of_another_program_is_used(locks, database):
    await locks.acquire(database, "warm up", run="x")
    connection = apsw.Connection(str(database))
    connection.execute("INSERT INTO WorkflowLocks (WilmerSessionId, WorkflowLockId) VALUES ('theirs', 'memories')")
    connection.close()
    assert await locks.acquire(database, "memories", run="a")


@pytest.mark.parametrize(
    "name", ["", "x'; DROP TABLE WorkflowLocks; --", "a\0b", "\ud800", "{agent1Output}", "n" * 501]
)
async def test_any_name_is_a_lock_of_its_own(locks, database, name):
    assert await locks.acquire(database, name, run="a")
    assert not await locks.acquire(database, name, run="b")
    assert await locks.acquire(database, f"{name}!", run="b")
    assert max(len(lock) for _, lock in rows(database)) <= 500


async def test_a_run_cancelled_while_it_takes_a_lock_does_not_keep_it(locks, database):
    await locks.acquire(database, "other", run="x")
    taking = asyncio.ensure_future(locks.acquire(database, "memories", run="a"))
    await asyncio.sleep(0)
    taking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await taking
    assert await locks.acquire(database, "memories", run="b")
    assert rows(database) == [("mnemoir-this", "other"), ("mnemoir-this", "memories")]


async def test_closing_releases_all_locks(clock, database):
    async with opened("this", clock) as locks:
        await locks.acquire(database, "memories", run="a")
        await locks.aclose()
        assert rows(database) == []
        with pytest.raises(StorageUnavailable, match="closed"):
            await locks.acquire(database, "memories", run="b")


async def test_a_folder_that_cannot_be_created_is_named(locks, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageUnavailable, match="WilmerDb"):
        await locks.acquire(tmp_path / "file" / "WilmerDb.mira.sqlite", "memories", run="a")


async def test_nothing_is_created_before_the_first_lock(locks, database):
    await locks.release(run="a")
    await locks.renew()
    assert not database.exists()


async def test_the_file_is_private(locks, database):
    await locks.acquire(database, "memories", run="a")
    assert database.stat().st_mode & 0o777 == 0o600
