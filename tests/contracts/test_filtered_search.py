"""Search among what a list with conditions shows: all that bears on the question there, and with the same score."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from mnemoir.core.clock import to_text
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Memory, Provenance, SourceTurn
from mnemoir.core.scope import Scope
from mnemoir.ports.embedding import Passage
from mnemoir.ports.memory_store import ListFilter, Visible
from mnemoir.search import Indexing, Question, Recall
from tests.contracts.words import ASKED, MIRA, NOW, fact, message, within
from tests.search.hashed_words import HashedWords

ALL = ListFilter(visible=Visible(now=NOW, horizon=NOW - timedelta(days=30)))
BOATS = Provenance(reason="extracted", turns=(SourceTurn(role="user", text="Boats."),), session="boats")
CONDITIONS = [
    replace(ALL, kind="message"),
    replace(ALL, kind="fact"),
    replace(ALL, since=NOW - timedelta(days=5)),
    replace(ALL, until=NOW - timedelta(days=5)),
    replace(ALL, since=NOW - timedelta(days=5), by="updated"),
    replace(ALL, session="boats"),
    replace(ALL, words="BOAT alone"),
    replace(ALL, ids=(MemoryId("mem_00"), MemoryId("mem_13"))),
    replace(ALL, ids=()),
    replace(ALL, kind="fact", session="boats", since=NOW - timedelta(days=12)),
]


@pytest.fixture
def model() -> HashedWords:
    return HashedWords()


@pytest.fixture
async def written(store, model):
    """Forty memories, one more day old each: facts of boats, messages of boats, facts of boats alone, tea."""
    adds = []
    for n in range(40):
        text = ("rows a boat", "said boat things", "a boat alone at sea", "drinks tea")[n % 4]
        times: dict[str, Any] = {
            "created_at": to_text(NOW - timedelta(days=n)),
            "updated_at": to_text(NOW - timedelta(days=n // 2)),
        }
        make = message if n % 4 == 1 else fact
        adds.append(make(f"{text}, day {n}", **times, id=f"mem_{n:02}", conversation="c" if n % 4 == 1 else None))
    entries = await Indexing(model).entries([Passage(text=add.memory.text) for add in adds])
    embedded = [replace(add, entry=entry) for add, entry in zip(adds, entries, strict=True)]
    await store.commit(MIRA, embedded[:20], BOATS)
    await store.commit(MIRA, embedded[20:], ASKED)
    return store


async def scores(
    store, model: HashedWords, among: ListFilter | None, *, limit: int = 100, scope: Scope = MIRA, text: str = "boat"
) -> dict[str, float]:
    """Of the likely hits, by id, best first."""
    visible = ALL.visible if among is None else among.visible
    question = Question(text=text, limit=limit, asked_at=NOW, among=among)
    found = await Recall(store, model).search(scope, question, visible)
    return {hit.memory.id: hit.score for hit in found.hits if hit.is_likely}


async def ids(store, wanted: ListFilter) -> list[str]:
    listed: list[Memory] = await store.select(MIRA, wanted, limit=1000)
    return [memory.id for memory in listed]


@pytest.mark.parametrize("among", CONDITIONS)
async def test_conditions_take_away_and_change_no_score(written, model, among):
    everything = await scores(written, model, None)
    listed = set(await ids(written, among))
    wanted = {id: score for id, score in everything.items() if id in listed}
    assert await scores(written, model, among) == wanted
    assert list(await scores(written, model, among)) == list(wanted)


async def test_as_many_are_found_as_were_asked_for_however_many_others_are_better(written, model):
    best = list(await scores(written, model, None, limit=3))
    others = [MemoryId(id) for id in await ids(written, ALL) if id not in best]
    found = await scores(written, model, replace(ALL, ids=others), limit=3)
    assert len(found) == 3
    assert not found.keys() & set(best)


async def test_no_condition_finds_what_a_search_without_any_finds(written, model):
    assert await scores(written, model, ALL, limit=7) == await scores(written, model, None, limit=7)


async def test_what_is_hidden_is_found_when_it_is_asked_for(written, model):
    old = replace(ALL, visible=Visible(now=NOW, horizon=NOW - timedelta(days=10)))
    shown, hidden, both = [
        (await scores(written, model, replace(old, hidden=hidden))).keys() for hidden in ("without", "only", "with")
    ]
    assert both == shown | hidden
    assert not shown & hidden
    assert len(hidden) == 13  # of the days from 22 on, but for tea


async def test_conditions_reach_beyond_no_scope(written, model):
    theirs = replace(MIRA, user="noah")
    assert await scores(written, model, replace(ALL, kind="fact"), scope=theirs) == {}
    assert await scores(written, model, replace(ALL, hidden="with"), scope=replace(MIRA, project="other")) == {}
    said = await scores(
        written, model, replace(ALL, since=NOW - timedelta(days=9)), scope=within(MIRA, conversation="c")
    )
    assert sorted(said) == ["mem_01", "mem_05", "mem_09"]


async def test_without_vectors_and_words_in_common_the_newest_of_the_list_are_given(written, model):
    model.is_down = True
    found = await scores(written, model, replace(ALL, kind="message"), limit=2, text="quantum")
    assert found == {"mem_01": 0.0, "mem_05": 0.0}
