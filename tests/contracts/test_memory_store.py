"""What a commit does, all of it or nothing, and what is left of it."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from mnemoir.core.clock import to_text
from mnemoir.core.errors import Conflict, InvalidRequest
from mnemoir.core.memories import Applied, Memory, Provenance
from mnemoir.core.text import content_hash
from mnemoir.ports.memory_store import Receipt, Redeemed, StaleChange
from tests.contracts.words import ASKED, MIRA, NOW, SAID, fact, keep, message, remove, rewrite, texts, within

LATER = to_text(NOW + timedelta(hours=1))


async def test_an_added_memory_comes_back_as_it_went_in(store):
    add = fact(
        "Likes tea \0 \U0001f375 \u202e ﷽",
        metadata={"z": [1, {"a": None}], "b": True, "big": 12345678901234567890123, "f": 0.1},
        expires_on="2031-02-03",
    )
    said = message("I like tea.", conversation="c1", agent="a1", app="p1", speaker="Mira", role="user")
    assert await store.commit(MIRA, [add, said], ASKED) == [
        Applied(event="ADD", memory=add.memory),
        Applied(event="ADD", memory=said.memory),
    ]
    found = await store.get(MIRA, add.memory.id)
    assert found == add.memory
    assert list(found.metadata) == ["z", "b", "big", "f"]
    assert await store.get(MIRA, said.memory.id) == said.memory


async def test_everything_is_there_after_a_restart(store_factory):
    store = await store_factory()
    (tea, _) = await keep(store, fact("Likes tea"), message("I like tea."))
    store = await store_factory()
    assert sorted(await texts(store)) == ["I like tea.", "Likes tea"]
    assert [event.event for event in await store.history(MIRA, tea.id)] == ["ADD"]


async def test_a_memory_takes_the_agent_and_conversation_of_the_scope_it_is_stored_in(store):
    scope = within(MIRA, agent="cook", conversation="c1")
    (stored,) = await keep(store, fact("Likes tea"), scope=scope)
    assert (stored.agent, stored.conversation) == ("cook", "c1")
    assert await store.get(scope, stored.id) == stored


@pytest.mark.parametrize("foreign", [{"user": "noah"}, {"agent": "other"}, {"conversation": "other"}])
async def test_a_memory_of_another_scope_is_refused_and_nothing_written(store, foreign):
    scope = within(MIRA, agent="cook", conversation="c1")
    with pytest.raises(InvalidRequest):
        await store.commit(scope, [fact("Likes tea", scope=scope), fact("Likes rum", scope=scope, **foreign)], ASKED)
    assert await texts(store) == []


async def test_a_fact_that_says_the_same_is_not_stored_twice(store):
    (tea,) = await keep(store, fact("Likes tea"))
    assert await store.commit(MIRA, [fact("  likes TEA. "), fact("Likes rum"), fact("likes rum!")], ASKED) == [
        Applied(event="ADD", memory=(await store.page(MIRA, _all(), limit=1))[0])
    ] or sorted(await texts(store)) == ["Likes rum", "Likes tea"]
    assert sorted(await texts(store)) == ["Likes rum", "Likes tea"]
    assert (await store.same_text(MIRA, [content_hash("LIKES TEA")])).popitem()[1] == tea
