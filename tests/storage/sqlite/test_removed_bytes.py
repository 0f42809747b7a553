"""What was removed is not left behind in the file."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from mnemoir.core.ids import JobId
from mnemoir.storage.sql import SqlJobQueue
from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sqlite import database, log_emptying, open_database
from mnemoir.storage.sqlite.opening import open_run_file
from tests.narrowing import present

SECRET = "the password is hunter2"


async def test_what_a_finished_job_held_is_nowhere_in_the_data_directory(tmp_path):
    opened = open_database(tmp_path / "mnemoir.db")
    jobs = SqlJobQueue(opened)
    for number in range(20):
        await jobs.put(JobId(f"evt_{number}"), "remember", {"turn": f"{SECRET} {number} " * 50})
    assert any(SECRET.encode() in file.read_bytes() for file in tmp_path.iterdir())
    while job := await jobs.claim("one", 60):
        await jobs.succeed(job, {})
    await opened.aclose()
    assert holders(tmp_path) == []


def test_a_log_that_a_reader_held_is_emptied_once_the_reader_ends(tmp_path):
    file = open_run_file(tmp_path / "runs.db")
    begun, deleted = threading.Event(), threading.Event()

    def read_on(sql: Sql) -> None:
        sql.rows("SELECT * FROM notes")  # from here on it holds what it sees
        begun.set()
        assert deleted.wait(60)

    with closing(file), ThreadPoolExecutor(1) as other:
        file.write(lambda sql: sql.run("CREATE TABLE notes (said TEXT)"))
        file.write(lambda sql: sql.run("INSERT INTO notes VALUES (:said)", said=SECRET))
        reading = other.submit(file.read, read_on)
        assert begun.wait(60)
        file.write(lambda sql: sql.run("DELETE FROM notes"))
        file.empty_log()
        assert holders(tmp_path) == ["runs.db-wal"]
        deleted.set()
        reading.result(60)
        assert holders(tmp_path) == []


@pytest.mark.parametrize("is_blocking", [False, True])
async def test_who_reads_for_long_stops_no_writer_and_the_log_is_emptied_behind_it(
    tmp_path, monkeypatch, is_blocking
):
    monkeypatch.setattr(database, "PATIENCE_S", 0.01)
    monkeypatch.setattr(log_emptying, "_AGAIN_S", 0.01)
    opened = open_database(tmp_path / "mnemoir.db")
    jobs = SqlJobQueue(opened)
    await jobs.put(JobId("first"), "remember", {"turn": SECRET})
    with closing(apsw.Connection(str(opened.path))) as reader:
        reader.execute("BEGIN; SELECT * FROM jobs").fetchall()  # from here on it holds what it sees
        await jobs.succeed(present(await jobs.claim("one", 60)), {})
        emptied = await (asyncio.to_thread(opened.empty_log_now) if is_blocking else opened.empty_log())
        assert not emptied
        for number in range(20):
            await jobs.put(JobId(f"other {number}"), "remember", {})
        assert holders(tmp_path) == ["mnemoir.db-wal"]
    await asyncio.wrap_future(opened._emptying.ask())
    assert holders(tmp_path) == []
    assert not opened._emptying.is_pending
    await opened.aclose()


async def test_a_database_that_is_closed_waits_for_no_reader(tmp_path):
    opened = open_database(tmp_path / "mnemoir.db")
    await SqlJobQueue(opened).put(JobId("first"), "remember", {})
    with closing(apsw.Connection(str(opened.path))) as reader:
        reader.execute("BEGIN; SELECT * FROM jobs").fetchall()
        await SqlJobQueue(opened).put(JobId("second"), "remember", {})
        emptying = asyncio.ensure_future(opened.empty_log())
        await asyncio.sleep(0)  # it asks
        await opened.aclose()
        assert not await emptying


def holders(folder: Path) -> list[str]:
    """The names of the files that hold the secret."""
    return [file.name for file in folder.iterdir() if SECRET.encode() in file.read_bytes()]
