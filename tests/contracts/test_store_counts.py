"""How much every store of memories holds, over all projects and users."""

from dataclasses import replace
from datetime import date

from mnemoir.ports.memory_store import StoreCounts
from tests.contracts.words import ASKED, MIRA, fact, keep, remove, rewrite

OTTO = replace(MIRA, user="otto")


async def test_an_empty_store_holds_nothing(store):
    assert await store.counts() == StoreCounts(projects=0, users=0, memories=0)


async def test_current_memories_of_everybody_are_counted(store):
    tea, _ = await keep(store, fact("Likes tea"), fact("Rows"))
    for scope in (OTTO, replace(MIRA, project="other")):
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


async def test_memories_are_counted_by_the_day_on_which_they_were_added(store, store_factory):
    late, early, long_ago = "2026-01-20T23:59:59.999Z", "2026-01-21T01:00:00+02:00", "2025-01-01T00:00:00.000Z"
    days = [fact(text, created_at=at) for text, at in (("Rows", late), ("Sails", early), ("Swims", long_ago))]
    (tea, *_) = await keep(store, fact("Likes tea"), *days, fact("Sings", created_at="long ago"))
    await store.commit(OTTO, [fact("Likes rain", scope=OTTO)], ASKED)
    since = date(2026, 1, 1)
    assert await store.additions_by_day(since) == {"2026-01-20": 2, "2026-01-21": 2}
    assert await store.additions_by_day(date(2026, 1, 21)) == {"2026-01-21": 2}
    await store.commit(MIRA, [rewrite(tea, "Likes green tea")], ASKED)
    assert await store.additions_by_day(since) == {"2026-01-20": 2, "2026-01-21": 2}
    await store.delete_all(OTTO)
    again = await store_factory()
    assert await again.additions_by_day(since) == {"2026-01-20": 2, "2026-01-21": 1}
