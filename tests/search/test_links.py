"""Statements that hang together with a question by names take the last places, and never a first one."""

from collections import defaultdict
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from mnemoir.core.clock import to_text
from mnemoir.core.memories import Add, Update
from mnemoir.memory.names import reading
from mnemoir.ports.embedding import Passage
from mnemoir.ports.memory_store import Visible
from mnemoir.search import Indexing, Question, Recall
from mnemoir.search.frozen import frozen_from
from mnemoir.search.index import ScopeIndex
from mnemoir.search.linked import with_linked_hits
from mnemoir.search.links.name_keys import Mode, key_of_name, pack_names
from mnemoir.search.links.name_rows import NameRows
from mnemoir.search.links.walk import places_of, walk
from mnemoir.storage.sql import SqlMemoryStore
from mnemoir.storage.sqlite import open_database
from tests.contracts.words import ASKED, MIRA, NOW, fact
from tests.search.hashed_words import HashedWords
from tests.search.linked_users import user

MODEL = HashedWords()
VISIBLE = Visible(now=NOW + timedelta(days=1))
FAMILY = ["Sister is called Anna", "Anna works at Norlin", "Norlin has its office in Graz"]
DRINKS = ("tea", "milk", "water", "juice", "cocoa", "coffee", "cider", "punch", "broth", "soda")
FILLING = [f"Drinks {drink} in the morning" for drink in DRINKS]
WHERE = "Where does my sister work?"


@pytest.fixture
async def store(tmp_path):
    database = open_database(tmp_path / "mnemoir.db")
    yield SqlMemoryStore(database)
    await database.aclose()


async def keep(store, *texts, scope=MIRA, **members):
    entries = await Indexing(MODEL).entries([Passage(text=text) for text in texts])
    adds = [
        Add(memory=fact(text, scope=scope, **members).memory, entry=entry)
        for text, entry in zip(texts, entries, strict=True)
    ]
    return [one.memory for one in await store.commit(scope, adds, ASKED)]


async def find(store, text=WHERE, *, scope=MIRA, visible=VISIBLE, names=reading, limit=10, **more):
    recall = Recall(store, MODEL, names=names, of_all_times=store.of_all_times)
    question = Question(text=text, limit=limit, asked_at=NOW, **more)
    found = await recall.search(scope, question, visible)
    return replace(found, hits=with_linked_hits(found.hits, found.linked, limit))


def texts(found):
    return [hit.memory.text for hit in found.hits]


def linked(found):
    hits = [hit for hit in found.hits if "linked" in hit.signals]
    return {hit.memory.text: reading.words_by_key(hit.memory.text)[hit.linked_by] for hit in hits}


async def test_what_hangs_together_with_the_question_has_the_last_places_and_tells_the_way(store):
    near = [f"Does {what} work in summer" for what in ("some", "odd", "hard", "good", "my")]
    await keep(store, *FAMILY, *FILLING, *near)
    plain, found = await find(store, names=None), await find(store)
    assert texts(found)[:7] == texts(plain)[:7]
    assert set(FAMILY) <= set(texts(found))
    assert linked(found)["Norlin has its office in Graz"] == "Norlin"
    assert linked(found).get("Anna works at Norlin", "Anna") == "Anna"
    assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)
    assert not found.stages["links"].skipped


async def test_a_question_in_another_language_finds_the_same_kin(store):
    await keep(store, "Schwester heißt Anna", *FAMILY[1:], *FILLING)
    assert {"Schwester heißt Anna", *FAMILY[1:]} <= set(texts(await find(store)))


@pytest.mark.parametrize("needed", [2, 3])
async def test_french_questions_find_all_facts_that_they_need(store, needed):
    shares = defaultdict(list)
    for number in range(3):
        facts, questions = user(number)
        await keep(store, *facts, scope=replace(MIRA, user=f"user {number}"))
        for question, need in questions:
            for limit in (5, 10):
                found = await find(store, question, scope=replace(MIRA, user=f"user {number}"), limit=limit)
                shares[len(need), limit].append(set(need) <= set(texts(found)))
    assert np.mean(shares[needed, 10]) >= {2: 0.9, 3: 0.6}[needed]
    assert np.mean(shares[2, 5]) >= 0.6
    assert all(shares[1, 5])


async def test_without_names_to_read_nothing_is_linked_and_no_stage_is_told(store):
    await keep(store, *FAMILY, *FILLING)
    found = await find(store, names=None)
    assert (found.linked, linked(found), "links" in found.stages) == ([], {}, False)


@pytest.mark.parametrize(
    ("question", "limit", "why"),
    [
        (WHERE, 3, "too few results are asked for"),
        ("Drinks tea?", 10, "neither the question nor the best results have a name"),
        ("Does Zoe drink tea in the morning?", 10, "neither the question nor the best results have a name"),
    ],
)
async def test_the_stage_is_left_out_with_its_reason(store, question, limit, why):
    await keep(store, *FILLING)
    found = await find(store, question, limit=limit)
    assert (found.stages["links"].skipped, found.linked) == (why, [])


async def test_a_name_in_too_many_memories_links_nothing(store):
    await keep(store, *(f"Anna has {number} plans" for number in range(60)), "Sister is called Anna")
    found = await find(store, "What does Anna plan?")
    assert (found.stages["links"].skipped, found.linked) == ("the names are in too many memories", [])


async def test_nothing_is_added_to_results_whose_best_is_unlikely(store):
    await keep(store, *FAMILY)
    found = await find(store, "Wie geht es der Hermana?")
    assert found.hits
    assert not found.hits[0].is_likely
    assert (found.stages["links"].skipped, found.linked) == ("the best result is unlikely", [])


async def test_another_agents_memories_are_neither_linked_nor_on_the_way(store):
    await keep(store, FAMILY[1], *FILLING)
    await keep(store, FAMILY[0], scope=replace(MIRA, agent="travel"))
    await keep(store, FAMILY[1], scope=replace(MIRA, agent="cooking"))
    found = await find(store, scope=replace(MIRA, agent="cooking"))
    assert linked(found) == {}
    assert FAMILY[0] in texts(await find(store, scope=replace(MIRA, agent="travel")))


async def test_thresholds_and_the_past_hold_for_linked_memories(store):
    sister, *_ = await keep(store, *FAMILY, *FILLING)
    later = to_text(NOW + timedelta(hours=2))
    [entry] = await Indexing(MODEL).entries([Passage(text="Sister is called Berta")])
    change = Update(target=sister.id, expected=FAMILY[0], text="Sister is called Berta", entry=entry, at=later)
    await store.commit(MIRA, [change], ASKED)
    assert FAMILY[1] not in linked(await find(store))
    before = replace(VISIBLE, at=NOW + timedelta(hours=1))
    assert {FAMILY[0], FAMILY[1]} <= set(texts(await find(store, visible=before)))
    high = await find(store, visible=before, threshold=0.9)
    assert all(hit.score >= 0.9 for hit in high.hits)


async def test_trouble_with_links_degrades_the_answer_and_takes_nothing_away(store):
    class Unreadable:
        def possible_names(self, question):
            raise ValueError("odd")

    await keep(store, *FAMILY, *FILLING)
    found = await find(store, names=Unreadable())
    assert ("links" in found.degraded, texts(found)) == (True, texts(await find(store, names=None)))


def named(*words, mode=Mode.NAME):
    return pack_names({key_of_name(word): mode for word in words})


def way_among(rows, asked, best=()):
    names = NameRows()
    names.extend(rows)
    return walk(names, np.ones(len(rows), bool), asked, best)


def test_a_word_is_a_name_by_all_that_the_user_said():
    anna = key_of_name("anna")
    first, sure = named("anna", mode=Mode.FIRST), named("anna")
    noun, small, own = (named("anna", mode=mode) for mode in (Mode.NOUN, Mode.SMALL, Mode.USER))

    def reached(*rows):
        return way_among(rows, [anna], []).slots.tolist()

    assert reached(first, first) == []
    assert reached(first, sure) == [0, 1]
    assert reached(first, noun) == [0, 1]
    assert reached(first, noun, small) == []
    assert reached(sure, noun, small) == [0, 1]
    assert reached(sure, first, own) == []


def test_ten_thousand_statements_with_equal_names_link_nothing():
    way = way_among([named("anna", "norlin")] * 10_000, [key_of_name("anna")], [0, 1, 2])
    assert (way.skipped, len(way.slots)) == ("the names are in too many memories", 0)


def test_a_name_takes_at_most_forty_bytes_in_memory():
    rows = [named(f"person {number}", f"firm {number % 900}", "graz") for number in range(10_000)]
    names = NameRows()
    names.extend(rows)
    assert names.nbytes <= 40 * sum(len(row) // 8 for row in rows)


def test_a_way_has_three_steps_and_each_is_worth_less():
    rows = [named(*pair) for pair in ("ab", "bc", "cd", "de")]
    way = way_among(rows, [key_of_name("a")], [])
    assert way.slots.tolist() == [0, 1, 2]
    assert way.by.tolist() == [key_of_name(name) for name in "abc"]
    assert way.worth[0] > way.worth[1] > way.worth[2] > 0


@pytest.mark.parametrize(("limit", "places"), [(1, 0), (3, 0), (4, 1), (5, 2), (10, 3), (20, 6), (100, 30)])
def test_the_last_three_tenths_are_for_links(limit, places):
    assert places_of(limit) == places


async def test_a_stored_index_has_the_names_of_the_living_rows(store):
    kept = await keep(store, *FAMILY)
    index = ScopeIndex(MODEL.name, None)
    index.put(await store.reading(lambda view: view.rows_since(MIRA, -1)))
    index.keep([seq for seq in index.seqs.tolist() if seq != index.seqs[1]])
    thawed = frozen_from(index.frozen().of_the_living().as_arrays(index.space), index.space)
    again = ScopeIndex(MODEL.name, None, thawed)
    assert len(kept) == 3
    assert again.names.of(np.array([0, 1]))[0].tolist() == [
        *index.names.of(np.array([0]))[0].tolist(),
        *index.names.of(np.array([2]))[0].tolist(),
    ]
    assert walk(again.names, again.alive, [key_of_name("graz")], []).slots.tolist() == [1]
