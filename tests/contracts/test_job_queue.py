"""Jobs: written down before they are relied on, worked off in order, not lost with the process."""

import asyncio
from datetime import timedelta

import pytest

from mnemoir.core.clock import to_text
from mnemoir.core.ids import JobId
from mnemoir.ports.jobs import Job
from tests.contracts.words import NOW

LEASE_S = 60.0


def claim(jobs, worker="one"):
    return jobs.claim(worker, LEASE_S)


async def next_due(jobs):
    """When the next job is due, while none is."""
    claimed, due = await jobs.claim_several("one", LEASE_S, 1)
    assert claimed == []
    return due


@pytest.fixture
async def jobs(jobs_factory):
    return await jobs_factory()


async def test_a_job_is_claimed_as_it_was_put(jobs):
    payload = {"turns": [{"text": "I like tea \0 \U0001f375"}], "n": None}
    await jobs.put("evt_1", "remember", payload)
    at = to_text(NOW)
    expected = Job(
        id=JobId("evt_1"), kind="remember", payload=payload, state="RUNNING", attempts=1, created_at=at, updated_at=at
    )
    assert await claim(jobs) == expected
    assert await jobs.get("evt_1") == expected
    assert await claim(jobs) is None
    assert await jobs.get("evt_unknown") is None


async def test_jobs_are_claimed_in_the_order_they_were_put_even_if_the_clock_is_set_back(jobs, clock):
    for n in range(3):
        await jobs.put(f"evt_{n}", "remember", {})
        clock.move(hours=-1)
    assert [(await claim(jobs)).id for _ in range(3)] == ["evt_0", "evt_1", "evt_2"]


async def test_a_job_is_claimed_once_by_many_at_once(jobs):
    for n in range(4):
        await jobs.put(f"evt_{n}", "remember", {})
    claimed = await asyncio.gather(*(claim(jobs) for _ in range(9)))
    assert sorted(job.id for job in claimed if job) == ["evt_0", "evt_1", "evt_2", "evt_3"]


async def test_an_id_put_twice_is_one_job(jobs):
    await jobs.put("evt_1", "remember", {"n": 1})
    await jobs.put("evt_1", "forget", {"n": 2})
    assert (await claim(jobs)).payload == {"n": 1}
    assert await claim(jobs) is None


async def test_a_job_put_back_waits_for_its_time(jobs, clock):
    await jobs.put("evt_1", "remember", {})
    job = await claim(jobs)
    assert await next_due(jobs) is None
    later = NOW + timedelta(minutes=5)
    assert await jobs.retry(job, at=later, error="the model is down")
    assert await next_due(jobs) == later
    clock.move(minutes=5, seconds=-1)
    assert await claim(jobs) is None
    clock.move(seconds=1)
    again = await claim(jobs)
    assert (again.attempts, again.error) == (2, "the model is down")


async def test_a_finished_job_keeps_its_result_and_not_its_payload_for_a_week(jobs, clock):
    await jobs.put("evt_1", "remember", {"secret": "tea"})
    assert await jobs.succeed(await claim(jobs), {"added": 1})
    done = await jobs.get("evt_1")
    assert (done.state, done.result, done.payload, done.error) == ("SUCCEEDED", {"added": 1}, {}, None)
    clock.move(days=7, seconds=1)
    await jobs.put("evt_2", "remember", {})
    await jobs.succeed(await claim(jobs), {})
    assert (await jobs.get("evt_1")).result == {"added": 1}
    await jobs.drop_ended()
    assert await jobs.get("evt_1") is None
    assert (await jobs.get("evt_2")).state == "SUCCEEDED"


async def test_a_job_given_up_keeps_payload_and_error(jobs, clock):
    await jobs.put("evt_1", "remember", {"n": 1})
    await jobs.fail(await claim(jobs), "no such handler")
    failed = await jobs.get("evt_1")
    assert (failed.state, failed.payload, failed.error) == ("FAILED", {"n": 1}, "no such handler")
    clock.move(days=1)
    assert await claim(jobs) is None


async def test_what_was_running_when_the_process_ended_is_put_back(jobs_factory, clock, request):
    jobs = await jobs_factory()
    for n in range(3):
        await jobs.put(f"evt_{n}", "remember", {"n": n})
    await claim(jobs)
    await jobs.succeed(await claim(jobs), {})
    jobs = await jobs_factory()
    if "postgres" in request.node.callspec.id:  # others may have the database: none is known to have ended
        assert await jobs.reclaim() == 0
        clock.move(hours=1)  # it lapses like that of any process which does not beat
    assert await jobs.reclaim() == 1
    assert await jobs.reclaim() == 0
    assert [((job := await claim(jobs)).id, job.payload, job.attempts) for _ in range(2)] == [
        ("evt_0", {"n": 0}, 2),
        ("evt_2", {"n": 2}, 1),
    ]


async def test_a_job_waits_until_the_earlier_ones_of_its_queue_have_ended(jobs, clock):
    await jobs.put("evt_1", "remember", {}, queue="alex")
    await jobs.put("evt_2", "remember", {}, queue="alex")
    await jobs.put("evt_3", "remember", {}, queue="mira")
    first, other, none = [await claim(jobs) for _ in range(3)]
    assert (first.id, other.id, none) == ("evt_1", "evt_3", None)
    assert await next_due(jobs) is None
    await jobs.retry(first, at=NOW + timedelta(minutes=5), error="the model is down")
    assert await claim(jobs) is None
    assert await next_due(jobs) == NOW + timedelta(minutes=5)
    clock.move(minutes=5)
    await jobs.fail(await claim(jobs), "given up")
    assert (await claim(jobs)).id == "evt_2"


async def test_the_newest_waiting_jobs_of_a_queue_are_told_oldest_first(jobs):
    for number in range(4):
        await jobs.put(f"evt_{number}", "remember", {}, queue="alex")
    await jobs.put("evt_other", "remember", {}, queue="mira")
    await jobs.succeed(await claim(jobs), {})
    assert [job.id for job in await jobs.waiting("alex", limit=2)] == ["evt_2", "evt_3"]
    assert [job.id for job in await jobs.waiting("nobody", limit=2)] == []


async def test_jobs_of_one_queue_run_one_after_the_other_and_hold_up_no_other(jobs, clock):
    for n, queue in enumerate(("mira", "mira", "noah", "")):
        await jobs.put(f"evt_{n}", "remember", {}, queue=queue)
    first, *others = [await claim(jobs) for _ in range(3)]
    assert [job.id for job in (first, *others)] == ["evt_0", "evt_2", "evt_3"]
    assert (await claim(jobs), await next_due(jobs)) == (None, None)
    await jobs.retry(first, at=NOW + timedelta(hours=1), error="the model is down")
    assert (await claim(jobs), await next_due(jobs)) == (None, NOW + timedelta(hours=1))
    clock.move(hours=1)
    again = await claim(jobs)
    assert again.id == "evt_0"
    await jobs.fail(again, "given up")
    assert (await claim(jobs)).id == "evt_1"


async def test_a_queue_tells_its_newest_jobs_that_have_not_ended(jobs):
    for n in range(4):
        await jobs.put(f"evt_{n}", "remember", {"n": n}, queue="mira")
    await jobs.put("evt_noah", "remember", {}, queue="noah")
    await jobs.succeed(await claim(jobs), {})
    assert [(job.id, job.payload) for job in await jobs.waiting("mira", limit=2)] == [
        ("evt_2", {"n": 2}),
        ("evt_3", {"n": 3}),
    ]
    assert len(await jobs.waiting("mira", limit=9)) == 3
    assert await jobs.waiting("nobody", limit=9) == []


async def test_a_job_whose_worker_stopped_to_beat_goes_to_the_next(jobs, clock):
    await jobs.put("evt_1", "remember", {})
    await claim(jobs, "one")
    clock.move(seconds=LEASE_S / 2)
    assert await jobs.beat("one", ["evt_1"], LEASE_S) == ["evt_1"]
    clock.move(seconds=LEASE_S / 2)
    assert await jobs.reclaim() == 0
    clock.move(seconds=LEASE_S / 2)
    assert await jobs.reclaim() == 1
    assert (await claim(jobs, "two")).attempts == 2


async def test_a_worker_that_slept_past_its_lease_changes_nothing(jobs, clock):
    await jobs.put("evt_1", "remember", {"n": 1})
    late = await claim(jobs, "one")
    clock.move(seconds=LEASE_S)
    await jobs.reclaim()
    held = await claim(jobs, "two")
    assert await jobs.beat("one", ["evt_1"], LEASE_S) == []
    ends = (jobs.succeed(late, {"by": "one"}), jobs.fail(late, "no"), jobs.retry(late, at=NOW, error="no"))
    assert [await end for end in ends] == [False, False, False]
    assert await jobs.get("evt_1") == held
    assert await jobs.succeed(held, {"by": "two"})
    assert (await jobs.get("evt_1")).result == {"by": "two"}


async def test_a_lapsed_head_is_claimed_again_before_the_jobs_behind_it(jobs, clock):
    for n in range(2):
        await jobs.put(f"evt_{n}", "remember", {}, queue="mira")
    await claim(jobs)
    clock.move(seconds=LEASE_S)
    await jobs.reclaim()
    assert [job and job.id for job in (await claim(jobs), await claim(jobs))] == ["evt_0", None]


async def test_a_queue_moves_on_when_its_first_job_is_removed(jobs):
    for n in range(3):
        await jobs.put(f"evt_{n}", "remember", {}, queue="mira")
    await jobs.remove(["evt_0", "evt_2"])
    assert (await claim(jobs)).id == "evt_1"


async def test_jobs_that_failed_are_listed_newest_first(jobs, clock):
    for n in range(3):
        await jobs.put(f"evt_{n}", "remember", {"n": n})
        clock.move(minutes=1)
        await jobs.fail(await claim(jobs), f"no {n}")
    assert [(job.id, job.state, job.error) for job in await jobs.failed_jobs(limit=2)] == [
        ("evt_2", "FAILED", "no 2"),
        ("evt_1", "FAILED", "no 1"),
    ]
    clock.move(days=8)
    await jobs.drop_ended()
    assert await jobs.failed_jobs(limit=9) == []


async def test_a_job_that_failed_is_revived_before_later_ones_of_its_queue(jobs):
    for n in range(3):
        await jobs.put(f"evt_{n}", "remember", {"n": n}, queue="alex")
    await jobs.fail(await claim(jobs), "no")
    running = await claim(jobs)
    assert running.id == "evt_1"
    assert await jobs.revive("evt_0")
    assert await claim(jobs) is None  # one at a time
    await jobs.succeed(running, {})
    again = await claim(jobs)
    assert (again.id, again.payload, again.attempts) == ("evt_0", {"n": 0}, 2)
    await jobs.succeed(again, {})
    assert (await claim(jobs)).id == "evt_2"


async def test_a_job_of_no_queue_is_revived_at_once_and_only_one_that_failed(jobs):
    await jobs.put("evt_1", "remember", {})
    assert not await jobs.revive("evt_1")
    await jobs.fail(await claim(jobs), "no")
    assert await jobs.revive("evt_1")
    assert not await jobs.revive("evt_1")
    assert not await jobs.revive("evt_nobody")
    assert (await claim(jobs)).id == "evt_1"
