"""The index of messages is stored by a server and taken up again: the same ranks, and no byte of what was deleted."""

import asyncio
from pathlib import Path

import pytest

from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.search.embedding import ModelEmbeddingClient
from mnemoir.conversations.search.message_rows import MessageRows
from mnemoir.conversations.search.session_search import SearchHost
from mnemoir.storage.conversations.vector_file import VectorFileStore
from mnemoir.storage.pack_files import PackFiles
from tests.conversations.search_kit import manager, say
from tests.search.hashed_words import HashedWords


@pytest.fixture(autouse=True)
def few_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemoir.search.resident.FEWEST_PACKED", 1)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The ids of all messages that an index reads."""
    ids: list[int] = []
    through = MessageRows._with_vectors

    def noting(self, messages):
        ids.extend(said.id for said in messages)
        return through(self, messages)

    monkeypatch.setattr(MessageRows, "_with_vectors", noting)
    return ids


def hosted(folder: Path) -> MemoryManager:
    host = SearchHost(
        loop=asyncio.get_running_loop(), request=lambda: None, packs=PackFiles(folder / "cache" / "packs")
    )
    return MemoryManager(
        folder / "memory.db",
        embedding_client=ModelEmbeddingClient(HashedWords()),
        vector_store=VectorFileStore("messages", folder),
        host=host,
    )


async def saved(memory: MemoryManager, *texts: str, session: str = "s") -> None:
    await asyncio.to_thread(say, memory, *texts, session=session)
    await memory.wait_for_pending_embeddings()


async def found(memory: MemoryManager, query: str) -> list[tuple[str, float]]:
    return [(hit.message.text, hit.score) for hit in await memory.search_hybrid(query, 9)]


async def closed_with_a_pack(memory: MemoryManager, query: str) -> None:
    """Search once, and close after the index was stored."""
    await memory.search_hybrid(query, 9)
    await asyncio.gather(*(task for task in asyncio.all_tasks() if task.get_name() == "keep an index"))
    memory.close()


def files(folder: Path) -> list[Path]:
    return [path for path in (folder / "cache").rglob("*") if path.is_file()]


async def test_a_restart_reads_only_what_was_written_since_and_ranks_alike(tmp_path: Path, read: list[int]) -> None:
    memory = hosted(tmp_path)
    await saved(memory, "green tea", "rum", "tea at five", "a train")
    await closed_with_a_pack(memory, "tea")
    assert len(files(tmp_path)) == 1
    memory = hosted(tmp_path)
    await saved(memory, "black tea")
    read.clear()
    again = await found(memory, "tea in the morning")
    assert read == [4, 5]  # the last one of the stored index is compared
    memory.close()
    with manager(tmp_path, ModelEmbeddingClient(HashedWords()), VectorFileStore("messages", tmp_path)) as fresh:
        assert again == [(hit.message.text, hit.score) for hit in await fresh.search_hybrid("tea in the morning", 9)]


@pytest.mark.parametrize("deleted", ["one", "all"])
async def test_a_deletion_leaves_no_pack(tmp_path: Path, deleted: str) -> None:
    memory = hosted(tmp_path)
    await saved(memory, "a secret tea")
    await saved(memory, "a train", session="kept")
    await closed_with_a_pack(memory, "tea")
    memory = hosted(tmp_path)
    if deleted == "one":
        memory.delete_session("s")
    else:
        memory.clear_history("s")
    assert files(tmp_path) == []
    assert [text for text, _ in await found(memory, "train")] == ["a train"]
    memory.close()


async def test_a_pack_of_another_file_is_not_used(tmp_path: Path) -> None:
    memory = hosted(tmp_path)
    await saved(memory, "green tea", "rum")
    await closed_with_a_pack(memory, "tea")
    (tmp_path / "memory.db").rename(tmp_path / "old.db")
    memory = hosted(tmp_path)
    assert await found(memory, "tea") == []
    memory.close()
