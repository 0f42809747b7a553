"""With encryption nothing that a user said, and nothing made of it, is stored as it is; all reads as ever."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import apsw
import pytest

from mnemoir.core.errors import KeyUnavailable
from mnemoir.core.ids import JobId, MemoryId
from mnemoir.core.memories import IndexEntry, Provenance, SourceTurn
from mnemoir.core.scope import Scope
from mnemoir.core.text import content_hash
from mnemoir.ports.memory_store import Receipt
from mnemoir.ports.search_rows import SearchRow
from mnemoir.storage.sealing import resealing
from mnemoir.storage.sealing.cells import Cells
from mnemoir.storage.sealing.key_ring import KeyRing
from mnemoir.storage.sql import SqlJobQueue, SqlMemoryStore
from mnemoir.storage.sql.engine import Sql, Value
from mnemoir.storage.sql.tables import main_file
from mnemoir.storage.sqlite import open_database
from mnemoir.storage.sqlite.database import SqliteEngine
from mnemoir.storage.sqlite.sealed_sql import sealing
from tests.contracts.words import ALL, ASKED, MIRA, fact, remove, rewrite, texts
from tests.narrowing import instance
from tests.storage.sealing_kit import a_key, cells_in

OMAR = Scope(project="demo", user="omar")
WORDS = ("Zanzibarquince", "Tandemzinnober", "Quillwortlantern", "Kestrelmarzipan", "Bramblesextant", "Cobaltparsnip")
VECTOR, TERMS, CODES, TOKENS = (bytes(range(start, start + 24)) for start in (1, 50, 100, 150))


async def everything(path: Path, cells: Cells | None, *, writes: bool = True) -> dict[str, object]:
    """What is read of a user after all kinds of changes; without `writes`, of what was written before."""
    database = opened(path, cells)
    store, jobs = SqlMemoryStore(database), SqlJobQueue(database)
    try:
        if writes:
            await _write(store, jobs)
        found = await store.page(MIRA, ALL, limit=9)
        rows = await store.reading(lambda view: view.rows_since(MIRA, -1))
        codes = await store.reading(lambda view: view.token_codes(MIRA, view.live(MIRA)))
        history = [entry for memory in found for entry in await store.history(MIRA, memory.id)]
        (taken,) = [await store.memory_at_removal(MIRA, MemoryId("mem_gone"))]
        redeemed = await store.redeem(MIRA, "k")
        (job,) = await jobs.stored_jobs("q")
        return {
            "memories": [(one.text, one.metadata, one.extra) for one in found],
            "rows": [rows[-1].entry, list(codes.values())],
            "history": [(entry.old_text, entry.new_text, entry.turns) for entry in history],
            "removed": taken and (taken.text, taken.metadata),
            "receipt": redeemed and [one.memory.text for one in redeemed.applied],
            "job": job.payload,
            "said there": await store.forget_session(MIRA, "s1") if not writes else None,
        }
    finally:
        await database.aclose()


async def _write(store: SqlMemoryStore, jobs: SqlJobQueue) -> None:
    told = Provenance(reason="extracted", turns=(SourceTurn(role="user", text=WORDS[0]),), session="s1")
    add = fact(WORDS[1], id="mem_told", metadata={"note": WORDS[2]}, extra={"more": WORDS[3]})
    entry = replace(add.entry, terms=TERMS, vector=VECTOR, token_ids=TOKENS, token_codes=CODES)
    receipt = Receipt(key="k", request_hash="h")
    (stored,) = await store.commit(MIRA, [replace(add, entry=entry)], told, receipt=receipt)
    await store.commit(MIRA, [replace(rewrite(stored.memory, WORDS[4]), entry=entry)], told)
    (gone,) = await store.commit(MIRA, [fact(WORDS[0], id="mem_gone", metadata={"note": WORDS[1]})], told)
    await store.commit(MIRA, [remove(gone.memory)], told)
    await jobs.put(JobId("evt_1"), "remember", {"turn": WORDS[5]}, queue="q")


def opened(path: Path, cells: Cells | None) -> SqliteEngine:
    return open_database(path) if cells is None else open_database(path, sealing(cells))


@pytest.fixture
def cells(tmp_path) -> Iterator[Cells]:
    made = cells_in(tmp_path / "keys")
    yield made
    instance(KeyRing, made.keys).close()


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    return [tmp_path / name / "mnemoir.db" for name in ("plain", "sealed")]


def found_in(path: Path) -> set[bytes]:
    stored = b"".join(file.read_bytes() for file in path.parent.iterdir())
    return {words for words in (*(word.encode() for word in WORDS), VECTOR, TERMS, CODES, TOKENS) if words in stored}


async def test_all_reads_as_without_encryption_and_no_cell_is_stored_as_it_is(paths, cells):
    plain, sealed = paths
    assert await everything(sealed, cells) == await everything(plain, None)
    assert len(found_in(plain)) == len(WORDS) + 4
    assert found_in(sealed) == set()


async def test_what_was_stored_plain_is_read_with_encryption_and_forgotten(paths, cells):
    plain, sealed = paths
    for path, used in ((plain, None), (sealed, cells)):
        await everything(path, used)
    assert await everything(plain, cells, writes=False) == await everything(sealed, cells, writes=False)
    assert (await everything_left(sealed, cells), found_in(plain) - {WORDS[5].encode()}) == ([], set())


async def everything_left(path: Path, cells: Cells) -> list[str]:
    database = opened(path, cells)
    try:
        return [one.text for one in await SqlMemoryStore(database).page(MIRA, ALL, limit=9)]
    finally:
        await database.aclose()


async def test_texts_are_known_again_and_no_bare_digest_is_stored(paths, cells):
    database = opened(paths[1], cells)
    store = SqlMemoryStore(database)
    await store.commit(MIRA, [fact("Likes tea")], ASKED)
    assert await store.commit(MIRA, [fact("likes tea.")], ASKED) == []
    (told,) = (await store.same_text(MIRA, [content_hash("LIKES TEA")])).values()
    await store.commit(MIRA, [rewrite(told, "Likes coffee")], ASKED)
    assert await texts(store, MIRA, ALL) == ["Likes coffee"]
    stored = await database.read(None, lambda sql: sql.rows("SELECT content_hash FROM memories"))
    bare = {content_hash("Likes tea"), content_hash("Likes coffee")}
    assert (len(stored), bare & {hashed for (hashed,) in stored}) == (2, set())
    await database.aclose()


@pytest.mark.parametrize(
    "swap",
    [
        "UPDATE memories SET text = (SELECT text FROM memories AS o WHERE o.seq <> memories.seq)",
        "UPDATE memories SET text = (SELECT old_text FROM history WHERE old_text IS NOT NULL)",
        "UPDATE memories SET metadata = text",
        "UPDATE memories SET text = (SELECT new_text FROM history LIMIT 1)",
    ],
)
async def test_a_cell_that_was_moved_is_refused(paths, cells, swap):
    path = paths[1]
    database = opened(path, cells)
    store = SqlMemoryStore(database)
    (first,) = await store.commit(MIRA, [fact("Likes tea", metadata={"a": 1})], ASKED)
    await store.commit(MIRA, [rewrite(first.memory, "Likes rum")], ASKED)
    await database.aclose()
    connection = apsw.Connection(str(path))
    connection.execute(swap)
    connection.close()
    database = opened(path, cells)
    with pytest.raises(KeyUnavailable, match="does not open"):
        await SqlMemoryStore(database).page(MIRA, ALL, limit=9)
    await database.aclose()


@pytest.mark.parametrize(
    "move",
    [
        "UPDATE vectors SET seq = 2 WHERE scope_id = :scope_id",
        "UPDATE vectors SET space = 'other' WHERE scope_id = :scope_id",
        "UPDATE vectors SET part = 1 WHERE scope_id = :scope_id",
    ],
)
async def test_a_vector_of_a_further_space_that_was_moved_is_refused(paths, cells, move):
    database = opened(paths[1], cells)
    store, waits = SqlMemoryStore(database), frozenset(("many",))
    for text in ("Likes tea", "Likes rum"):
        add = fact(text)
        await store.commit(MIRA, [replace(add, entry=replace(add.entry, waits=waits))], ASKED)
    many = store.in_space("many")
    [tea, _] = await many.without_vector("many/1", limit=9)
    await many.put_vectors("many/1", [(tea, IndexEntry(terms=b"", model="many/1", vector=VECTOR))])
    assert VECTOR not in b"".join(file.read_bytes() for file in paths[1].parent.iterdir())
    await database.write(MIRA, lambda sql: sql.run("DELETE FROM vectors WHERE scope_id = :scope_id AND seq = 2"))
    await database.write(MIRA, lambda sql: sql.run(move))
    with pytest.raises(KeyUnavailable, match=r"vector.*does not open"):
        await store.reading(lambda view: view.rows_since(MIRA, -1))
    await database.aclose()


async def test_a_cell_of_another_user_is_refused(paths, cells):
    path = paths[1]
    database = opened(path, cells)
    await SqlMemoryStore(database).commit(MIRA, [fact("Likes tea")], ASKED)
    await SqlMemoryStore(database).commit(OMAR, [fact("Likes rum", scope=OMAR)], ASKED)
    await database.aclose()
    connection = apsw.Connection(str(path))
    connection.execute(
        "UPDATE memories SET text = (SELECT text FROM memories AS o WHERE o.scope_id <> memories.scope_id)"
    )
    connection.close()
    database = opened(path, cells)
    with pytest.raises(KeyUnavailable, match="does not open"):
        await SqlMemoryStore(database).page(MIRA, ALL, limit=9)
    await database.aclose()


async def test_a_wrong_key_is_told_and_damages_nothing(paths, cells, tmp_path):
    path = paths[1]
    before = await everything(path, cells)
    cells.keys.close()
    for wrong, cause in ((a_key(2), "does not have"), ("c2hvcnQ=", "32 bytes")):
        database = opened(path, cells_in(tmp_path / "keys", wrong))
        store = SqlMemoryStore(database)
        for work in (
            store.page(MIRA, ALL, limit=9),
            store.commit(MIRA, [fact("Likes gin")], ASKED),
            store.commit(OMAR, [fact("Likes gin", scope=OMAR)], ASKED),
        ):
            with pytest.raises(KeyUnavailable, match=cause):
                await work
        await database.aclose()
    again = cells_in(tmp_path / "keys")
    assert await everything(path, again, writes=False) | {"said there": None} == before
    instance(KeyRing, again.keys).close()


BOUND_TO_ITS_ROW = "UPDATE entries SET vector = (SELECT vector FROM entries AS o WHERE o.seq <> entries.seq)"
ONE_COLUMN_ALONE = "UPDATE entries SET vector = unhex('0145313A' || substr(hex(vector), 9))"


@pytest.mark.parametrize("swap", [BOUND_TO_ITS_ROW, ONE_COLUMN_ALONE])
async def test_words_and_vector_of_a_memory_are_one_cell_that_stands_for_them_alone(paths, cells, swap):
    database = opened(paths[1], cells)
    store = SqlMemoryStore(database)
    await store.commit(MIRA, [fact("Likes tea"), fact("Likes rum")], ASKED)
    assert [row.entry.terms for row in await rows_of(store)] == [b"Likes te", b"Likes ru"]
    await changed(paths[1], swap)
    with pytest.raises(KeyUnavailable, match=r"entries vector.* does not open"):
        await rows_of(store)
    await database.aclose()


async def rows_of(store: SqlMemoryStore) -> list[SearchRow]:
    return await store.reading(lambda view: list(view.rows_since(MIRA, -1)))


async def changed(path: Path, statement: str, *values: bytes) -> None:
    """Run a statement past the encryption."""
    connection = apsw.Connection(str(path))
    connection.execute(statement, values)
    connection.close()


async def test_vectors_of_one_memory_in_many_spaces_are_all_encrypted_page_by_page(paths, cells, monkeypatch):
    monkeypatch.setattr(resealing, "ROWS_AT_ONCE", 3)
    database, names = opened(paths[1], None), ("one", "other")
    store = SqlMemoryStore(database)
    for text in ("Likes tea", "Likes rum", "Likes ale"):
        add = fact(text)
        await store.commit(MIRA, [replace(add, entry=replace(add.entry, waits=frozenset(names)))], ASKED)
    for name in names:
        waiting = await store.in_space(name).without_vector("m", limit=9)
        made = IndexEntry(terms=b"", model="m", vector=VECTOR)
        await store.in_space(name).put_vectors("m", [(one, made) for one in waiting])
    await database.aclose()
    database = opened(paths[1], cells)

    def page(sql: Sql, after: Value) -> Value:
        key = cells.keys.current(("", "demo", "mira"))
        return resealing.reseal_rows(sql, cells, "vectors", after, key, file=main_file())

    after: Value = resealing.before_first(main_file(), "vectors")
    while after is not None:
        after = await database.write(MIRA, partial(page, after=after))
    stored = await database.read(None, lambda sql: sql.rows("SELECT hex(vector) FROM vectors"))
    assert [vector[:8] for (vector,) in stored] == ["0145313A"] * 6
    await database.aclose()
