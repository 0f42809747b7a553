"""What was removed is not left behind in the file."""

from mnemoir.core.ids import JobId
from mnemoir.storage.sql import SqlJobQueue
from mnemoir.storage.sqlite import open_database

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
    assert [file.name for file in tmp_path.iterdir() if SECRET.encode() in file.read_bytes()] == []
