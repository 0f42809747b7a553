"""Work behind the replies: in order, again after a failure that may pass, and still there after a crash."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from mnemoir.core.errors import (
    Conflict,
    InvalidRequest,
    ProviderInvalidOutput,
    ProviderRefused,
    ProviderUnavailable,
    QuotaExceeded,
    StorageUnavailable,
)
from mnemoir.core.ids import JobId
from mnemoir.memory.background import Background
from mnemoir.storage.sql import SqlJobQueue
from mnemoir.storage.sqlite import open_database


class Steps:
    """A handler that fails as it is told, and a clock that jumps when somebody waits."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.failures: list[Exception] = []
        self.finished = asyncio.Event()
        self.expected = 1

    async def handle(self, job):
        if self.failures:
            raise self.failures.pop(0)
        self.done.append(job.payload["name"])
        if len(self.done) == self.expected:
            self.finished.set()
        return {"name": job.payload["name"]}


@pytest.fixture
def steps():
    return Steps()


@pytest.fixture
async def database(tmp_path):
    database = open_database(tmp_path / "mnemoir.db")
    yield database
    await database.aclose()


@pytest.fixture
def queue(database):
    return SqlJobQueue(database)


@pytest.fixture
async def background(queue, steps):
    made = Background(queue, {"step": steps.handle}, first_wait_s=0.001)
    yield made
    await made.aclose()


async def wait_for(steps):
    async with asyncio.timeout(60):
        await steps.finished.wait()


async def ended(queue, job_id):
    """The job when it has ended; its worker writes that down right after the handler returned."""
    async with asyncio.timeout(60):
        while (job := await queue.get(job_id)).state in ("PENDING", "RUNNING"):  # noqa: ASYNC110 - no row tells when it changes
            await asyncio.sleep(0)
    return job


async def test_a_job_is_done_once_and_its_result_kept(background, queue, steps):
    await background.start()
    job_id = await background.put("step", {"name": "a"})
    job = await ended(queue, job_id)
    assert (job.state, job.result, job.attempts) == ("SUCCEEDED", {"name": "a"}, 1)


async def test_jobs_of_one_queue_are_done_in_order_though_the_first_fails_at_first(background, steps):
    steps.expected, steps.failures = 5, [ProviderUnavailable("down"), ProviderUnavailable("still down")]
    for name in "abcde":
        await background.put("step", {"name": name}, queue="alex")
    await background.start()
    await wait_for(steps)
    assert steps.done == list("abcde")


async def test_what_was_under_way_at_a_crash_is_done_after_the_restart(tmp_path, steps):
    before = open_database(tmp_path / "before" / "mnemoir.db")
    await SqlJobQueue(before).put(JobId("evt_1"), "step", {"name": "a"})
    await SqlJobQueue(before).claim("of the process that has gone", 3600)
    await before.aclose()
    database = open_database(tmp_path / "before" / "mnemoir.db")
    queue, job_id = SqlJobQueue(database), "evt_1"
    background = Background(queue, {"step": steps.handle})
    await background.start()
    job = await ended(queue, job_id)
    assert (job.state, job.attempts) == ("SUCCEEDED", 2)
    await background.aclose()
    await database.aclose()


@pytest.mark.parametrize(
    ("failure", "state"),
    [
        (InvalidRequest("no such thing"), "FAILED"),
        (ProviderRefused("nonsense"), "FAILED"),
        (ZeroDivisionError("a bug"), "FAILED"),
        (ProviderRefused("wrong key", code="llm_auth_failed"), "SUCCEEDED"),
        (ProviderUnavailable("down"), "SUCCEEDED"),
    ],
)
async def test_only_a_failure_that_may_pass_is_tried_again(background, queue, steps, failure, state):
    steps.failures = [failure]
    await background.start()
    job = await ended(queue, await background.put("step", {"name": "a"}))
    assert job.state == state


async def test_a_model_that_talks_nonsense_holds_up_the_next_job_for_three_tries_only(background, steps):
    steps.failures = [ProviderInvalidOutput("nonsense")] * 3
    await background.put("step", {"name": "a"}, queue="alex")
    await background.put("step", {"name": "b"}, queue="alex")
    await background.start()
    await wait_for(steps)
    assert steps.done == ["b"]


async def test_a_job_nobody_can_do_is_given_up_saying_so(background, queue):
    await background.start()
    job = await ended(queue, await background.put("dance", {}))
    assert (job.state, job.error) == ("FAILED", "No handler for jobs of kind 'dance'.")


async def test_two_hundred_turns_of_an_outage_are_all_worked_off_in_order_afterwards(background, steps):
    steps.expected = 200
    steps.failures = [ProviderUnavailable("down")] * 5
    for number in range(200):
        await background.put("step", {"name": str(number)}, queue="alex")
    await background.start()
    await wait_for(steps)
    assert steps.done == [str(number) for number in range(200)]


def used_up(resets_at: datetime | None) -> QuotaExceeded:
    return QuotaExceeded("used up", what="tokens_month", used=9, limit=9, resets_at=resets_at)


@pytest.mark.parametrize(
    ("days", "failure"),
    [(8, ProviderUnavailable("down")), (8, used_up(None)), (41, used_up(datetime.now(UTC) + timedelta(days=50)))],
)
async def test_a_job_is_given_up_after_a_week_or_when_a_budget_does_not_come_back(queue, steps, days, failure):
    later = datetime.now(UTC) + timedelta(days=days)
    background = Background(queue, {"step": steps.handle}, clock=lambda: later)
    steps.failures = [failure]
    job_id = await background.put("step", {"name": "a"})
    await background.start()
    assert (await ended(queue, job_id)).state == "FAILED"
    await background.aclose()


async def test_a_job_waits_longer_than_a_week_for_a_budget_of_a_month(background, database, queue, steps):
    now = datetime.now(UTC)
    steps.failures = [used_up(now + timedelta(days=1))] * 2
    await SqlJobQueue(database, lambda: now - timedelta(days=29)).put(
        JobId("evt_1"), "step", {"name": "a"}, queue="alex"
    )
    await background.start()
    job = await ended(queue, "evt_1")
    assert (job.state, job.attempts) == ("SUCCEEDED", 3)


class Slow:
    """A handler that holds on until it is let go."""

    def __init__(self) -> None:
        self.begun, self.may_end = asyncio.Event(), asyncio.Event()
        self.has_ended = False

    async def handle(self, job):
        self.begun.set()
        await self.may_end.wait()
        self.has_ended = True
        return {}


async def test_unwanted_jobs_that_wait_or_were_given_up_are_forgotten_and_the_others_are_not(
    background, queue, steps
):
    steps.failures = [ProviderRefused("nonsense")]
    await background.start()
    given_up = await background.put("step", {"name": "unwanted"}, queue="alex")
    await ended(queue, given_up)
    await background.aclose()
    waiting = await background.put("step", {"name": "unwanted"}, queue="alex")
    wanted = await background.put("step", {"name": "wanted"}, queue="alex")
    elsewhere = await background.put("step", {"name": "unwanted"}, queue="mira")
    await background.withdraw("alex", lambda job: job.payload["name"] == "unwanted", patience_s=5)
    assert [await queue.get(job_id) for job_id in (given_up, waiting)] == [None, None]
    assert None not in [await queue.get(job_id) for job_id in (wanted, elsewhere)]


async def test_withdrawing_waits_for_a_job_that_is_running(queue):
    slow = Slow()
    background = Background(queue, {"step": slow.handle})
    await background.start()
    await background.put("step", {"name": "a"}, queue="alex")
    await slow.begun.wait()
    withdrawing = asyncio.create_task(background.withdraw("alex", lambda job: True, patience_s=10))
    await asyncio.sleep(0)
    slow.may_end.set()
    await withdrawing
    assert slow.has_ended
    assert await queue.stored_jobs("alex") == []
    await background.aclose()


async def test_withdrawing_gives_up_on_a_job_that_runs_on(queue):
    slow = Slow()
    background = Background(queue, {"step": slow.handle})
    await background.start()
    await background.put("step", {"name": "a"}, queue="alex")
    await slow.begun.wait()
    with pytest.raises(Conflict, match="Try again later"):
        await background.withdraw("alex", lambda job: True, patience_s=0.05)
    await background.aclose()


async def test_withdrawing_waits_for_a_job_that_a_worker_has_only_just_taken(queue):
    background = Background(queue, {})
    await background.put("step", {"name": "a"}, queue="alex")
    job = await queue.claim("another", 3600)
    withdrawing = asyncio.create_task(background.withdraw("alex", lambda job: True, patience_s=10))
    assert await queue.stored_jobs("alex") != []
    assert not withdrawing.done()
    await queue.succeed(job, {})
    await withdrawing
    assert await queue.stored_jobs("alex") == []


class ForgetfulQueue(SqlJobQueue):
    """A queue whose disk is full at first when a job ends."""

    failing = 0

    async def succeed(self, job, result):
        return await self._unless_full(super().succeed, job, result)

    async def retry(self, job, **when):
        return await self._unless_full(super().retry, job, **when)

    async def _unless_full(self, change, *given, **named):
        if self.failing:
            self.failing -= 1
            raise StorageUnavailable("the disk is full")
        return await change(*given, **named)


async def a_job_whose_end_was_not_written(tmp_path, steps):
    """(database, queue, background) after a job ended while the disk was full."""
    database = open_database(tmp_path / "full" / "mnemoir.db")
    queue = ForgetfulQueue(database)
    queue.failing = 2
    background = Background(queue, {"step": steps.handle}, at_once=1)
    await background.start()
    await background.put("step", {"name": "a"}, queue="alex")
    await wait_for(steps)
    async with asyncio.timeout(60):
        while queue.failing or background._running:  # noqa: ASYNC110 - no event tells when the disk refused
            await asyncio.sleep(0)
    return database, queue, background


async def test_a_deletion_does_not_wait_for_a_job_whose_end_could_not_be_written_down(tmp_path, steps):
    database, queue, background = await a_job_whose_end_was_not_written(tmp_path, steps)
    assert [job.state for job in await queue.stored_jobs("alex")] == ["RUNNING"]
    await background.withdraw("alex", lambda job: True, patience_s=60)
    assert await queue.stored_jobs("alex") == []
    await background.aclose()
    await database.aclose()


@pytest.mark.slow
async def test_a_beat_puts_back_a_job_whose_end_could_not_be_written_down(tmp_path, steps):
    database, queue, background = await a_job_whose_end_was_not_written(tmp_path, steps)
    await background.beat()
    (job,) = await queue.stored_jobs("alex")
    assert job.state in ("PENDING", "RUNNING", "SUCCEEDED")
    assert (await ended(queue, job.id)).attempts == 2
    await background.aclose()
    await database.aclose()


async def test_what_is_under_way_when_it_is_closed_waits_for_the_next_worker(queue):
    slow = Slow()
    background = Background(queue, {"step": slow.handle})
    await background.start()
    job_id = await background.put("step", {"name": "a"})
    await slow.begun.wait()
    await background.beat()
    assert (await queue.get(job_id)).state == "RUNNING"
    await background.aclose()
    assert (await queue.get(job_id)).state == "PENDING"
