"""Work spread over several workers."""

import asyncio
from contextlib import aclosing

import pytest

from mnemoir.core.errors import ProviderUnavailable
from mnemoir.memory.spreading import spread, spread_in_order


def failing(done_before: int = 0):
    """A worker that does some items, then fails."""
    done = 0

    async def work(index: int, item: str) -> str:
        nonlocal done
        done += 1
        if done > done_before:
            raise ProviderUnavailable("down")
        return item.upper()

    return work


async def upper(index: int, item: str) -> str:
    return item.upper()


async def test_one_worker_does_all_in_order():
    assert await spread(["a", "b", "c"], [upper]) == ["A", "B", "C"]


async def test_nothing_to_do_is_done_at_once():
    assert await spread([], [upper]) == []


async def test_several_workers_work_at_a_time_and_the_order_is_kept():
    both_at_work = asyncio.Barrier(2)

    async def together(index: int, item: str) -> str:
        async with asyncio.timeout(60):
            await both_at_work.wait()
        return f"{index}{item}"

    assert await spread(list("abcd"), [together, together]) == ["0a", "1b", "2c", "3d"]


async def test_a_slow_worker_does_not_keep_the_others_from_the_rest():
    rest_done = asyncio.Event()
    quick_has = []

    async def slow(index: int, item: str) -> str:
        await rest_done.wait()
        return "slow"

    async def quick(index: int, item: str) -> str:
        quick_has.append(index)
        if len(quick_has) == 3:
            rest_done.set()
        return "quick"

    assert await spread(list("abcd"), [slow, quick]) == ["slow", "quick", "quick", "quick"]


@pytest.mark.parametrize("done_before", [0, 1, 2])
async def test_what_a_failing_worker_leaves_is_done_by_the_others(done_before):
    assert await spread(list("abc"), [failing(done_before), upper]) == ["A", "B", "C"]


async def test_an_item_that_comes_back_when_the_others_have_gone_is_done_too():
    last_begun = asyncio.Event()

    async def late(index: int, item: str) -> str:
        await last_begun.wait()
        raise ProviderUnavailable("down")

    async def last(index: int, item: str) -> str:
        asyncio.get_running_loop().call_soon(last_begun.set)
        return item.upper()

    assert await spread(["a", "b"], [late, last]) == ["A", "B"]


async def test_when_all_have_failed_the_error_is_told():
    with pytest.raises(ProviderUnavailable, match="down"):
        await spread(["a", "b"], [failing(), failing(1)])


async def test_a_fault_of_ours_is_no_reason_to_go_on():
    async def faulty(index: int, item: str) -> str:
        raise KeyError(item)

    with pytest.raises(KeyError):
        await spread(["a"], [faulty, upper])


async def test_cancelling_ends_all_workers():
    begun, ended = asyncio.Semaphore(0), []

    async def endless(index: int, item: str) -> str:
        begun.release()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(index)
        return ""

    running = asyncio.create_task(spread(list("abc"), [endless, endless]))
    for _ in range(2):
        await begun.acquire()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert sorted(ended) == [0, 1]


async def test_a_result_is_told_as_soon_as_all_in_front_of_it_are():
    others_may = asyncio.Event()

    async def waits_unless_first(index: int, item: str) -> str:
        if index:
            await others_may.wait()
        return item.upper()

    async with aclosing(spread_in_order(["a", "b"], [waits_unless_first] * 2)) as results:
        assert await anext(results) == (0, "A")
        others_may.set()
        assert [result async for result in results] == [(1, "B")]


async def test_workers_go_on_while_the_caller_is_busy_with_a_result():
    all_done = asyncio.Event()

    async def tells(index: int, item: str) -> str:
        if index == 2:
            all_done.set()
        return item.upper()

    async with aclosing(spread_in_order(list("abc"), [tells])) as results:
        assert await anext(results) == (0, "A")
        async with asyncio.timeout(60):
            await all_done.wait()


async def test_what_is_done_in_front_of_a_failure_is_told_first():
    async with aclosing(spread_in_order(list("abc"), [failing(2)])) as results:
        assert [await anext(results), await anext(results)] == [(0, "A"), (1, "B")]
        with pytest.raises(ProviderUnavailable, match="down"):
            await anext(results)


async def test_closing_early_ends_the_workers():
    ended = []

    async def endless_but_first(index: int, item: str) -> str:
        try:
            if index:
                await asyncio.Event().wait()
        finally:
            ended.append(index)
        return item

    async with aclosing(spread_in_order(list("abc"), [endless_but_first] * 2)) as results:
        await anext(results)
    assert sorted(ended) == [0, 1, 2]


async def test_items_without_a_worker_are_a_fault():
    with pytest.raises(ValueError, match="No worker"):
        await spread(["a"], [])
