"""An index that was kept is taken up again, as it was or not at all."""

import asyncio
import stat
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest

from mnemoir.core.memories import Add, Provenance
from mnemoir.core.scope import Scope
from mnemoir.ports.embedding import Passage
from mnemoir.ports.memory_store import Visible
from mnemoir.search import Indexing, Question, Recall, SearchResult
from mnemoir.search.frozen import frozen_from
from mnemoir.search.residents import Residents
from mnemoir.storage.pack_files import PackFiles
from mnemoir.storage.sql import SqlMemoryStore
from mnemoir.storage.sqlite import open_database
from tests.search.hashed_words import HashedWords
from tests.search.listed_rows import ListedRows, fact, message
from tests.stages import staged

T = TypeVar("T")
MIRA = Scope(project="p", user="mira")
NOW = datetime(2026, 1, 21, tzinfo=UTC)
SEEN = Visible(now=NOW)
MODEL = HashedWords()


@pytest.fixture(autouse=True)
def few_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemoir.search.resident.FEWEST_PACKED", 1)


@pytest.fixture
def packs(tmp_path: Path) -> PackFiles:
    return PackFiles(tmp_path / "cache" / "memories")


def files(packs: PackFiles) -> list[Path]:
    return [path for path in packs._folder.rglob("*") if path.is_file()]


async def written(store: ListedRows, *texts: str) -> ListedRows:
    entries = await Indexing(MODEL).entries([Passage(text=text) for text in texts])
    for text, entry in zip(texts, entries, strict=True):
        said = message(text, text, speaker="Ann", conversation="c") if text.startswith("I ") else fact(text, text)
        store.add(MIRA, said, entry)
    return store


async def search(recall: Recall, text: str) -> SearchResult:
    return await recall.search(MIRA, Question(text=text, asked_at=NOW), SEEN)


async def kept(store: ListedRows, packs: PackFiles) -> None:
    """Search once and end, so that the index is kept."""
    recall = Recall(store, MODEL, packs=packs)
    await search(recall, "tea")
    await recall.aclose()


def texts_and_scores(result: SearchResult) -> list[tuple[str, float]]:
    return [(hit.memory.text, hit.score) for hit in result.hits if hit.is_likely]


async def test_a_restart_reads_only_what_was_written_since_and_ranks_alike(packs: PackFiles) -> None:
    store = await written(
        ListedRows(), "drinks green tea", "I like tea", "I like rum", "walks the dog", "tea at five"
    )
    store.remove(MIRA, 5)
    await kept(store, packs)
    await written(store, "sells tea", "I drink tea at night")
    store.rows_read = 0
    found = await search(Recall(store, MODEL, packs=packs), "who drinks tea at night?")
    assert store.rows_read <= 6 + 2  # the last changes are compared
    assert texts_and_scores(found) == texts_and_scores(await search(Recall(store, MODEL), "who drinks tea at night?"))


async def test_what_was_removed_since_is_not_found(packs: PackFiles) -> None:
    store = await written(ListedRows(), "drinks tea", "sells tea")
    await kept(store, packs)
    store.remove(MIRA, 1)
    found = await search(Recall(store, MODEL, packs=packs), "tea")
    assert [hit.memory.text for hit in found.hits if hit.is_likely] == ["sells tea"]


async def test_a_pack_holds_nothing_of_rows_that_are_gone(packs: PackFiles) -> None:
    store, residents = await written(ListedRows(), "I like tea", "drinks rum"), Residents(MODEL.name, None)
    with residents.index(store, MIRA):
        store.remove(MIRA, 1)
    with residents.index(store, MIRA) as index:
        frozen = index.frozen()
    lean = frozen.of_the_living()
    assert (list(frozen.names), list(lean.names)) == (["Ann", "c"], [])
    assert all(len(lean.arrays[name]) == 1 for name in ("seq", "vectors", "places", "token_ends"))
    assert len(lean.pieces[0].slots) == 2


async def test_rows_that_read_otherwise_are_read_anew_as_after_an_old_backup(packs: PackFiles) -> None:
    await kept(await written(ListedRows(), "drinks tea", "sells rum"), packs)
    restored = await written(ListedRows(), "drinks tea", "paints trains", "sells tea")
    found = await search(Recall(restored, MODEL, packs=packs), "rum")
    assert not [hit for hit in found.hits if hit.is_likely]
    older = await written(ListedRows(), "drinks tea")
    assert texts_and_scores(await search(Recall(older, MODEL, packs=packs), "rum")) == []


@pytest.mark.parametrize("name", ["other", ""])
async def test_another_model_has_another_pack(packs: PackFiles, name: str) -> None:
    await kept(await written(ListedRows(), "drinks tea"), packs)
    assert packs.read(MIRA, name) is None
    arrays = packs.read(MIRA, MODEL.name)
    assert arrays is not None
    assert frozen_from(arrays, name) is None


@pytest.mark.parametrize("part", staged(range(8), quick=1))
async def test_a_damaged_pack_is_thrown_away_or_harmless(packs: PackFiles, part: int) -> None:
    store = await written(ListedRows(), "drinks green tea", "I like tea", "I like rum", "walks the dog")
    await kept(store, packs)
    [path] = files(packs)
    whole, expected = path.read_bytes(), texts_and_scores(await search(Recall(store, MODEL), "green tea"))
    for place in (*range(97 * part, len(whole), 97 * 8), -1):
        damaged = bytearray(whole)
        damaged[place] ^= 0x41
        path.write_bytes(damaged if place >= 0 else whole[: len(whole) // 2])
        recall = Recall(store, MODEL, packs=packs)
        found = await search(recall, "green tea")
        await recall.aclose()
        assert texts_and_scores(found) == expected


async def test_packs_are_private_and_nothing_is_left_beside_them(packs: PackFiles) -> None:
    store = await written(ListedRows(), "drinks tea")
    await kept(store, packs)
    [path] = files(packs)
    (path.parent / "left.tmp").write_bytes(b"by a killed writer")
    packs.write(MIRA, "other", {"head": np.zeros(1)}, packs.mark(MIRA))
    [new] = files(packs)
    assert new != path
    assert stat.S_IMODE(new.stat().st_mode) == 0o600


async def test_what_was_dropped_while_it_was_written_is_not_kept(packs: PackFiles) -> None:
    mark = packs.mark(MIRA)
    packs.drop(MIRA)
    packs.write(MIRA, "model", {"head": np.zeros(1)}, mark)
    assert files(packs) == []


async def test_a_pack_that_cannot_be_written_hinders_no_search(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file in its place")
    await kept(await written(ListedRows(), "drinks tea"), PackFiles(tmp_path / "cache"))


async def test_a_removal_leaves_no_pack(tmp_path: Path, packs: PackFiles) -> None:
    database = open_database(tmp_path / "m.db")
    store = SqlMemoryStore(database, packs=packs)
    recall = Recall(store, MODEL, packs=packs)
    try:
        [entry] = await Indexing(MODEL).entries([Passage(text="drinks tea")])
        adds = [Add(memory=fact(name, f"{name} drinks tea"), entry=entry) for name in ("ann", "bob")]
        [first, _] = await store.commit(MIRA, adds, Provenance(reason="request"))
        await search(recall, "tea")
        await recall.aclose()
        assert len(files(packs)) == 1
        await store.delete(MIRA, first.memory.id)
        assert files(packs) == []
    finally:
        await database.aclose()


class GatedRows(ListedRows):
    """Nothing is read behind the first two looks before the gate is open."""

    def __init__(self) -> None:
        super().__init__()
        self.looks, self.looked_twice, self.gate = 0, asyncio.Event(), asyncio.Event()

    async def reading(self, work: Callable[[ListedRows], T]) -> T:
        self.looks += 1
        found = work(self)
        if self.looks == 2:
            self.looked_twice.set()
            await self.gate.wait()
        return found


async def test_a_search_that_would_wait_too_long_goes_by_what_is_there_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mnemoir.search.resident.PAGE", 2)
    store = GatedRows()
    await written(store, "drinks tea", "sells tea", "paints tea", "likes tea", "hates tea")
    recall = Recall(store, MODEL, patience_s=0.0)
    building = asyncio.create_task(recall.nearest(MIRA, ["tea"], SEEN, k=9))
    await store.looked_twice.wait()
    first = await search(recall, "tea")
    assert (first.degraded, len(first.hits)) == (("index_building",), 4)
    store.gate.set()
    [near] = await building
    assert len(near) == 5
    assert (await search(recall, "tea")).degraded == ()
