"""A database of an older program is brought to this schema, with all that it holds."""

import asyncio
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import apsw
import pytest

from mnemoir.core.scope import Scope
from mnemoir.memory.background import Background
from mnemoir.memory.reembedding import Reembedding, terms_renewal
from mnemoir.ports.memory_store import Project, Visible
from mnemoir.search import Indexing, Question, Recall
from mnemoir.search.terms import TERMS_VERSION
from mnemoir.storage.sql import SqlJobQueue, SqlMemoryStore, SqlProjectSettings
from mnemoir.storage.sqlite import open_database
from mnemoir.storage.sqlite.data_file import known_steps, migrate, reached
from tests.contracts.words import ALL, ASKED, fact
from tests.search.hashed_words import HashedWords
from tests.storage.sqlite.test_schema_and_queries import Cut, cut_at

RECORDED = Path(__file__).with_name("recorded") / "schema_4.sql"
RECORDED_AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
MIRA, NOAH = (Scope(tenant="t", project="p", user=user) for user in ("mira", "noah"))
TEA, BERGEN, CELLO, CAT, HELLO, ANSWER, LEFT = (f"mem_{n:032x}" for n in range(1, 8))


@pytest.fixture
def older(tmp_path: Path) -> Path:
    path = tmp_path / "data" / "mnemoir.db"
    path.parent.mkdir()
    connection = apsw.Connection(str(path))
    connection.execute(RECORDED.read_text())
    connection.close()
    return path


async def everything(path: Path) -> dict[str, object]:
    """All that the two users of the recorded database have, as the stores give it."""
    database = open_database(path)
    store, jobs = SqlMemoryStore(database, lambda: RECORDED_AT), SqlJobQueue(database)
    try:
        return {
            "mira": [one.text for one in await store.page(MIRA, ALL, limit=9)],
            "noah": [one.text for one in await store.page(NOAH, ALL, limit=9)],
            "history": [(one.event, one.new_text, one.session) for one in await store.history(MIRA, BERGEN)],
            "removed": (await store.removed(NOAH, LEFT)).text,
            "closed": (await store.get(NOAH, CELLO)).valid_to is not None,
            "waiting": [one.text for one in await store.without_vector("m1", limit=9)],
            "said before": [one.id for one in await store.last_messages(replace(MIRA, conversation="c1"), 9)],
            "codes": await store.reading(lambda view: list(view.token_codes(MIRA, view.live(MIRA)).values())),
            "answered": (await store.redeem(MIRA, "k1")) is not None,
            "settings": (await SqlProjectSettings(database).load(Project(tenant="t", project="p"))).search_limit,
            "jobs": [(tally.waiting, tally.running) for tally in await jobs.tally()],
            "problems": await database.check_integrity(),
        }
    finally:
        await database.aclose()


HELD = {
    "mira": ["hello you", "hello there", "Lives in Bergen", "Likes green tea"],
    "noah": ["Has a cat"],
    "history": [("ADD", "Lives in Oslo", "sess_1"), ("UPDATE", "Lives in Bergen", None)],
    "removed": "Left-handed",
    "closed": True,
    "waiting": ["Lives in Bergen", "Lives in Oslo", "Plays the cello", "Has a cat"],
    "said before": [HELLO, ANSWER],
    "codes": [b"codes of 01", b"codes of 05", b"codes of 06"],
    "answered": True,
    "settings": 7,
    "jobs": [(4, 0)],
    "problems": [],
}


async def test_an_older_database_holds_the_same_after_its_migration(older):
    assert await everything(older) == HELD
    assert await everything(older) == HELD


async def test_the_current_memories_of_an_older_database_are_counted_by_day(older):
    database = open_database(older)
    added = await SqlMemoryStore(database, lambda: RECORDED_AT).added(date(2020, 1, 1))
    held = apsw.Connection(str(older))
    days = "SELECT substr(created_at, 1, 10), count(*) FROM memories WHERE valid_to IS NULL GROUP BY 1"
    assert added == dict(held.execute(days)) != {}
    held.close()
    await database.aclose()


@pytest.mark.costly("each call fails once")
async def test_a_migration_killed_at_any_statement_is_finished_by_the_next_start(older):
    whole = older.read_bytes()
    for number in range(200):
        older.write_bytes(whole)
        connection = apsw.Connection(str(older))
        cut_at(connection, number)
        try:
            migrate(connection, known_steps())
        except Cut:
            was_cut = True
        else:
            was_cut = False
        connection.exec_trace = None
        assert reached(connection) in range(4, len(known_steps()) + 1)
        connection.close()
        migrated = apsw.Connection(str(older))
        migrate(migrated, known_steps())
        assert migrated.execute("SELECT count(*) FROM entries").get == 7
        assert migrated.execute("PRAGMA foreign_key_check").fetchall() == []
        migrated.close()
        if not was_cut:
            assert await everything(older) == HELD
            return
    pytest.fail("the migration never came to its end")


async def test_what_an_older_database_closed_gets_words_and_vectors_behind_the_requests(older):
    database, model = open_database(older), HashedWords()
    store = SqlMemoryStore(database, lambda: RECORDED_AT)
    jobs = Background(SqlJobQueue(database), {})
    recall = Recall(store, model, of_all_times=store.of_all_times)
    await terms_renewal(store.terms, jobs).fill()
    assert await store.terms.backlog(TERMS_VERSION) == (0, 7)
    await database.write(None, lambda sql: sql.run(LONG_AGO))  # its closed memories never were current
    assert await past_of(recall, "Who lives in Oslo?") == (("vectors_pending",), ["Lives in Oslo"])
    await Reembedding(store, Indexing(model), model, jobs, asyncio.Event()).fill()
    assert await past_of(recall, "Who lives in Oslo?") == ((), ["Lives in Oslo"])
    await database.aclose()


OSLO_AT = datetime(2026, 1, 1, tzinfo=UTC)
LONG_AGO = "UPDATE memories SET valid_from = 0 WHERE valid_to IS NOT NULL"


async def past_of(recall: Recall, text: str) -> tuple[tuple[str, ...], list[str]]:
    result = await recall.search(MIRA, Question(text=text, asked_at=OSLO_AT), Visible(now=RECORDED_AT, at=OSLO_AT))
    return result.degraded, [hit.memory.text for hit in result.hits]


async def test_jobs_of_an_older_database_run_in_their_order(older):
    database = open_database(older)
    jobs = SqlJobQueue(database)
    first = await jobs.claim("one", 60)
    assert (first.id, first.attempts) == ("evt_0", 2)  # it was running when the older program ended
    await jobs.done(first, {})
    assert (await jobs.claim("one", 60)).id == "evt_1"
    await database.aclose()


async def test_a_new_memory_of_an_older_database_gets_the_next_number_of_its_user(older):
    database = open_database(older)
    store = SqlMemoryStore(database)
    before = await store.reading(lambda view: list(view.live(NOAH)))
    await store.commit(NOAH, [fact("Sings", scope=NOAH)], ASKED)
    assert await store.reading(lambda view: list(view.live(NOAH))) == [*before, max(before) + 1]
    await database.aclose()
