"""Recall over the embedded database: what is written is found at once, what is gone is not."""

from datetime import UTC, datetime
from pathlib import Path

from mnemoir.core.memories import Add, Provenance, Update
from mnemoir.core.scope import Scope
from mnemoir.ports.embedding import Passage
from mnemoir.ports.memory_store import Visible
from mnemoir.search import Indexing, Question, Recall
from mnemoir.storage.sql import SqlMemoryStore
from mnemoir.storage.sqlite import open_database
from tests.search.hashed_words import HashedWords
from tests.search.listed_rows import fact

MIRA = Scope(project="p", user="mira")
NOW = datetime(2026, 1, 21, tzinfo=UTC)
REASON = Provenance(reason="request")


async def test_added_changed_and_deleted_memories_are_found_as_they_are(tmp_path: Path) -> None:
    store, model = SqlMemoryStore(open_database(tmp_path / "m.db")), HashedWords()
    recall, indexing = Recall(store, model), Indexing(model)

    async def found(text: str) -> list[str]:
        result = await recall.search(MIRA, Question(text=text, asked_at=NOW), Visible(now=NOW))
        return [hit.memory.text for hit in result.hits if hit.is_likely]

    try:
        [graz, linz] = await indexing.entries([Passage(text="lives in graz"), Passage(text="lives in linz")])
        [added] = await store.commit(MIRA, [Add(memory=fact("home", "lives in graz"), entry=graz)], REASON)
        assert (await found("graz"), await found("linz")) == (["lives in graz"], [])
        change = Update(target=added.memory.id, expected="lives in graz", text="lives in linz", entry=linz)
        await store.commit(MIRA, [change], REASON)
        assert (await found("graz"), await found("linz")) == ([], ["lives in linz"])
        await store.delete(MIRA, added.memory.id)
        assert await found("linz") == []
    finally:
        await store.aclose()
