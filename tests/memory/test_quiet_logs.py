"""What goes on behind the replies keeps what people said out of the log, whatever goes wrong with it."""

import io

import pytest

from mnemoir.app import logs
from mnemoir.memory.background import Background
from mnemoir.settings import Log
from mnemoir.storage.sql import SqlJobQueue
from mnemoir.storage.sqlite import open_database

WORDS = "quince marmalade"


@pytest.mark.parametrize("form", ["console", "json"])
@pytest.mark.parametrize(("level", "is_told"), [("info", False), ("debug", True)])
async def test_a_job_that_breaks_is_logged_with_its_place_and_without_its_words(tmp_path, form, level, is_told):
    written = io.StringIO()
    logs.set_up(Log(level=level, format=form), written)

    async def breaks(job):
        said = job.payload["said"]  # a local variable, which a traceback must not show either
        raise ValueError(f"cannot read {said}")

    database = open_database(tmp_path / "mnemoir.db")
    background = Background(SqlJobQueue(database), {"any": breaks})
    job_id = await background.put("any", {"said": WORDS})
    await background.start()
    try:
        await ended(SqlJobQueue(database), job_id)
    finally:
        await background.aclose()
        await database.aclose()
        logs.set_up(Log())
    assert "job broke" in written.getvalue()
    assert "test_quiet_logs.py" in written.getvalue()
    assert (WORDS in written.getvalue()) is is_told


async def ended(jobs, job_id):
    for _ in range(10_000):
        if (await jobs.get(job_id)).state == "FAILED":
            return
    raise AssertionError("the job never ended")
