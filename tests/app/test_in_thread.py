"""Work in a thread is waited for to its end, whoever goes meanwhile."""

import asyncio
from threading import Event

import pytest

from mnemoir.app.user_pool import in_thread


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
