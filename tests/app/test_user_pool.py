"""What belongs to users is opened once, shared while it is held, and closed when it is idle and too much."""

import asyncio

import pytest

from mnemoir.app.user_pool import UserPool
from mnemoir.core.errors import StorageUnavailable


class Doors:
    """Counts what is open; opening the key "broken" fails."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.closed: list[str] = []

    def open(self, key: str) -> str:
        if key == "broken":
            raise StorageUnavailable("It cannot be opened.")
        self.opened.append(key)
        return f"value of {key}"

    def close(self, value: str) -> None:
        self.closed.append(value.removeprefix("value of "))


@pytest.fixture
def doors() -> Doors:
    return Doors()


async def test_several_who_ask_at_once_share_one_value(doors):
    pool = UserPool(doors.open, doors.close)

    async def ask() -> str:
        async with pool.holding("mira") as value:
            await asyncio.sleep(0)
            return value

    assert set(await asyncio.gather(*(ask() for _ in range(20)))) == {"value of mira"}
    assert (doors.opened, doors.closed) == (["mira"], [])


async def test_of_idle_values_those_used_last_stay_open(doors):
    pool = UserPool(doors.open, doors.close, most_idle=2)
    for key in ("a", "b", "a", "c"):
        async with pool.holding(key):
            pass
    assert (doors.opened, doors.closed) == (["a", "b", "c"], ["b"])


async def test_a_value_that_is_held_is_never_closed_however_many_others_come(doors):
    pool = UserPool(doors.open, doors.close, most_idle=1)
    async with pool.holding("held"):
        for key in "abcdef":
            async with pool.holding(key):
                pass
        assert "held" not in doors.closed
    async with pool.holding("held"):
        assert doors.opened.count("held") == 1


async def test_who_comes_while_a_value_is_being_closed_gets_a_new_one(doors):
    pool = UserPool(doors.open, doors.close, most_idle=0)
    for _ in range(3):
        async with pool.holding("mira") as value:
            assert value == "value of mira"
    assert (doors.opened, doors.closed) == (["mira"] * 3, ["mira"] * 3)


async def test_many_who_come_and_go_at_once_leave_as_many_closed_as_were_opened(doors):
    pool = UserPool(doors.open, doors.close, most_idle=1)

    async def ask(number: int) -> None:
        async with pool.holding(f"user {number % 5}") as value:
            assert value == f"value of user {number % 5}"
            await asyncio.sleep(0)

    await asyncio.gather(*(ask(number) for number in range(100)))
    await pool.aclose()
    assert sorted(doors.opened) == sorted(doors.closed)


async def test_what_could_not_be_opened_is_tried_again_by_the_next(doors):
    pool = UserPool(doors.open, doors.close)
    for _ in range(2):
        with pytest.raises(StorageUnavailable):
            async with pool.holding("broken"):
                raise AssertionError("it was opened")
    await pool.aclose()
    assert (doors.opened, doors.closed) == ([], [])


async def test_dropping_closes_what_nobody_holds_and_nothing_else(doors):
    pool = UserPool(doors.open, doors.close)
    async with pool.holding("mira"):
        await pool.drop("mira")
        assert doors.closed == []
    await pool.drop("mira")
    await pool.drop("nobody")
    assert doors.closed == ["mira"]
