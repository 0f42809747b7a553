"""Back-filling in the background: after a restart with a store in memory, after failures, after too much at once."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.search.search_filter import SearchFilter
from mnemoir.conversations.search.semantic import SemanticSearch
from mnemoir.core.conversations import Message
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage
from mnemoir.storage.conversations.vector_file import VectorFileStore
from tests.conversations.search_kit import OpenVectorStore, WordsClient, manager, say, vector_ids
from tests.narrowing import instance


def _chroma() -> OpenVectorStore:
    pytest.importorskip("chromadb")
    from mnemoir.storage.conversations.chroma_store import ChromaDBVectorStore

    return ChromaDBVectorStore("background")


class HeldClient(WordsClient):
    """Answers when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.began, self.go_on = threading.Event(), threading.Event()

    async def embed(self, texts: list[str]) -> list[list[float]]:
        self.began.set()
        await asyncio.to_thread(self.go_on.wait)
        return await super().embed(texts)


def _search(memory: MemoryManager) -> SemanticSearch:
    return SemanticSearch(
        instance(MemoryStorage, memory.storage), memory.embedding_client, memory.vector_store, embed_sync=False
    )


@pytest.mark.parametrize("make", [VectorFileStore, _chroma])
async def test_a_store_in_memory_is_filled_after_a_restart_while_words_are_found(
    tmp_path: Path, make: Callable[[], OpenVectorStore]
) -> None:
    with manager(tmp_path, WordsClient(), make()) as memory:
        await asyncio.to_thread(say, memory, "the cat sat", "a train")
    client = HeldClient()
    with manager(tmp_path, client, make()) as memory:
        search = _search(memory)
        search.begin_backfill()
        await asyncio.to_thread(client.began.wait)
        hits = await search.search_hybrid("cat", 1, filters=SearchFilter(), alpha=0.0)
        assert [hit.message.text for hit in hits] == ["the cat sat"]
        client.go_on.set()
        await search.wait()
        assert vector_ids(memory) == ["msg_1", "msg_2"]
        search.close()


async def test_nothing_is_embedded_twice_and_nothing_without_a_client(tmp_path: Path) -> None:
    client = WordsClient()
    with manager(tmp_path, client) as memory:
        await asyncio.to_thread(say, memory, "the cat sat")
        asked = len(client.calls)
        search = _search(memory)
        for _ in range(3):
            search.begin_backfill()
        await search.wait()
        assert len(client.calls) == asked
        search.close()
        plain = SemanticSearch(instance(MemoryStorage, memory.storage))
        plain.begin_backfill()
        await plain.wait()
        plain.close()


async def test_a_failure_is_nobodys_error_and_is_made_up_for_the_next_time(tmp_path: Path) -> None:
    client = WordsClient()
    client.is_down = True
    with manager(tmp_path, client) as memory:
        await asyncio.to_thread(say, memory, "the cat sat")
        search = _search(memory)
        search.begin_backfill()
        await search.wait()
        assert vector_ids(memory) == []
        client.is_down = False
        search.begin_backfill()
        await search.wait()
        assert vector_ids(memory) == ["msg_1"]
        search.close()


async def test_a_vector_store_that_fails_is_told_in_the_log_alone(tmp_path: Path) -> None:
    store = VectorFileStore("messages", tmp_path)
    with manager(tmp_path, WordsClient(), store) as memory:
        search = _search(memory)
        store.close()
        search.begin_backfill()
        await search.wait()
        search.close()


@pytest.mark.slow
async def test_what_is_saved_faster_than_it_is_embedded_gets_its_vectors_all_the_same(tmp_path: Path) -> None:
    client = HeldClient()
    with manager(tmp_path, client) as memory:
        for start in range(0, 1500, 500):
            texts = [Message("user", f"cat {number}") for number in range(start, start + 500)]
            memory.save_messages("s", texts)
        client.go_on.set()
        await memory.wait_for_pending_embeddings()
        assert memory.storage.vector_counts() == {"embedded": 1500}


async def test_what_is_saved_while_it_runs_is_not_left_behind(tmp_path: Path) -> None:
    client = HeldClient()
    with manager(tmp_path, client) as memory:
        with MemoryManager(instance(MemoryStorage, memory.storage).db_path) as plain:
            await asyncio.to_thread(say, plain, "one")
            search = _search(memory)
            search.begin_backfill()
            await asyncio.to_thread(client.began.wait)
            await asyncio.to_thread(say, plain, "two")
        search.begin_backfill()
        client.go_on.set()
        await search.wait()
        assert vector_ids(memory) == ["msg_1", "msg_2"]
        search.close()


async def test_closing_ends_it_and_lets_go_of_who_waits(tmp_path: Path) -> None:
    client = HeldClient()
    with manager(tmp_path, client) as memory:
        with MemoryManager(instance(MemoryStorage, memory.storage).db_path) as plain:
            await asyncio.to_thread(say, plain, "one")
        search = _search(memory)
        search.begin_backfill()
        await asyncio.to_thread(client.began.wait)
        waiting = asyncio.create_task(search.wait())
        await asyncio.to_thread(search.close, 0.05)
        client.go_on.set()
        await waiting
        search.begin_backfill()
        await search.wait()
        assert vector_ids(memory) == []


def test_questions_are_embedded_while_it_runs(tmp_path: Path) -> None:
    """It gives way to others in its loop even when the client never waits."""
    asked: list[str] = []

    class Noting(WordsClient):
        async def embed(self, texts: list[str]) -> list[list[float]]:
            asked.append(texts[0])
            return await super().embed(texts)

    with manager(tmp_path, Noting()) as memory:
        with MemoryManager(instance(MemoryStorage, memory.storage).db_path) as plain:
            plain.save_messages("s", [Message("user", f"cat {number}") for number in range(500)])
        search = _search(memory)
        began = threading.Event()

        def told(done: int, total: int) -> None:
            began.set()

        running = threading.Thread(target=search.backfill, kwargs={"batch_size": 5, "progress": told})
        running.start()
        began.wait()
        asyncio.run(search.search("where is the dog", 1, filters=SearchFilter()))
        running.join()
        assert asked.index("where is the dog") < len(asked) - 1
        search.close()
