"""States of the past that are told after the present: stored where a past is kept, left out elsewhere."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from mnemoir.core.clock import from_text
from mnemoir.core.memories import Revert
from mnemoir.ports.memory_store import Visible
from tests.contracts.words import ASKED, MIRA, NOW, entry, fact, keep, remove, rewrite, texts

YEARS = [f"20{year}-01-01T00:00:00.000Z" for year in range(20, 27)]


def lived(place: str, since: str, until: str | None = None, by: str | None = None):
    add = fact(f"Lives in {place}")
    times: dict[str, Any] = {"created_at": since, "updated_at": since, "valid_to": until, "replaced_by": by}
    return replace(add, memory=replace(add.memory, **times))


async def at(store, year: int) -> list[str]:
    visible = Visible(now=NOW, at=datetime(2000 + year, 6, 1, tzinfo=UTC))
    return sorted(memory.text for memory in await store.page(MIRA, visible, limit=10))


async def test_a_past_state_is_never_current_and_ends_the_one_before_it(past_states, store):
    (now,) = await keep(store, lived("Rome", YEARS[4]))
    await keep(store, lived("Graz", YEARS[0], YEARS[4], now.id))
    [applied] = await store.commit(MIRA, [lived("Wels", YEARS[2], YEARS[4], now.id)], ASKED)
    assert (applied.event, applied.memory.valid_to) == ("ADD", YEARS[4])
    assert await texts(store) == ["Lives in Rome"]
    assert [await at(store, year) for year in (21, 23, 25)] == [
        ["Lives in Graz"],
        ["Lives in Wels"],
        ["Lives in Rome"],
    ]


async def test_a_past_state_ends_where_the_next_one_begins(past_states, store):
    (now,) = await keep(store, lived("Rome", YEARS[4]))
    await keep(store, lived("Wels", YEARS[2], YEARS[4], now.id))
    [applied] = await store.commit(MIRA, [lived("Graz", YEARS[0], YEARS[4], now.id)], ASKED)
    assert from_text(applied.memory.valid_to) == from_text(YEARS[2])
    assert [await at(store, year) for year in (21, 23)] == [["Lives in Graz"], ["Lives in Wels"]]


async def test_a_past_state_that_is_told_again_is_stored_once(past_states, store):
    (now,) = await keep(store, lived("Rome", YEARS[4]))
    told = [len(await store.commit(MIRA, [lived("Wels", YEARS[2], YEARS[4], now.id)], ASKED)) for _ in range(2)]
    assert told == [1, 0]


async def test_past_states_go_with_the_memory_that_followed_them(past_states, store):
    (now,) = await keep(store, lived("Rome", YEARS[4]))
    await keep(store, lived("Wels", YEARS[2], YEARS[4], now.id))
    await store.delete(MIRA, now.id)
    assert await at(store, 23) == []


async def test_past_states_go_with_a_memory_that_is_removed_with_its_past(past_states, store):
    (now,) = await keep(store, lived("Rome", YEARS[4]))
    await keep(store, lived("Wels", YEARS[2], YEARS[4], now.id))
    await store.commit(MIRA, [replace(remove(now), with_past=True)], ASKED)
    assert [await at(store, year) for year in (23, 25)] == [[], []]
    assert (await store.memory_at_removal(MIRA, now.id)).text == "Lives in Rome"


async def test_a_last_day_is_given_and_given_back(store):
    (tea,) = await keep(store, fact("Likes tea"))
    await store.commit(MIRA, [replace(rewrite(tea, tea.text), expires_on="2020-01-01")], ASKED)
    assert await texts(store, visible=Visible(now=NOW)) == []
    back = Revert(
        target=tea.id, expected=tea.text, text=tea.text, entry=entry(""), updated_at=tea.updated_at, expires_on=None
    )
    await store.commit(MIRA, [back], ASKED)
    assert await texts(store, visible=Visible(now=NOW)) == ["Likes tea"]
    assert await store.get(MIRA, tea.id) == tea


async def test_a_store_without_a_past_leaves_such_a_state_out(backend, store):
    if backend.keeps_past_states:
        return
    (now,) = await keep(store, lived("Rome", YEARS[4]))
    assert await store.commit(MIRA, [lived("Wels", YEARS[2], YEARS[4], now.id)], ASKED) == []
    assert await texts(store) == ["Lives in Rome"]
