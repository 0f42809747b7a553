"""Terms by other rules and vectors of another model are made anew, those of closed memories too."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from mnemoir.core.memories import IndexEntry, Restore, Space
from mnemoir.memory.background import Background
from mnemoir.memory.names.reading import names_of
from mnemoir.memory.reembedding import Reembedding, terms_renewal
from mnemoir.ports.memory_store import Visible
from mnemoir.search import Indexing, Question, Recall
from mnemoir.search.terms import TERMS_VERSION
from mnemoir.storage.sql import SqlJobQueue, SqlMemoryStore
from mnemoir.storage.sqlite import open_database
from tests.contracts.words import ASKED, MIRA, NOW, SetClock, entry, fact, keep, remove, rewrite
from tests.search.hashed_words import HashedWords

MODEL = "many/1"
SECOND = IndexEntry(terms=b"", model=MODEL, vector=b"\0\x3c")
BY_OTHER_RULES = "UPDATE entries SET terms = x'00', names = NULL, terms_by = 'other' WHERE scope_id = :scope_id"
LATER = NOW + timedelta(hours=1)


@pytest.fixture
async def database(tmp_path):
    opened = open_database(tmp_path / "mnemoir.db")
    yield opened
    await opened.aclose()


async def test_terms_made_anew_leave_the_vectors_of_their_text(database):
    store = SqlMemoryStore(database)
    await keep(store, fact("Likes tea with Anna"))
    await store.in_space("many").want(MIRA)
    await store.in_space("many").put_vectors(
        MODEL, [(one, SECOND) for one in await store.in_space("many").without_vector(MODEL, limit=9)]
    )
    await database.write(MIRA, lambda sql: sql.run(BY_OTHER_RULES))
    before = await store.reading(lambda view: view.revision(MIRA))
    made = IndexEntry(terms=b"12345678", model=TERMS_VERSION)
    waiting = await store.terms.without_vector(TERMS_VERSION, limit=9)
    assert await store.terms.put_vectors(TERMS_VERSION, [(one, made) for one in waiting]) == 1
    [row] = await store.reading(lambda view: view.rows_since(MIRA, before.changes))
    kept = fact("Likes tea with Anna")
    anew: Any = {"terms": b"12345678", "names": names_of(kept.memory), "vectors": {Space("many", MODEL): b"\0\x3c"}}
    assert row.entry == replace(kept.entry, token_codes=None, **anew)
    assert (await store.terms.backlog(TERMS_VERSION), await store.in_space("many").backlog(MODEL)) == ((0, 1), (0, 1))


async def test_a_closed_memory_is_found_in_the_past_by_words_and_then_by_meaning(database):
    clock, model = SetClock(), HashedWords()
    store, jobs = SqlMemoryStore(database, clock), Background(SqlJobQueue(database), {})
    [lives] = await keep(store, fact("Lives in Oslo"))
    clock.now = LATER
    await store.commit(MIRA, [rewrite(lives, "Lives in Bergen")], ASKED)
    await database.write(MIRA, lambda sql: sql.run(BY_OTHER_RULES))
    recall = Recall(store, model, of_all_times=store.of_all_times)
    await terms_renewal(store.terms, jobs).fill()
    assert await store.terms.backlog(TERMS_VERSION) == (0, 2)
    assert await past_of(recall, "Who lives in Oslo?", NOW) == (("vectors_pending",), ["Lives in Oslo"])
    await Reembedding(store, Indexing(model), model, jobs, asyncio.Event()).fill()
    assert await past_of(recall, "Who lives in Oslo?", NOW) == ((), ["Lives in Oslo"])


async def past_of(recall: Recall, text: str, at: datetime) -> tuple[tuple[str, ...], list[str]]:
    result = await recall.search(MIRA, Question(text=text, asked_at=at), Visible(now=LATER, at=at))
    return result.degraded, [hit.memory.text for hit in result.hits]


async def test_a_memory_that_is_taken_back_keeps_its_second_vector(database):
    store = SqlMemoryStore(database)
    [tea] = await keep(store, fact("Likes tea"))
    await store.in_space("many").want(MIRA)
    await store.in_space("many").put_vectors(
        MODEL, [(one, SECOND) for one in await store.in_space("many").without_vector(MODEL, limit=9)]
    )
    await store.commit(MIRA, [remove(tea)], ASKED)
    await store.commit(MIRA, [Restore(target=tea.id, expected="Likes tea", entry=entry("Likes tea"))], ASKED)
    assert await store.in_space("many").backlog(MODEL) == (0, 1)
