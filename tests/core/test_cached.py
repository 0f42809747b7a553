"""What takes a while to find out is found out once for all who ask, and kept for some seconds."""

import asyncio

import pytest

from mnemoir.core.cached import Cached


class Findings:
    """Counts how often it was asked; waits until it may answer."""

    def __init__(self) -> None:
        self.asked = 0
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.fails = False

    async def __call__(self) -> int:
        self.asked += 1
        number = self.asked
        await self.may_answer.wait()
        if self.fails:
            raise RuntimeError("cannot be found out")
        return number


async def test_all_who_ask_meanwhile_share_one_answer_and_later_ones_too():
    find = Findings()
    kept = Cached(find, for_s=100)
    find.may_answer.clear()
    waiting = [asyncio.create_task(kept.get()) for _ in range(3)]
    await asyncio.sleep(0)
    find.may_answer.set()
    assert await asyncio.gather(*waiting) == [1, 1, 1]
    assert await kept.get() == 1
    assert await kept.get(fresh=True) == 2


async def test_what_is_forgotten_meanwhile_is_told_to_who_waits_and_not_kept():
    find = Findings()
    kept = Cached(find, for_s=100)
    find.may_answer.clear()
    waiting = asyncio.create_task(kept.get())
    await asyncio.sleep(0)
    kept.forget()
    later = asyncio.create_task(kept.get())
    await asyncio.sleep(0)
    find.may_answer.set()
    assert (await waiting, await later) == (1, 2)
    assert (await kept.get(), find.asked) == (2, 2)


async def test_who_has_no_patience_takes_the_older_value():
    find = Findings()
    kept = Cached(find, for_s=0)
    find.may_answer.clear()
    assert await kept.get(patience_s=0) is None
    find.may_answer.set()
    assert await kept.get() == 1
    find.may_answer.clear()
    assert await kept.get(patience_s=0) == 1
    await kept.aclose()


async def test_a_failure_goes_to_who_waits_and_the_next_one_tries_again():
    find = Findings()
    kept = Cached(find, for_s=100)
    find.fails = True
    with pytest.raises(RuntimeError):
        await kept.get()
    find.fails = False
    assert await kept.get() == 2


async def test_who_leaves_takes_nobody_with_it():
    find = Findings()
    kept = Cached(find, for_s=100)
    find.may_answer.clear()
    leaving, staying = asyncio.create_task(kept.get()), asyncio.create_task(kept.get())
    await asyncio.sleep(0)
    leaving.cancel()
    await asyncio.sleep(0)
    find.may_answer.set()
    assert await staying == 1
