"""What a manager saves can be searched, and what it deletes can not: rows and vectors move together."""

import threading
import zlib
from typing import Any, cast

import pytest

from mnemoir.conversations import MemoryManager, Message, SearchFilter, VectorFileStore
from mnemoir.core.errors import SettingsError
from tests.conversations.search_kit import store_of
from tests.conversations.session_kit import assistant, user

DIMENSION = 64


class Words:
    """An embedding client: texts that share words are alike. It can be told to fail."""

    dimension = DIMENSION

    def __init__(self, name: Any = "words") -> None:
        self.is_down = False
        self._name = name

    @property
    def model_name(self) -> str:
        return cast(str, self._name)

    async def embed(self, texts: list[str]) -> list[list[float]]:
        if self.is_down:
            raise ConnectionError("the embedder is down")
        return [self._vector(text) for text in texts]

    async def embed_single(self, text: str) -> list[float]:
        return (await self.embed([text]))[0]

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * DIMENSION
        for word in text.lower().split():
            vector[zlib.crc32(word.encode()) % DIMENSION] += 1.0
        return vector


@pytest.fixture
def words() -> Words:
    return Words()


@pytest.fixture
def manager(tmp_path, words):
    store = VectorFileStore("memory", tmp_path / "vectors")
    with MemoryManager(tmp_path / "memory.db", embedding_client=words, vector_store=store) as opened:
        yield opened


async def found(manager: MemoryManager, query: str, **more) -> list[str]:
    return [message.text for message in await manager.search_similar(query, **more)]


def said_by(manager: MemoryManager) -> int:
    return store_of(manager).count()


class Unnamed(Words):
    """A client whose name cannot be read."""

    @property
    def model_name(self) -> str:
        raise ConnectionError("the embedder is down")


@pytest.mark.parametrize("client", [Words(5), Words(None), Words(""), Words(" "), Words("\udc80"), Unnamed()])
def test_a_client_without_a_usable_model_name_is_refused_where_it_is_given(tmp_path, client):
    for store in (VectorFileStore("memory", tmp_path / "vectors"), None):
        with pytest.raises(SettingsError, match=rf"client {type(client).__name__} has .*model_name.*; set it to"):
            MemoryManager(tmp_path / "memory.db", embedding_client=client, vector_store=store)
    assert not (tmp_path / "memory.db").exists()


async def test_a_clients_model_name_is_read_once(tmp_path):
    class Counted(Words):
        read = 0

        @property
        def model_name(self) -> str:
            type(self).read += 1
            return "words"

    store = VectorFileStore("memory", tmp_path / "vectors")
    with MemoryManager(tmp_path / "memory.db", embedding_client=Counted(), vector_store=store) as manager:
        manager.save_messages("s", [user("the train leaves at nine"), assistant("noted")])
        await manager.wait_for_pending_embeddings()
        assert await found(manager, "the train", top_k=1) == ["the train leaves at nine"]
        assert await manager.abackfill_embeddings() == 0
    assert Counted.read == 1


async def test_a_saved_message_is_found_by_what_it_says(manager):
    manager.save_messages("s", [user("the train leaves at nine"), assistant("noted"), Message("system", "the train")])
    manager.save_message("t", user("the train is red"))
    await manager.wait_for_pending_embeddings()
    assert manager.semantic_search_enabled
    assert (await found(manager, "when leaves the train", top_k=1)) == ["the train leaves at nine"]
    assert await found(manager, "the train", session_id="t", min_similarity=0.1) == ["the train is red"]
    assert await found(manager, "the train", top_k=0) == []
    [hit] = await manager.search("the train is red", 1, filters=SearchFilter(session_ids=["t"]))
    assert (hit.session_id, hit.similarity) == ("t", pytest.approx(1.0, abs=1e-3))
    context = await manager.get_relevant_context("the train", max_tokens=4)
    assert [message.text for message in context] == ["the train is red"]


def test_without_a_loop_a_save_waits_for_its_vector(manager):
    manager.save_message("s", user("hello there"))
    assert said_by(manager) == 1
    assert manager.storage.vector_counts() == {"embedded": 1}


@pytest.mark.parametrize("delete", [MemoryManager.delete_session, MemoryManager.clear_history])
async def test_what_is_deleted_is_found_no_more(manager, delete):
    manager.save_messages("s", [user("the MAGICWORD is tea"), user("more tea")])
    manager.save_message("t", user("tea for two"))
    await manager.wait_for_pending_embeddings()
    assert delete(manager, "s")
    assert await found(manager, "tea") == ["tea for two"]
    assert (said_by(manager), manager.storage.vectors_to_remove(9)) == (1, [])


def test_pruning_takes_the_vectors_along(manager):
    manager.save_message("s", user("tea"))
    assert manager.prune_old_sessions(0) == 1
    assert said_by(manager) == 0


def test_an_embedder_that_is_down_fails_no_save_and_is_made_up_for(manager, words):
    words.is_down = True
    manager.save_messages("s", [user("tea"), user("rum")])
    assert [message.text for message in manager.load_history("s")] == ["tea", "rum"]
    assert (said_by(manager), manager.storage.vector_counts()) == (0, {"failed": 2})
    words.is_down = False
    assert manager.backfill_embeddings() == 2
    assert manager.backfill_embeddings() == 0
    assert (said_by(manager), manager.storage.vector_counts()) == (2, {"embedded": 2})


async def test_messages_from_before_there_was_a_search_are_embedded_later(tmp_path, words):
    with MemoryManager(tmp_path / "m.db") as manager:
        manager.save_messages("s", [user(f"cup {number} of tea") for number in range(7)])
    with MemoryManager(tmp_path / "m.db", embedding_client=words, vector_store=VectorFileStore("m")) as manager:
        told: list[tuple[int, int]] = []
        assert await manager.abackfill_embeddings(batch_size=3, progress=lambda *done: told.append(done)) == 7
        assert told[-1] == (7, 7)
        assert await found(manager, "cup 3", top_k=1) == ["cup 3 of tea"]


async def test_words_are_found_without_any_embedder(tmp_path):
    with MemoryManager(tmp_path / "m.db") as manager:
        manager.save_messages("s", [user("look into parser_v2.py"), user("nothing of that kind")])
        hits = await manager.search_hybrid("parser_v2.py", 1)
        assert [hit.message.text for hit in hits] == ["look into parser_v2.py"]


async def test_every_message_of_several_writers_is_found_after_draining(manager):
    names = [f"writer{number}" for number in range(4)]

    def write(name: str) -> None:
        for number in range(10):
            manager.save_message(name, user(f"{name} says number{number}"))

    threads = [threading.Thread(target=write, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    await manager.wait_for_pending_embeddings()
    for name in names:
        expected = sorted(f"{name} says number{number}" for number in range(10))
        assert sorted(await found(manager, name, top_k=40, session_id=name)) == expected
