"""Lists with conditions: what they show, in which order, and page by page."""

from dataclasses import replace
from datetime import timedelta

import pytest

from mnemoir.core.clock import from_text, to_text
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Provenance, SourceTurn
from mnemoir.ports.memory_store import ListCursor, ListFilter, OwnerSummary, Visible
from tests.contracts.words import ALL, MIRA, NOW, fact, keep, message, rewrite, within

EVERYTHING = ListFilter(visible=ALL)
SIX_DAYS = Visible(now=NOW, horizon=NOW - timedelta(days=6))


async def listed(store, wanted: ListFilter, scope=MIRA) -> list[str]:
    """The texts, which the count and what a search may find must agree with."""
    found = await store.select(scope, wanted, limit=1000)
    assert await store.select_count(scope, wanted) == len(found)
    searched = await store.reading(lambda view: view.memories(scope, view.matching_seqs(scope, wanted)))
    assert sorted(memory.id for memory in searched.values()) == sorted(memory.id for memory in found)
    weeks = await store.weeks(scope, wanted)
    assert sum(week.memories for week in weeks) == len(found)
    return [memory.text for memory in found]


def at(days: float) -> str:
    return to_text(NOW + timedelta(days=days))


async def kept_over_days(store) -> None:
    await keep(
        store,
        fact("Likes tea", id="mem_a", created_at=at(-9), updated_at=at(-1)),
        fact("Owns a Fähre", id="mem_b", created_at=at(-5), updated_at=at(-5)),
        message("I row.", id="mem_c", created_at=at(-8), updated_at=None),
        fact("Timeless", id="mem_d", created_at="someday", updated_at=None),
        fact("Over", id="mem_e", created_at=at(-2), updated_at=at(-2), expires_on="2026-01-20"),
    )


CONDITIONS = [
    (EVERYTHING, ["Over", "Owns a Fähre", "I row.", "Likes tea", "Timeless"]),
    (replace(EVERYTHING, ascending=True), ["Likes tea", "I row.", "Owns a Fähre", "Over", "Timeless"]),
    (replace(EVERYTHING, by="updated"), ["Likes tea", "Over", "Owns a Fähre", "I row.", "Timeless"]),
    (replace(EVERYTHING, kind="message"), ["I row."]),
    (replace(EVERYTHING, words="FÄHRE own"), ["Owns a Fähre"]),
    (replace(EVERYTHING, words="tea row"), []),
    (replace(EVERYTHING, ids=tuple(map(MemoryId, ("mem_b", "mem_d", "mem_x")))), ["Owns a Fähre", "Timeless"]),
    (replace(EVERYTHING, ids=()), []),
    (
        replace(EVERYTHING, ids=(MemoryId("\0"), MemoryId("mem_b\0"), MemoryId(r"\u0000"), MemoryId("mem_d"))),
        ["Timeless"],
    ),
    (replace(EVERYTHING, since=NOW - timedelta(days=8), until=NOW - timedelta(days=5)), ["I row."]),
    (replace(EVERYTHING, by="updated", since=NOW - timedelta(days=2)), ["Likes tea", "Over"]),
    (ListFilter(visible=SIX_DAYS), ["Owns a Fähre", "Likes tea", "Timeless"]),
    (ListFilter(visible=SIX_DAYS, hidden="only"), ["Over", "I row."]),
    (ListFilter(visible=SIX_DAYS, hidden="with"), ["Over", "Owns a Fähre", "I row.", "Likes tea", "Timeless"]),
]


@pytest.mark.parametrize(("wanted", "expected"), CONDITIONS)
async def test_a_list_shows_what_meets_every_condition(store, wanted, expected):
    await kept_over_days(store)
    wanted = replace(wanted, hidden="with") if wanted.visible is ALL else wanted
    assert await listed(store, wanted) == expected


async def test_weeks_count_by_origin_from_monday_to_sunday(store):
    await keep(
        store,
        fact("Likes tea", created_at="1970-01-05", updated_at="2026-01-20"),
        fact("Likes rum", created_at="1970-01-11T23:59:59Z", updated_at="1970-01-11T23:59:59Z"),
        message("I row.", created_at="1970-01-04", updated_at=None),
        fact("Timeless", created_at="someday", updated_at=None),
    )
    week = (NOW.timestamp() / 86_400 - 4) // 7
    counted = await store.weeks(MIRA, replace(EVERYTHING, hidden="with"))
    assert set(counted) == {
        (-1, None, "api", 1),
        (0, None, "user", 1),
        (0, week, "user", 1),
        (None, None, "user", 1),
    }


@pytest.mark.parametrize("ascending", [False, True])
@pytest.mark.parametrize("by", ["created", "updated"])
async def test_pages_of_one_make_up_the_whole_list(store, by, ascending):
    await kept_over_days(store)
    await keep(store, fact("Twin", id="mem_aa", created_at=at(-9), updated_at=at(-1)), fact("No time", created_at=""))
    wanted = replace(EVERYTHING, by=by, ascending=ascending, hidden="with")
    whole, paged, place = await store.select(MIRA, wanted, limit=99), [], None
    while page := await store.select(MIRA, wanted, limit=1, after=place):
        paged += page
        time = from_text(page[0].updated_at or page[0].created_at if by == "updated" else page[0].created_at)
        place = ListCursor(at=None if time is None else time.timestamp(), memory_id=page[0].id)
    assert paged == whole
    assert len(whole) == 7


async def test_a_list_of_a_session_shows_what_was_learned_or_changed_there(store):
    said = SourceTurn(role="user", text="Tea.")
    tea, _ = await keep(store, fact("Likes tea"), fact("Likes rum"))
    said_there = Provenance(reason="extracted", turns=(said,), session="s1")
    await store.commit(MIRA, [rewrite(tea, "Loves tea")], said_there)
    await keep(store, message("Hello", metadata={"session_id": "s1"}), message("Bye", metadata={"session_id": "s2"}))
    assert sorted(await listed(store, replace(EVERYTHING, session="s1"))) == ["Hello", "Loves tea"]
    assert await listed(store, replace(EVERYTHING, session="s1", ids=(tea.id,))) == ["Loves tea"]
    assert await listed(store, replace(EVERYTHING, session="s3")) == []
    assert await listed(store, replace(EVERYTHING, session="s1"), replace(MIRA, user="noah")) == []


async def test_a_list_is_of_its_scope_alone(store):
    noah = replace(MIRA, user="noah")
    await keep(store, fact("Likes tea", agent="cook"), fact("Likes rum"))
    await keep(store, fact("Likes gin", scope=noah), scope=noah)
    assert await listed(store, EVERYTHING, within(MIRA, agent="cook")) == ["Likes tea"]
    assert await listed(store, EVERYTHING, noah) == ["Likes gin"]
    assert await listed(store, EVERYTHING, replace(MIRA, project="other")) == []


async def test_owners_are_the_users_of_all_projects_of_one_tenant(store):
    for project, user in (("demo", "noah"), ("atlas", "mira"), ("demo", "mira")):
        scope = replace(MIRA, project=project, user=user)
        await keep(
            store, fact("Likes tea", scope=scope, updated_at=at(1)), fact("Likes rum", scope=scope), scope=scope
        )
    foreign = replace(MIRA, tenant="acme")
    await keep(store, fact("Likes gin", scope=foreign), scope=foreign)
    changed_at = (NOW + timedelta(days=1)).timestamp()
    assert await store.owners("default") == [
        OwnerSummary(project=project, user=user, memories=2, changed_at=changed_at)
        for project, user in (("atlas", "mira"), ("demo", "mira"), ("demo", "noah"))
    ]
    assert await store.owners("nobody") == []
