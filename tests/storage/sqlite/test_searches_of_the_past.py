"""Searches of the past find what was current then, and what is over changes no search of the present."""

from dataclasses import replace
from datetime import timedelta

import pytest

from mnemoir.core.memories import Add, Remove, Restore, Update
from mnemoir.ports.embedding import Passage
from mnemoir.ports.memory_store import Visible
from mnemoir.search import Indexing, Question, Recall
from mnemoir.storage.sql import SqlMemoryStore
from mnemoir.storage.sqlite import open_database
from tests.contracts.words import ASKED, MIRA, NOW, SetClock, fact, keep, remove
from tests.search.hashed_words import HashedWords

MODEL = HashedWords()
HOUR = timedelta(hours=1)


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
async def store(tmp_path, clock):
    database = open_database(tmp_path / "mnemoir.db")
    yield SqlMemoryStore(database, clock)
    await database.aclose()


@pytest.fixture
def recall(store) -> Recall:
    return Recall(store, MODEL, of_all_times=store.of_all_times)


async def embedded(*adds: Add) -> list[Add]:
    entries = await Indexing(MODEL).entries([Passage(text=add.memory.text) for add in adds])
    return [replace(add, entry=entry) for add, entry in zip(adds, entries, strict=True)]


async def found(recall: Recall, clock: SetClock, text: str, at=None) -> list[str]:
    question = Question(text=text, limit=10, asked_at=at or clock.now)
    result = await recall.search(MIRA, question, Visible(now=clock.now, at=at))
    assert result.degraded == ()
    return [hit.memory.text for hit in result.hits]


async def test_a_search_at_a_time_finds_what_was_current_then(store, recall, clock):
    [works, tea] = await keep(store, *await embedded(fact("works in Bergen"), fact("drinks green tea")))
    assert await found(recall, clock, "works where?", NOW) == ["works in Bergen", "drinks green tea"]
    clock.move(hours=1)
    [entry] = await Indexing(MODEL).entries([Passage(text="works in Graz")])
    moved = Update(target=works.id, expected=works.text, text="works in Graz", entry=entry)
    await store.commit(MIRA, [moved, remove(tea)], ASKED)
    clock.move(hours=1)
    assert await found(recall, clock, "works where?") == ["works in Graz"]
    assert await found(recall, clock, "works where?", NOW + HOUR) == ["works in Graz"]
    assert await found(recall, clock, "works where?", NOW) == ["works in Bergen", "drinks green tea"]
    assert await found(recall, clock, "works where?", NOW - HOUR) == []


async def test_a_restored_fact_is_current_again_at_all_times(store, recall, clock):
    [tea] = await keep(store, *await embedded(fact("drinks green tea")))
    clock.move(hours=1)
    await store.commit(MIRA, [remove(tea)], ASKED)
    assert await found(recall, clock, "tea", clock.now) == []
    [entry] = await Indexing(MODEL).entries([Passage(text=tea.text)])
    await store.commit(MIRA, [Restore(target=tea.id, expected=tea.text, entry=entry)], ASKED)
    assert await found(recall, clock, "tea", clock.now) == ["drinks green tea"]
    assert await found(recall, clock, "tea", NOW) == ["drinks green tea"]


@pytest.mark.parametrize("forget", ["delete", "delete_all", "forget_session"])
async def test_what_is_forgotten_is_found_at_no_time(store, recall, clock, forget):
    [works] = await keep(store, *await embedded(fact("works in Bergen", metadata={"session_id": "s1"})))
    clock.move(hours=1)
    await store.commit(MIRA, [remove(works)], ASKED)
    assert await found(recall, clock, "works", NOW) == ["works in Bergen"]
    targets: dict[str, list[str]] = {"delete": [works.id], "delete_all": [], "forget_session": ["s1"]}
    await getattr(store, forget)(MIRA, *targets[forget])
    assert await found(recall, clock, "works", NOW) == []
    assert await store.of_all_times.reading(lambda view: view.live(MIRA)) == []


@pytest.mark.slow
async def test_ten_thousand_closed_facts_change_no_byte_of_a_search_of_the_present(store, clock):
    names = ["boat", "tea", "cello", "night train", "Bergen"]
    await keep(store, *await embedded(*(fact(f"likes {name}, day {n}") for n, name in enumerate(names * 20))))
    before = [await results(store, clock, f"who likes the {name}?") for name in names]
    over = await embedded(*(fact(f"liked {names[n % 5]}, day {n}") for n in range(10_000)))
    for start in range(0, len(over), 1000):
        kept = await keep(store, *over[start : start + 1000])
        gone = [Remove(target=one.id, expected=one.text, reason="superseded") for one in kept]
        clock.move(hours=1)
        await store.commit(MIRA, gone, ASKED)
    assert [await results(store, clock, f"who likes the {name}?") for name in names] == before
    at = clock.now - HOUR - timedelta(minutes=1)
    past = await Recall(store, MODEL, of_all_times=store.of_all_times, patience_s=60.0).search(
        MIRA, Question(text="liked boats, day 9995", limit=10, asked_at=at), Visible(now=clock.now, at=at)
    )
    assert past.hits[0].memory.text == "liked boat, day 9995"


async def results(store, clock, text: str) -> list[tuple[object, ...]]:
    recall = Recall(store, MODEL, of_all_times=store.of_all_times, patience_s=60.0)
    result = await recall.search(MIRA, Question(text=text, limit=100, asked_at=NOW), Visible(now=NOW))
    return [(hit.memory, hit.score, hit.signals, hit.is_likely) for hit in result.hits]
