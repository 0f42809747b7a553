"""Jobs: written down before they are relied on, worked off in order, not lost with the process."""

import asyncio
from datetime import timedelta

import pytest

from mnemoir.core.clock import to_text
from mnemoir.ports.jobs import Job
from tests.contracts.words import NOW


@pytest.fixture
async def jobs(jobs_factory):
    return await jobs_factory()


async def test_a_job_is_claimed_as_it_was_put(jobs):
    payload = {"turns": [{"text": "I like tea \0 \U0001f375"}], "n": None}
    await jobs.put("evt_1", "remember", payload)
    at = to_text(NOW)
    expected = Job(
        id="evt_1", kind="remember", payload=payload, state="RUNNING", attempts=1, created_at=at, updated_at=at
    )
    assert await jobs.claim(NOW) == expected
    assert await jobs.get("evt_1") == expected
    assert await jobs.claim(NOW) is None
    assert await jobs.get("evt_unknown") is None


async def test_jobs_are_claimed_in_the_order_they_were_put_even_if_the_clock_is_set_back(jobs, clock):
    for n in range(3):
        await jobs.put(f"evt_{n}", "remember", {})
        clock.move(hours=-1)
    assert [(await jobs.claim(NOW)).id for _ in range(3)] == ["evt_0", "evt_1", "evt_2"]


async def test_a_job_is_claimed_once_by_many_at_once(jobs):
    for n in range(4):
        await jobs.put(f"evt_{n}", "remember", {})
    claimed = await asyncio.gather(*(jobs.claim(NOW) for _ in range(9)))
    assert sorted(job.id for job in claimed if job) == ["evt_0", "evt_1", "evt_2", "evt_3"]


async def test_an_id_put_twice_is_one_job(jobs):
    await jobs.put("evt_1", "remember", {"n": 1})
    await jobs.put("evt_1", "forget", {"n": 2})
    assert (await jobs.claim(NOW)).payload == {"n": 1}
    assert await jobs.claim(NOW) is None


async def test_a_job_put_back_waits_for_its_time(jobs):
    await jobs.put("evt_1", "remember", {})
    await jobs.claim(NOW)
    assert await jobs.next_due() is None
    later = NOW + timedelta(minutes=5)
    await jobs.retry("evt_1", at=later, error="the model is down")
    assert await jobs.next_due() == later
    assert await jobs.claim(later - timedelta(seconds=1)) is None
    again = await jobs.claim(later)
    assert (again.attempts, again.error) == (2, "the model is down")


async def test_a_finished_job_keeps_its_result_and_not_its_payload_for_a_week(jobs, clock):
    await jobs.put("evt_1", "remember", {"secret": "tea"})
    await jobs.claim(NOW)
    await jobs.succeed("evt_1", {"added": 1})
    done = await jobs.get("evt_1")
    assert (done.state, done.result, done.payload, done.error) == ("SUCCEEDED", {"added": 1}, {}, None)
    clock.move(days=7, seconds=1)
    await jobs.put("evt_2", "remember", {})
    await jobs.succeed("evt_2", {})
    assert await jobs.get("evt_1") is None
    assert (await jobs.get("evt_2")).state == "SUCCEEDED"


async def test_a_job_given_up_keeps_payload_and_error(jobs):
    await jobs.put("evt_1", "remember", {"n": 1})
    await jobs.claim(NOW)
    await jobs.fail("evt_1", "no such handler")
    failed = await jobs.get("evt_1")
    assert (failed.state, failed.payload, failed.error) == ("FAILED", {"n": 1}, "no such handler")
    assert await jobs.claim(NOW + timedelta(days=1)) is None


async def test_what_was_running_when_the_process_ended_is_put_back(jobs_factory):
    jobs = await jobs_factory()
    for n in range(3):
        await jobs.put(f"evt_{n}", "remember", {"n": n})
    await jobs.claim(NOW)
    await jobs.succeed((await jobs.claim(NOW)).id, {})
    jobs = await jobs_factory()
    assert await jobs.resume() == 1
    assert await jobs.resume() == 0
    assert [((job := await jobs.claim(NOW)).id, job.payload, job.attempts) for _ in range(2)] == [
        ("evt_0", {"n": 0}, 2),
        ("evt_2", {"n": 2}, 1),
    ]


async def test_a_job_waits_until_the_earlier_ones_of_its_queue_have_ended(jobs):
    await jobs.put("evt_1", "remember", {}, queue="alex")
    await jobs.put("evt_2", "remember", {}, queue="alex")
    await jobs.put("evt_3", "remember", {}, queue="mira")
    assert [job and job.id for job in [await jobs.claim(NOW) for _ in range(3)]] == ["evt_1", "evt_3", None]
    assert await jobs.next_due() is None
    await jobs.retry("evt_1", at=NOW + timedelta(minutes=5), error="the model is down")
    assert await jobs.claim(NOW) is None
    assert await jobs.next_due() == NOW + timedelta(minutes=5)
    await jobs.fail("evt_1", "given up")
    assert (await jobs.claim(NOW)).id == "evt_2"


async def test_the_newest_waiting_jobs_of_a_queue_are_told_oldest_first(jobs):
    for number in range(4):
        await jobs.put(f"evt_{number}", "remember", {}, queue="alex")
    await jobs.put("evt_other", "remember", {}, queue="mira")
    await jobs.claim(NOW)
    await jobs.succeed("evt_0", {})
    assert [job.id for job in await jobs.waiting("alex", limit=2)] == ["evt_2", "evt_3"]
    assert [job.id for job in await jobs.waiting("nobody", limit=2)] == []


async def test_jobs_of_one_queue_run_one_after_the_other_and_hold_up_no_other(jobs):
    for n, queue in enumerate(("mira", "mira", "noah", "")):
        await jobs.put(f"evt_{n}", "remember", {}, queue=queue)
    assert [(await jobs.claim(NOW)).id for _ in range(3)] == ["evt_0", "evt_2", "evt_3"]
    assert (await jobs.claim(NOW), await jobs.next_due()) == (None, None)
    await jobs.retry("evt_0", at=NOW + timedelta(hours=1), error="the model is down")
    assert (await jobs.claim(NOW), await jobs.next_due()) == (None, NOW + timedelta(hours=1))
    assert (await jobs.claim(NOW + timedelta(hours=1))).id == "evt_0"
    await jobs.fail("evt_0", "given up")
    assert (await jobs.claim(NOW)).id == "evt_1"


async def test_a_queue_tells_its_newest_jobs_that_have_not_ended(jobs):
    for n in range(4):
        await jobs.put(f"evt_{n}", "remember", {"n": n}, queue="mira")
    await jobs.put("evt_noah", "remember", {}, queue="noah")
    await jobs.claim(NOW)
    await jobs.succeed("evt_0", {})
    assert [(job.id, job.payload) for job in await jobs.waiting("mira", limit=2)] == [
        ("evt_2", {"n": 2}),
        ("evt_3", {"n": 3}),
    ]
    assert len(await jobs.waiting("mira", limit=9)) == 3
    assert await jobs.waiting("nobody", limit=9) == []
