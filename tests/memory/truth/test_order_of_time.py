"""What was said earlier goes into the past, whenever it arrives."""

from dataclasses import replace
from datetime import timedelta

import pytest

from mnemoir.core.clock import to_text
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Memory
from mnemoir.memory.facts.decide.timeline import behind_newer
from mnemoir.memory.facts.holding import FactExchange
from tests.memory.truth.conftest import BEGIN, DAY, MIRA, day, model_that

GRAZ, WELS, LINZ = "I live in Graz.", "I live in Wels.", "I live in Linz."
TOLD = {text: [text.replace("I live", "Lives").rstrip(".")] for text in (GRAZ, WELS, LINZ)}
EVENTS = ["ADD", "UPDATE", "DELETE"]
MODELS = [None, *EVENTS]


def played(event: str | None):
    return None if event is None else model_that(event, TOLD)


@pytest.mark.parametrize("event", MODELS)
async def test_an_older_message_that_arrives_later_is_added_to_the_past(live, event):
    life = live(played(event))
    await life.tell(GRAZ, day("2025-05-01"))
    [added] = (await life.tell(WELS, day("2024-01-01"))).applied
    assert (added.event, added.memory.text, added.memory.valid_to) == (
        "ADD",
        "Lives in Wels",
        "2025-05-01T12:00:00.000Z",
    )
    assert await life.now() == ["Lives in Graz"]
    assert await life.at(day("2023-12-31")) == []
    assert await life.at(day("2024-02-01")) == ["Lives in Wels"]
    assert await life.at(day("2025-05-02")) == ["Lives in Graz"]


@pytest.mark.parametrize("event", [None, "UPDATE"])
async def test_each_of_three_states_holds_from_when_it_was_said_to_the_next_in_any_order_of_arrival(live, event):
    life = live(played(event))
    for text, at in ((GRAZ, "2023-05-01"), (LINZ, "2025-05-01"), (WELS, "2024-05-01")):
        await life.tell(text, day(at))
    assert await life.now() == ["Lives in Linz"]
    assert [await life.at(day(at)) for at in ("2023-06-01", "2024-06-01", "2025-06-01")] == [
        ["Lives in Graz"],
        ["Lives in Wels"],
        ["Lives in Linz"],
    ]


async def test_the_oldest_of_three_arrives_last(live):
    life = live()
    for text, at in ((WELS, "2024-05-01"), (LINZ, "2025-05-01"), (GRAZ, "2023-05-01")):
        await life.tell(text, day(at))
    assert [await life.at(day(at)) for at in ("2023-06-01", "2024-06-01", "2025-06-01")] == [
        ["Lives in Graz"],
        ["Lives in Wels"],
        ["Lives in Linz"],
    ]


async def test_an_older_message_that_arrives_again_and_again_is_kept_once(live):
    life = live()
    await life.tell(GRAZ, day("2025-05-01"))
    told = [len((await life.tell(WELS, day("2024-01-01"))).applied) for _ in range(3)]
    assert told == [1, 0, 0]
    assert await life.at(day("2024-02-01")) == ["Lives in Wels"]


@pytest.mark.parametrize("event", MODELS)
async def test_messages_of_one_batch_count_in_order_of_their_times(live, event):
    life = live(played(event))
    await life.tell_all([(GRAZ, day("2025-05-01")), (WELS, day("2024-01-01"))])
    assert await life.now() == ["Lives in Graz"]
    assert await life.at(day("2024-02-01")) == ["Lives in Wels"]


async def test_a_batch_closes_a_stored_state_when_its_first_message_was_said(live):
    life = live()
    await life.tell(LINZ, day("2023-01-01"))
    await life.tell_all([(GRAZ, day("2025-05-01")), (WELS, day("2024-01-01"))])
    assert await life.now() == ["Lives in Graz"]
    assert [await life.at(day(at)) for at in ("2023-06-01", "2024-06-01", "2025-06-01")] == [
        ["Lives in Linz"],
        ["Lives in Wels"],
        ["Lives in Graz"],
    ]


@pytest.mark.parametrize("event", MODELS)
@pytest.mark.parametrize("arrival", ["LWG", "GWL", "WGL", "LGW"])
async def test_three_messages_of_one_batch_in_any_order_are_three_states(live, event, arrival):
    at = {"G": (GRAZ, day("2023-05-01")), "W": (WELS, day("2024-05-01")), "L": (LINZ, day("2025-05-01"))}
    life = live(played(event))
    await life.tell_all([at[each] for each in arrival])
    assert await life.now() == ["Lives in Linz"]
    assert [await life.at(day(each)) for each in ("2023-06-01", "2024-06-01", "2025-06-01")] == [
        ["Lives in Graz"],
        ["Lives in Wels"],
        ["Lives in Linz"],
    ]


async def test_two_older_messages_of_one_batch_are_two_states_of_the_past(live):
    life = live()
    await life.tell(LINZ, day("2025-05-01"))
    await life.tell_all([(WELS, day("2024-05-01")), (GRAZ, day("2023-05-01"))])
    assert [await life.at(day(each)) for each in ("2023-06-01", "2024-06-01", "2025-06-01")] == [
        ["Lives in Graz"],
        ["Lives in Wels"],
        ["Lives in Linz"],
    ]


async def test_a_new_state_holds_from_when_it_was_said(live):
    life = live()
    await life.tell(GRAZ, day("2025-05-01"))
    await life.tell(LINZ, day("2025-07-01"))
    assert await life.at(day("2025-06-30")) == ["Lives in Graz"]
    assert await life.at(day("2025-07-02")) == ["Lives in Linz"]


async def test_a_message_without_a_time_is_the_newest(live):
    life = live()
    await life.tell(GRAZ, BEGIN + timedelta(hours=20))
    await life.tell(LINZ)
    await life.tell(WELS)
    assert await life.now() == ["Lives in Wels"]


async def test_a_time_more_than_a_day_ahead_counts_as_the_time_of_arrival(live):
    life = live()
    await life.tell(GRAZ, BEGIN + 2 * DAY)
    [memory] = await life.facts.page(MIRA, limit=9)
    assert memory.created_at == to_text(BEGIN)
    await life.tell(LINZ, BEGIN + DAY)
    assert await life.now() == ["Lives in Linz"]


async def test_decay_counts_from_when_it_was_said(live):
    life = live(decay_days=30)
    await life.tell("I row every morning.", BEGIN - 29.5 * DAY)
    assert await life.now() == []
    await life.tell("I row every morning.", BEGIN - 20 * DAY)
    assert await life.now() == ["Rows every morning"]


async def test_a_fuller_wording_that_was_said_earlier_does_not_end_the_shorter_one(live):
    life = live()
    await life.tell("I have a dog.", day("2025-05-01"))
    await life.tell("I have a dog called Rex.", day("2024-05-01"))
    assert await life.now() == ["Has a dog called Rex"]


def record(text: str, at: str, *, again: str = "") -> Memory:
    created, renewed = to_text(day(at)), to_text(day(again or at))
    return Memory(id=MemoryId(""), text=text, user="mira", created_at=created, updated_at=renewed)


async def test_an_imported_fact_goes_behind_a_newer_one_that_is_stored_or_imported(live):
    life = live()
    await life.tell(LINZ, day("2025-05-01"))
    exchange = FactExchange(life.store, life.indexing, life.facts.plans, life.facts.personal)
    old = [
        record("Lives in Wels", "2024-05-01"),
        record("Lives in Graz", "2023-05-01"),
        record("Likes tea", "2020-01-01"),
    ]
    assert await exchange.add(MIRA, old) == 3
    assert await life.now() == ["Likes tea", "Lives in Linz"]
    assert await life.at(day("2023-06-01")) == ["Likes tea", "Lives in Graz"]
    assert await life.at(day("2024-06-01")) == ["Likes tea", "Lives in Wels"]


async def test_an_imported_fact_ends_when_an_older_one_was_confirmed_after_it(live):
    life = live()
    exchange = FactExchange(life.store, life.indexing, life.facts.plans, life.facts.personal)
    await exchange.add(MIRA, [record("Lives in Graz", "2020-05-01", again="2024-05-01")])
    await exchange.add(MIRA, [record("Lives in Linz", "2022-05-01")])
    assert await life.at(day("2022-06-01")) == ["Lives in Graz", "Lives in Linz"]
    assert await life.now() == ["Lives in Graz"]


def test_thousands_of_values_of_one_attribute_each_hold_until_the_next():
    homes = [
        record(f"Lives in Town{n}", f"20{10 + n // 336}-{1 + n // 28 % 12:02}-{1 + n % 28:02}") for n in range(3000)
    ]
    homes = [replace(home, id=MemoryId(f"m{n}")) for n, home in enumerate(homes)]
    *past, last = behind_newer(homes[1::2], homes[::2])
    assert [(home.valid_to, home.replaced_by) for home in past] == [
        (homes[n + 1].created_at, homes[n + 1].id) for n in range(1, 2999, 2)
    ]
    assert last == homes[-1]


async def test_an_import_changes_nothing_that_is_stored(live):
    life = live()
    await life.tell(GRAZ, day("2024-05-01"))
    await FactExchange(life.store, life.indexing, life.facts.plans, life.facts.personal).add(
        MIRA, [record("Lives in Linz", "2025-05-01")]
    )
    assert await life.now() == ["Lives in Graz", "Lives in Linz"]
    assert await life.duplicates() == [["Lives in Graz", "Lives in Linz"]]
