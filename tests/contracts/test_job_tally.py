"""How many jobs of each kind have not succeeded."""

from datetime import timedelta

from mnemoir.ports.jobs import JobTally
from tests.contracts.words import NOW


async def test_jobs_are_counted_by_kind_until_they_succeed(jobs_factory):
    jobs = await jobs_factory()
    assert await jobs.tally() == []
    for n in range(4):
        await jobs.put(f"evt_{n}", "remember", {})
    await jobs.put("evt_add", "add", {})
    first, second, third = [await jobs.claim("one", 60) for _ in range(3)]
    await jobs.succeed(first, {})
    await jobs.fail(second, "no")
    assert await jobs.tally() == [
        JobTally(kind="add", waiting=1, running=0, failed=0),
        JobTally(kind="remember", waiting=1, running=1, failed=1),
    ]
    await jobs.retry(third, at=NOW + timedelta(hours=1), error="down")
    assert (await jobs.tally())[1] == JobTally(kind="remember", waiting=2, running=0, failed=1)
