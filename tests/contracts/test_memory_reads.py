"""What a read shows: by scope, by age, by decay and expiry, and of the past."""

import itertools
from dataclasses import replace
from datetime import timedelta

import pytest

from mnemoir.core.clock import from_text, to_text
from mnemoir.core.memories import Remove
from mnemoir.core.text import content_hash
from mnemoir.ports.memory_store import Project, Visible
from tests.contracts.words import ALL, ASKED, DEMO, MIRA, NOW, fact, keep, message, remove, rewrite, texts, within
from tests.decay_table import DECAY_TABLE

SIX_DAYS = Visible(now=NOW, horizon=NOW - timedelta(days=6))


@pytest.mark.parametrize(("created_at", "updated_at", "is_shown"), DECAY_TABLE)
async def test_a_memory_decays_by_its_last_renewal(store, created_at, updated_at, is_shown):
    (tea,) = await keep(store, fact("Likes tea", created_at=created_at, updated_at=updated_at))
    assert await texts(store, visible=SIX_DAYS) == (["Likes tea"] if is_shown else [])
    assert await texts(store, visible=Visible(now=NOW)) == ["Likes tea"]
    assert await store.get(MIRA, tea.id) == tea


async def test_a_decayed_fact_is_found_by_its_text_and_shown_again_once_renewed(store):
    (tea,) = await keep(store, fact("Likes tea", created_at="2025-01-01T00:00:00Z", updated_at=None))
    assert await store.same_text(MIRA, [content_hash("likes tea")]) == {content_hash("likes tea"): tea}
    await store.commit(MIRA, [rewrite(tea, "Likes tea")], ASKED)
    assert await texts(store, visible=SIX_DAYS) == ["Likes tea"]


@pytest.mark.parametrize(
    ("expires_on", "is_shown"),
    [("2026-01-20", False), ("2026-01-21", True), ("2026-01-22", True), ("9999-12-31", True), ("soon", True)],
)
async def test_a_memory_is_shown_until_its_expiry_day_has_passed(store, expires_on, is_shown):
    await keep(store, fact("Likes tea", expires_on=expires_on))
    assert await texts(store, visible=Visible(now=NOW)) == (["Likes tea"] if is_shown else [])


async def test_a_page_is_newest_first_with_ties_by_id(store):
    times = ["2026-01-02T00:00:00Z", "2026-01-01T23:00:00-02:00", "2026-01-03T00:00:00Z", "garbage"]
    adds = [fact(f"{n}", id=f"mem_{n}", created_at=at, updated_at=None) for n, at in enumerate(times)]
    await keep(store, *adds, fact("tie", id="mem_9", created_at=times[2], updated_at=None))
    assert await texts(store) == ["tie", "2", "1", "0", "3"]
    assert [m.text for m in await store.page(MIRA, ALL, limit=2, offset=1)] == ["2", "1"]
    assert await store.page(MIRA, ALL, limit=2, offset=10**18) == []
    assert len(await store.page(MIRA, ALL, limit=10**18)) == 5


async def test_an_update_moves_nothing(store, clock):
    old, _ = await keep(store, fact("old", created_at="2026-01-01T00:00:00Z"), fact("new"))
    clock.move(hours=1)
    await store.commit(MIRA, [rewrite(old, "older")], ASKED)
    assert await texts(store) == ["new", "older"]


SCOPES = [
    replace(MIRA, tenant=tenant, project=project, user=user)
    for tenant, project, user in itertools.product(("default", "acme"), ("demo", "other"), ("mira", "noah"))
]


async def test_no_scope_sees_or_changes_what_is_of_another(store):
    for scope in SCOPES:
        said = message(f"said {_name(scope)}", scope=scope, created_at="2026-01-01T00:00:00Z", model=None)
        await keep(store, fact(_name(scope), scope=scope, id=f"mem_{_name(scope)}"), said, scope=scope)
    mine, others = SCOPES[0], SCOPES[1:]
    (own, _) = await store.page(mine, ALL, limit=9)
    for other in others:
        assert await store.get(other, own.id) is None
        assert await store.delete(other, own.id) is None
        assert await store.history(other, own.id) == []
        assert await store.same_text(other, [content_hash(own.text)]) == {}
        assert await store.commit(other, [Remove(target=own.id, expected=own.text)], ASKED, degrade=True) == []
        assert [m.text for m in await store.last_messages(other, 9)] == [f"said {_name(other)}"]
        assert await texts(store, other) == [_name(other), f"said {_name(other)}"]
    assert await store.delete_all(mine) == 2
    assert [len(await texts(store, scope)) for scope in SCOPES] == [0] + [2] * 7


async def test_locate_finds_the_owner_within_the_project_only(store):
    (tea,) = await keep(store, fact("Likes tea", conversation="c1"))
    assert await store.locate(DEMO, tea.id) == MIRA
    assert await store.locate(Project(tenant="default", project="other"), tea.id) is None
    assert await store.locate(Project(tenant="acme", project="demo"), tea.id) is None
    assert await store.locate(DEMO, "mem_unknown") is None


async def test_an_inner_level_narrows_every_read(store):
    adds = [fact(f"{agent} {run}", agent=agent, conversation=run) for agent in ("a", "b") for run in ("c1", "c2")]
    (first, *_) = await keep(store, *adds)
    assert len(await texts(store)) == 4
    assert sorted(await texts(store, within(MIRA, agent="a"))) == ["a c1", "a c2"]
    assert await texts(store, within(MIRA, agent="b", conversation="c2")) == ["b c2"]
    assert await texts(store, within(MIRA, app="x")) == []
    outside = within(MIRA, agent="b")
    assert await store.get(outside, first.id) is None
    assert await store.history(outside, first.id) == []
    assert await store.delete(outside, first.id) is None
    assert await store.same_text(outside, [content_hash("a c1")]) == {}


async def test_the_last_messages_are_of_their_conversation_in_the_order_they_were_stored(store):
    at = [f"2026-01-01T00:00:0{9 - n}Z" for n in range(4)]  # the clock ran backwards
    said = [message(f"{n}", conversation="c1", created_at=at[n]) for n in range(4)]
    await keep(
        store, *said, message("elsewhere", conversation="c2"), message("nowhere"), fact("fact", conversation="c1")
    )
    assert [m.text for m in await store.last_messages(within(MIRA, conversation="c1"), 3)] == ["1", "2", "3"]
    assert [m.text for m in await store.last_messages(MIRA, 3)] == ["nowhere"]
    assert await store.last_messages(within(MIRA, conversation="c3"), 3) == []


async def test_users_are_those_with_memories_in_name_order(store):
    for user in ("noah", "Zoë", "mira"):
        scope = replace(MIRA, user=user)
        await keep(store, fact("Likes tea", scope=scope), scope=scope)
    await store.delete_all(MIRA)
    assert await store.users(DEMO) == [replace(MIRA, user="Zoë"), replace(MIRA, user="noah")]
    assert await store.users(Project(tenant="acme", project="demo")) == []


async def test_the_users_of_an_agent_or_an_app_are_those_with_memories_of_it(store):
    for user, place in (
        ("noah", {"agent": "cook"}),
        ("mira", {"agent": "cook", "app": "web"}),
        ("zoe", {"app": "web"}),
    ):
        scope = replace(MIRA, user=user, **place)
        await keep(store, fact("Likes tea", scope=scope), scope=scope)

    async def users(**place: str) -> list[str]:
        return [scope.user for scope in await store.users(DEMO, **place)]

    assert await users(agent="cook") == ["mira", "noah"]
    assert await users(app="web") == ["mira", "zoe"]
    assert await users(agent="cook", app="web") == ["mira"]
    assert await users(agent="gardener") == []
    await store.delete_all(replace(MIRA, user="noah"))
    assert await users(agent="cook") == ["mira"]


async def test_the_check_of_a_sound_store_says_nothing(store):
    assert await store.check() is None


@pytest.mark.usefixtures("past_states")
async def test_a_look_into_the_past_shows_what_was_current_then(store, clock):
    (works,) = await keep(store, fact("Works at A"))
    clock.move(hours=1)
    await store.commit(MIRA, [rewrite(works, "Works at B")], ASKED)
    clock.move(hours=1)
    now = to_text(clock.now)
    freelance = fact("Works alone", created_at=now, updated_at=now)
    await store.commit(MIRA, [remove(replace(works, text="Works at B"), replaced_by=1), freelance], ASKED)
    moments = [NOW + timedelta(minutes=minutes) for minutes in (-1, 0, 59, 60, 119, 120)]
    seen = [await texts(store, visible=Visible(now=clock.now, at=moment)) for moment in moments]
    assert seen == [[], ["Works at A"], ["Works at A"], ["Works at B"], ["Works at B"], ["Works alone"]]
    assert await texts(store) == ["Works alone"]


@pytest.mark.usefixtures("past_states")
async def test_a_replaced_fact_names_its_successor_and_goes_with_it(store, clock):
    (works,) = await keep(store, fact("Works at A", metadata={"a": 1}))
    clock.move(hours=1)
    await store.commit(MIRA, [rewrite(works, "Works at B")], ASKED)
    (first,) = await store.page(MIRA, Visible(now=clock.now, at=NOW), limit=9)
    assert first == replace(works, id=first.id, valid_to=to_text(clock.now), replaced_by=works.id)
    assert await store.get(MIRA, first.id) == first
    changes = [remove(replace(works, text="Works at B"), replaced_by=1), fact("Works alone")]
    (_, alone) = await store.commit(MIRA, changes, ASKED)
    assert (await store.get(MIRA, works.id)).replaced_by == alone.memory.id
    await store.delete(MIRA, alone.memory.id)
    assert [await store.get(MIRA, memory_id) for memory_id in (first.id, works.id, alone.memory.id)] == [None] * 3


@pytest.mark.usefixtures("past_states")
async def test_a_fact_replaced_by_one_known_already_names_that_one(store):
    works, alone = await keep(store, fact("Works at A"), fact("Works alone"))
    await store.commit(MIRA, [remove(works, replaced_by=1), fact("works alone!")], ASKED)
    assert (await store.get(MIRA, works.id)).replaced_by == alone.id


def _name(scope) -> str:
    return f"{scope.tenant}-{scope.project}-{scope.user}"


def test_the_vectors_above_stand_on_the_clock_of_the_suite():
    assert from_text("2026-01-21T10:30:00Z") == NOW


async def test_of_certain_memories_those_are_given_that_are_visible_now(store):
    tea, late, old, gone = await keep(
        store,
        fact("Likes tea"),
        fact("Is away", expires_on="2026-01-20"),
        fact("Ran", created_at="2025-01-01T00:00:00Z", updated_at=None),
        fact("Owns a cat"),
    )
    await store.commit(MIRA, [remove(gone)], ASKED)
    ids = [one.id for one in (tea, late, old, gone)]
    assert [one.text for one in await store.current(MIRA, SIX_DAYS, [*ids, "mem_unknown"])] == ["Likes tea"]
    assert sorted(one.text for one in await store.current(MIRA, Visible(now=NOW), ids)) == ["Likes tea", "Ran"]
    assert await store.current(MIRA, SIX_DAYS, []) == []
    await store.commit(MIRA, [rewrite(tea, "Likes green tea")], ASKED)
    assert [one.text for one in await store.current(MIRA, SIX_DAYS, ids)] == ["Likes green tea"]
    assert await store.current(replace(MIRA, user="tom"), SIX_DAYS, ids) == []
