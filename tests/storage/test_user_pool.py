"""What belongs to users is opened once, shared while it is held, and closed when it is idle and too much."""

import asyncio
import threading

import pytest

from mnemoir.core.errors import Conflict, StorageUnavailable
from mnemoir.storage.user_pool import UserPool


class Doors:
    """Counts what is open; opening the key "broken" fails, and closing it too. While `shut` neither ends."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.closed: list[str] = []
        self.may_open, self.may_close = threading.Event(), threading.Event()
        self.may_open.set()
        self.may_close.set()

    def open(self, key: str) -> str:
        assert self.may_open.wait(60)
        if key == "broken":
            raise StorageUnavailable("It cannot be opened.")
        self.opened.append(key)
        return f"value of {key}"

    def close(self, value: str) -> None:
        assert self.may_close.wait(60)
        self.closed.append(value.removeprefix("value of "))
        if value == "value of stuck":
            raise StorageUnavailable("It cannot be closed.")

    @property
    def stand_open(self) -> list[str]:
        left = list(self.opened)
        for key in self.closed:
            left.remove(key)
        return sorted(left)


@pytest.fixture
def doors() -> Doors:
    return Doors()


async def use(pool: UserPool[str, str], *keys: str) -> None:
    for key in keys:
        async with pool.holding(key) as value:
            assert value == f"value of {key}"


async def settled(doors: Doors, *stand_open: str) -> None:
    """What is too much is closed behind its users' backs."""
    async with asyncio.timeout(60):
        while doors.stand_open != sorted(stand_open):  # noqa: ASYNC110  # threads tell nobody
            await asyncio.sleep(0.001)


async def test_several_who_ask_at_once_share_one_value(doors):
    pool = UserPool(doors.open, doors.close)

    async def ask() -> str:
        async with pool.holding("mira") as value:
            await asyncio.sleep(0)
            return str(value)

    assert set(await asyncio.gather(*(ask() for _ in range(20)))) == {"value of mira"}
    assert (doors.opened, doors.closed) == (["mira"], [])


async def test_of_idle_values_those_used_last_stay_open(doors):
    pool = UserPool(doors.open, doors.close, most_idle=2)
    await use(pool, "a", "b", "a", "c")
    await settled(doors, "a", "c")
    assert doors.opened == ["a", "b", "c"]


async def test_a_value_that_is_held_is_never_closed_however_many_others_come(doors):
    pool = UserPool(doors.open, doors.close, most_idle=1)
    async with pool.holding("held"):
        await use(pool, *"abcdef")
        await settled(doors, "f", "held")
    await use(pool, "held")
    assert doors.opened.count("held") == 1


async def test_nobody_waits_for_the_value_of_another_to_be_closed(doors):
    pool = UserPool(doors.open, doors.close, most_idle=1)
    doors.may_close.clear()
    async with asyncio.timeout(60):
        await use(pool, *"abcd", "c")
    assert (doors.opened, doors.closed) == (list("abcd"), [])
    doors.may_close.set()
    await pool.aclose()
    assert doors.stand_open == []


async def test_who_comes_while_a_value_is_being_closed_gets_a_new_one(doors):
    pool = UserPool(doors.open, doors.close, most_idle=0)
    doors.may_close.clear()
    await use(pool, "mira")
    await asyncio.sleep(0)  # now it is being closed
    again = asyncio.create_task(use(pool, "mira"))
    doors.may_close.set()
    await again
    await settled(doors)
    assert (doors.opened, doors.closed) == (["mira"] * 2, ["mira"] * 2)


async def test_many_who_come_and_go_at_once_leave_as_many_closed_as_were_opened(doors):
    pool = UserPool(doors.open, doors.close, most_idle=1)

    async def ask(number: int) -> None:
        async with pool.holding(f"user {number % 5}") as value:
            assert value == f"value of user {number % 5}"
            await asyncio.sleep(0)

    for _ in range(5):
        await asyncio.gather(*(ask(number) for number in range(100)))
    await pool.aclose()
    assert sorted(doors.opened) == sorted(doors.closed)


async def test_what_could_not_be_opened_is_tried_again_by_the_next(doors):
    pool = UserPool(doors.open, doors.close)
    for _ in range(2):
        with pytest.raises(StorageUnavailable):
            await use(pool, "broken")
    await pool.aclose()
    assert (doors.opened, doors.closed) == ([], [])


async def test_what_cannot_be_closed_is_no_trouble_of_the_next_user(doors):
    pool = UserPool(doors.open, doors.close, most_idle=0)
    await use(pool, "stuck", "mira")
    await settled(doors)
    await use(pool, "stuck")


async def test_who_leaves_while_a_value_is_being_opened_leaves_it_to_the_next(doors):
    pool = UserPool(doors.open, doors.close)
    doors.may_open.clear()
    leaving = asyncio.create_task(use(pool, "mira"))
    await asyncio.sleep(0)
    leaving.cancel()
    doors.may_open.set()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    await use(pool, "mira")
    await pool.aclose()
    assert (doors.opened, doors.closed) == (["mira"], ["mira"])


async def test_alone_the_value_is_closed_and_who_comes_waits_for_the_end(doors):
    pool = UserPool(doors.open, doors.close)
    await use(pool, "mira")
    async with pool.alone("mira", patience_s=5):
        assert doors.stand_open == []
        waiting = asyncio.create_task(use(pool, "mira"))
        await use(pool, "otto")
        assert doors.stand_open == ["otto"]
    await waiting
    assert doors.opened == ["mira", "otto", "mira"]


async def test_to_be_alone_is_to_wait_for_holders_who_may_ask_once_more(doors):
    pool = UserPool(doors.open, doors.close)
    entered = asyncio.Event()

    async def be_alone() -> None:
        async with pool.alone("mira", patience_s=20):
            entered.set()

    async with pool.holding("mira"):
        alone = asyncio.create_task(be_alone())
        await asyncio.sleep(0)
        await use(pool, "mira")
        assert not entered.is_set()
    await alone
    assert (entered.is_set(), doors.stand_open) == (True, [])


async def test_the_patience_of_who_wants_to_be_alone_ends(doors):
    pool = UserPool(doors.open, doors.close)
    async with pool.holding("mira"):
        with pytest.raises(Conflict, match="Try again later"):
            async with pool.alone("mira", patience_s=0.01):
                raise AssertionError("somebody holds it")
    await use(pool, "mira")
    assert (doors.opened, doors.closed) == (["mira"], [])


async def test_after_the_end_what_is_asked_for_is_opened_anew(doors):
    pool = UserPool(doors.open, doors.close)
    async with pool.holding("mira"):
        await pool.aclose()
        assert doors.closed == ["mira"]
    await use(pool, "mira")
    assert doors.stand_open == ["mira"]
