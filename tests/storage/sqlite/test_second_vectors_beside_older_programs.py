"""A program of an earlier release, which knows no second vectors, may rewrite a text: its vector is made anew."""

from mnemoir.core.memories import IndexEntry
from mnemoir.storage.sql import SqlMemoryStore
from mnemoir.storage.sqlite import open_database
from tests.contracts.words import MIRA, fact, keep

MODEL = "many/1"
AS_BEFORE = """
UPDATE entries SET terms = :terms, model = 'm1', vector = :vector, token_ids = NULL
 WHERE scope_id = :scope_id AND seq = 1
"""


async def test_a_text_rewritten_by_an_older_program_waits_for_a_new_second_vector(tmp_path):
    database = open_database(tmp_path / "mnemoir.db")
    store = SqlMemoryStore(database)
    await keep(store, fact("Likes tea"), fact("Likes gin"))
    await store.second.want(MIRA)
    waiting = await store.second.without_vector(MODEL, limit=9)
    made = IndexEntry(terms=b"", model=MODEL, vector=b"\0\x3c")
    await store.second.put_vectors(MODEL, [(one, made) for one in waiting])
    assert await store.second.backlog(MODEL) == (0, 2)
    await database.write(MIRA, lambda sql: sql.run(AS_BEFORE, terms=b"12345678", vector=b"\0\0"))
    assert [one.text for one in await store.second.without_vector(MODEL, limit=9)] == ["Likes tea"]
    await database.aclose()
