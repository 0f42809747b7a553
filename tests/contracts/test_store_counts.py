"""How much every store of memories holds, over all projects and users."""

from dataclasses import replace

from mnemoir.ports.memory_store import StoreCounts
from tests.contracts.words import ASKED, MIRA, fact, keep, remove, rewrite


async def test_an_empty_store_holds_nothing(store):
    assert await store.counts() == StoreCounts(projects=0, users=0, memories=0)


async def test_current_memories_of_everybody_are_counted(store):
    tea, _ = await keep(store, fact("Likes tea"), fact("Rows"))
    for scope in (replace(MIRA, user="otto"), replace(MIRA, project="other")):
        await store.commit(scope, [fact("Likes rain", scope=scope)], ASKED)
    assert await store.counts() == StoreCounts(projects=2, users=3, memories=4)
    await store.commit(MIRA, [rewrite(tea, "Likes green tea")], ASKED)
    assert await store.counts() == StoreCounts(projects=2, users=3, memories=4)


async def test_who_has_nothing_left_is_not_counted(store, store_factory):
    (tea,) = await keep(store, fact("Likes tea"))
    await store.commit(MIRA, [remove(tea)], ASKED)
    assert await store.counts() == StoreCounts(projects=0, users=0, memories=0)
    again = await store_factory()
    assert await again.counts() == StoreCounts(projects=0, users=0, memories=0)
