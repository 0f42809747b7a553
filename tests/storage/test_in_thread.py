"""Work in a thread is waited for to its end, whoever goes meanwhile."""

import asyncio
from threading import Event

import pytest

from mnemoir.storage.user_pool import in_own_loop, in_thread


async def test_what_the_work_gives_is_given_and_what_it_raises_is_raised():
    assert await in_thread(int, "12", base=8) == 10
    with pytest.raises(ValueError, match="invalid literal"):
        await in_thread(int, "x")


@pytest.mark.parametrize("fails", [False, True])
async def test_who_is_cancelled_goes_when_the_work_is_done(fails):
    begun, may_end, done = asyncio.Event(), Event(), []
    loop = asyncio.get_running_loop()

    def work() -> None:
        loop.call_soon_threadsafe(begun.set)
        assert may_end.wait(60)
        done.append(True)
        if fails:
            raise RuntimeError("nobody is left to be told")

    caller = asyncio.create_task(in_thread(work))
    await begun.wait()
    caller.cancel()
    await asyncio.sleep(0)
    assert not caller.done()
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert done == [True]


async def test_a_cancelled_caller_of_a_coroutine_in_a_thread_leaves_after_it_was_cancelled_too():
    began, ended = asyncio.Event(), []
    loop = asyncio.get_running_loop()

    async def work():
        assert asyncio.get_running_loop() is not loop
        try:
            loop.call_soon_threadsafe(began.set)
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    caller = asyncio.create_task(in_own_loop(work()))
    await began.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert ended == [True]


async def test_a_caller_that_is_cancelled_as_the_coroutine_ends_gets_its_cancellation():
    loop, callers = asyncio.get_running_loop(), []

    async def work():
        return 7

    for _ in range(50):
        caller = asyncio.create_task(in_own_loop(work()))
        callers.append(caller)
        await asyncio.sleep(0)
        loop.call_later(0.001, caller.cancel)
    found = await asyncio.gather(*callers, return_exceptions=True)
    assert {7 if one == 7 else type(one) for one in found} <= {7, asyncio.CancelledError}
