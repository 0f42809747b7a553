"""Search and branches: every branch is found, unless only what is on the thread, or off it, is asked for."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.search.embedding import ModelEmbeddingClient
from mnemoir.conversations.search.search_filter import SearchFilter
from mnemoir.core.conversations import ROOT
from mnemoir.storage.conversations.vector_file import VectorFileStore
from tests.conversations.search_kit import OpenVectorStore, client_of, manager, store_of
from tests.conversations.session_kit import behind_the_back, said
from tests.narrowing import present
from tests.search.hashed_words import HashedWords

SIBLINGS = 40


def _chroma() -> OpenVectorStore:
    pytest.importorskip("chromadb")
    from mnemoir.storage.conversations.chroma_store import ChromaDBVectorStore

    return ChromaDBVectorStore("branches")


STORES: dict[str, Callable[[], OpenVectorStore]] = {"built-in": VectorFileStore, "chromadb": _chroma}


@pytest.fixture(params=STORES.values(), ids=list(STORES))
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MemoryManager]:
    """A question that was answered over and over; the thread ends with the last answer."""
    with manager(tmp_path, ModelEmbeddingClient(HashedWords()), request.param()) as opened:
        [question] = opened.storage.append_messages("s", [said("which cat is it")], parent_id=ROOT)
        for number in range(SIBLINGS):
            answer = said(f"cat number {number}", role="assistant")
            opened.storage.append_messages("s", [answer], parent_id=question)
        opened.backfill_embeddings()
        yield opened


async def _found(memory: MemoryManager, asked: SearchFilter, limit: int) -> set[str]:
    """What each kind of search finds, if they agree."""
    by_meaning = await memory.search("cat number", limit, filters=asked)
    whole = await memory.search_hybrid("cat number", limit, asked)
    weighed = await memory.search_hybrid("cat number", limit, asked, alpha=0.5)
    [texts, *others] = [{hit.message.text for hit in hits} for hits in (by_meaning, whole, weighed)]
    assert others == [texts, texts]
    return texts


async def test_every_branch_is_found_unless_the_thread_alone_is_asked_for(memory: MemoryManager) -> None:
    answers = {f"cat number {number}" for number in range(SIBLINGS)}
    assert await _found(memory, SearchFilter(), 99) == {"which cat is it", *answers}
    assert await _found(memory, SearchFilter(on_thread=True), 99) == {"which cat is it", f"cat number {SIBLINGS - 1}"}
    assert await _found(memory, SearchFilter(on_thread=False), 99) == answers - {f"cat number {SIBLINGS - 1}"}


async def test_the_thread_is_found_behind_any_number_of_better_answers_off_it(memory: MemoryManager) -> None:
    last = f"cat number {SIBLINGS - 1}"
    for search in (memory.search, memory.search_hybrid):
        hits = await search("cat number 3", 2, filters=SearchFilter(on_thread=True))
        assert {hit.message.text for hit in hits} == {"which cat is it", last}
        assert all(present(hit.stored).is_on_thread for hit in hits)


async def test_the_thread_is_the_one_of_now(memory: MemoryManager) -> None:
    assert memory.storage.set_head("s", 5)
    assert await _found(memory, SearchFilter(on_thread=True), 9) == {"which cat is it", "cat number 3"}


async def test_what_is_important_is_found_off_the_thread_and_behind_the_mark(memory: MemoryManager) -> None:
    memory.pin_message(4)
    memory.storage.set_importance({7: 0.9, 8: 0.2})
    memory.clear_context("s")
    assert await _found(memory, SearchFilter(min_importance=0.6), 9) == {"cat number 2", "cat number 5"}


async def test_a_vector_of_others_is_on_no_thread(memory: MemoryManager) -> None:
    [vector] = await client_of(memory).embed(["cat number"])
    store_of(memory).add(["note-1"], [vector], ["cat number"], [{"session_id": "z"}])
    [first, *_] = await memory.search("cat number", 3)
    assert (first.message.text, first.stored) == ("cat number", None)
    hits = await memory.search("cat number", 9, filters=SearchFilter(on_thread=True))
    assert {hit.session_id for hit in hits} == {"s"}


def test_rows_of_other_programs_are_on_the_thread(tmp_path: Path) -> None:
    with MemoryManager(tmp_path / "memory.db") as memory:
        memory.storage.save_messages([said("an old cat")])
        with behind_the_back(tmp_path / "memory.db") as connection:
            connection.execute("UPDATE messages SET parent_id = NULL, digest = NULL")
        hits = asyncio.run(memory.search_hybrid("cat", 5, SearchFilter(on_thread=True)))
        assert [hit.message.text for hit in hits] == ["an old cat"]
