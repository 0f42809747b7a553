"""With a codec nothing that a user said, and nothing made of it, is stored as it is; all reads as ever."""

from base64 import b64decode, b64encode
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from mnemoir.core.memories import Provenance, SourceTurn
from mnemoir.ports.memory_store import Receipt
from mnemoir.storage.sql import SqlJobQueue, SqlMemoryStore
from mnemoir.storage.sqlite import open_database
from tests.contracts.words import ALL, MIRA, fact, remove, rewrite

WORDS = ("Zanzibarquince", "Tandemzinnober", "Quillwortlantern", "Kestrelmarzipan", "Bramblesextant", "Cobaltparsnip")
VECTOR, TERMS, CODES, TOKENS = (bytes(range(start, start + 24)) for start in (1, 50, 100, 150))


class OnceOnly:
    """Stores equal cells differently, each with the number of its scope."""

    mark = "\x01sealed:"

    def __init__(self) -> None:
        self._numbers = count()

    def seal(self, scope_id: int | None, cell: str | bytes) -> str | bytes:
        raw = cell.encode() if isinstance(cell, str) else cell
        mixed = b64encode(bytes(byte ^ 0x55 for byte in raw)).decode()
        stored = f"{self.mark}{scope_id}:{next(self._numbers)}:{mixed}"
        return stored if isinstance(cell, str) else stored.encode()

    def open(self, stored: str | bytes) -> str | bytes:
        text = stored if isinstance(stored, str) else stored.decode("latin-1")
        if not text.startswith(self.mark):
            return stored
        raw = bytes(byte ^ 0x55 for byte in b64decode(text.rpartition(":")[2]))
        return raw.decode() if isinstance(stored, str) else raw


async def everything(path: Path, codec: OnceOnly | None, *, writes: bool = True) -> dict[str, object]:
    """What is read of a user after all kinds of changes; without `writes`, of what was written before."""
    database = open_database(path, codec)
    store, jobs = SqlMemoryStore(database), SqlJobQueue(database)
    try:
        if writes:
            await _write(store, jobs)
        found = await store.page(MIRA, ALL, limit=9)
        rows = await store.reading(lambda view: [view.rows_since(MIRA, -1), view.token_codes(MIRA, view.live(MIRA))])
        history = [entry for memory in found for entry in await store.history(MIRA, memory.id)]
        (taken,) = [await store.removed(MIRA, "mem_gone")]
        redeemed = await store.redeem(MIRA, "k")
        (job,) = await jobs.kept("q")
        return {
            "memories": [(one.text, one.metadata, one.extra) for one in found],
            "rows": [rows[0][-1].entry, list(rows[1].values())],
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
    await jobs.put("evt_1", "remember", {"turn": WORDS[5]}, queue="q")


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    return [tmp_path / name / "mnemoir.db" for name in ("plain", "sealed")]


def found_in(path: Path) -> set[bytes]:
    stored = b"".join(file.read_bytes() for file in path.parent.iterdir())
    return {words for words in (*(word.encode() for word in WORDS), VECTOR, TERMS, CODES, TOKENS) if words in stored}


async def test_all_reads_as_without_a_codec_and_no_cell_is_stored_as_it_is(paths):
    plain, sealed = paths
    assert await everything(sealed, OnceOnly()) == await everything(plain, None)
    assert len(found_in(plain)) == len(WORDS) + 4
    assert found_in(sealed) == set()


async def test_what_was_stored_without_a_codec_is_read_with_one_and_forgotten(paths):
    plain, sealed = paths
    for path, codec in ((plain, None), (sealed, OnceOnly())):
        await everything(path, codec)
    assert await everything(plain, OnceOnly(), writes=False) == await everything(sealed, OnceOnly(), writes=False)
    assert (await everything_left(sealed), found_in(plain) - {WORDS[5].encode()}) == ([], set())


async def everything_left(path: Path) -> list[str]:
    database = open_database(path, OnceOnly())
    try:
        return [one.text for one in await SqlMemoryStore(database).page(MIRA, ALL, limit=9)]
    finally:
        await database.aclose()
