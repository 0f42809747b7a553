"""What was removed is not left behind in the file."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from mnemoir.core.ids import JobId
from mnemoir.storage.sql import SqlJobQueue
from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sqlite import open_database
from mnemoir.storage.sqlite.opening import open_run_file

SECRET = "the password is hunter2"


async def test_what_a_finished_job_held_is_nowhere_in_the_data_directory(tmp_path):
    database = open_database(tmp_path / "mnemoir.db")
    jobs = SqlJobQueue(database)
    for number in range(20):
        await jobs.put(JobId(f"evt_{number}"), "remember", {"turn": f"{SECRET} {number} " * 50})
    assert any(SECRET.encode() in file.read_bytes() for file in tmp_path.iterdir())
    while job := await jobs.claim("one", 60):
        await jobs.succeed(job, {})
    await database.aclose()
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


def holders(folder: Path) -> list[str]:
    """The names of the files that hold the secret."""
    return [file.name for file in folder.iterdir() if SECRET.encode() in file.read_bytes()]
