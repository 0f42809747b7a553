"""A program of an earlier release may rewrite or close a memory: what search lacks of it then is made anew."""

from dataclasses import replace

from mnemoir.core.memories import IndexEntry
from mnemoir.search.terms import TERMS_VERSION
from mnemoir.storage.sql import SqlMemoryStore
from mnemoir.storage.sqlite import open_database
from tests.contracts.words import MIRA, entry, fact, keep

MODEL = "many/1"
AS_BEFORE = """
UPDATE entries SET terms = :terms, model = 'm1', vector = :vector, token_ids = NULL
 WHERE scope_id = :scope_id AND seq = 1
"""

SECOND = IndexEntry(terms=b"", model=MODEL, vector=b"\0\x3c")
CLOSED = "UPDATE memories SET valid_to = 'now', valid_until = 1 WHERE scope_id = :scope_id"
WITHOUT_WORDS = "DELETE FROM entries WHERE scope_id = :scope_id"
OLD_TERMS = "UPDATE entries SET terms = x'00', terms_by = NULL WHERE scope_id = :scope_id"


async def test_a_text_rewritten_by_an_older_program_waits_for_a_new_second_vector(tmp_path):
    database = open_database(tmp_path / "mnemoir.db")
    store = SqlMemoryStore(database)
    await keep(store, fact("Likes tea"), fact("Likes gin"))
    await store.second.want(MIRA)
    waiting = await store.second.without_vector(MODEL, limit=9)
    await store.second.put_vectors(MODEL, [(one, SECOND) for one in waiting])
    assert await store.second.backlog(MODEL) == (0, 2)
    await database.write(MIRA, lambda sql: sql.run(AS_BEFORE, terms=b"12345678", vector=b"\0\0"))
    assert [one.text for one in await store.second.without_vector(MODEL, limit=9)] == ["Likes tea"]
    await database.aclose()


async def test_a_memory_closed_by_an_older_program_waits_for_words_and_a_vector(tmp_path):
    database = open_database(tmp_path / "mnemoir.db")
    store = SqlMemoryStore(database)
    await keep(store, fact("Likes tea"))
    for statement in (CLOSED, WITHOUT_WORDS):
        await database.write(MIRA, lambda sql, statement=statement: sql.run(statement))
    assert await database.check_integrity() == []
    for backlog, model in ((store, "m1"), (store.terms, TERMS_VERSION)):
        assert [one.text for one in await backlog.without_vector(model, limit=9)] == ["Likes tea"]
    await database.aclose()


async def test_terms_made_anew_leave_the_vectors_of_their_text(tmp_path):
    database = open_database(tmp_path / "mnemoir.db")
    store = SqlMemoryStore(database)
    await keep(store, fact("Likes tea"))
    await store.second.want(MIRA)
    await store.second.put_vectors(
        MODEL, [(one, SECOND) for one in await store.second.without_vector(MODEL, limit=9)]
    )
    await database.write(MIRA, lambda sql: sql.run(OLD_TERMS))
    before = await store.reading(lambda view: view.revision(MIRA))
    made = IndexEntry(terms=b"12345678", model=TERMS_VERSION)
    waiting = await store.terms.without_vector(TERMS_VERSION, limit=9)
    assert await store.terms.put_vectors(TERMS_VERSION, [(one, made) for one in waiting]) == 1
    [row] = await store.reading(lambda view: view.rows_since(MIRA, before.changes))
    assert row.entry == replace(
        entry("Likes tea"), terms=b"12345678", token_codes=None, second_model=MODEL, second_vector=b"\0\x3c"
    )
    assert (await store.terms.backlog(TERMS_VERSION), await store.second.backlog(MODEL)) == ((0, 1), (0, 1))
    await database.aclose()
