"""Many waits with one timer: each has its own limit, and time between two waits does not count."""

import asyncio

import pytest

from mnemoir.providers.llm.waiting import Waits


@pytest.fixture
async def waits():
    made = Waits()
    yield made
    made.close()


def soon() -> float:
    return asyncio.get_running_loop().time() + 0.01


def far() -> float:
    return asyncio.get_running_loop().time() + 3600


async def until_past(due: float) -> None:
    """Let the loop's clock pass `due`, and every timer set for it fire."""
    done = asyncio.Event()
    asyncio.get_running_loop().call_at(due + 0.01, done.set)
    await done.wait()


async def test_a_wait_that_reaches_its_time_ends_with_a_timeout(waits):
    with pytest.raises(TimeoutError), waits.until(soon()):
        await asyncio.Event().wait()


async def test_a_wait_may_end_sooner_than_the_one_before_it(waits):
    with waits.until(far()):
        await asyncio.sleep(0)
    with pytest.raises(TimeoutError), waits.until(soon()):
        await asyncio.Event().wait()


async def test_a_wait_may_end_later_than_the_one_before_it(waits):
    due = soon()
    with waits.until(due):
        await asyncio.sleep(0)
    with waits.until(far()):
        await until_past(due)


async def test_time_between_two_waits_does_not_count(waits):
    due = soon()
    with waits.until(due):
        await asyncio.sleep(0)
    await until_past(due)
    with waits.until(far()):
        await asyncio.sleep(0)


async def test_after_a_timeout_the_task_goes_on_and_may_wait_again(waits):
    for _ in range(3):
        with pytest.raises(TimeoutError), waits.until(soon()):
            await asyncio.Event().wait()
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_a_task_that_is_cancelled_while_it_waits_stays_cancelled(waits):
    begun = asyncio.Event()

    async def wait() -> None:
        with waits.until(far()):
            begun.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(wait())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_error_inside_a_wait_is_passed_on(waits):
    with pytest.raises(ValueError, match="broken"), waits.until(far()):
        raise ValueError("broken")
