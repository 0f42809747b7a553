"""What was forgotten stands in no byte of the file of vectors, its log, or any other file of the folder."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.search.embedding import ModelEmbeddingClient
from mnemoir.storage.conversations.vector_file import VectorFileStore
from tests.conversations.search_kit import manager, say
from tests.conversations.session_kit import all_bytes, behind_the_back
from tests.narrowing import instance, present
from tests.search.hashed_words import HashedWords

SECRET = "the password is xyzzy-plugh"


def _prune(memory: MemoryManager) -> None:
    memory.update_metadata("other", {"keep": True})
    assert memory.prune_old_sessions(0) == 1


WAYS: dict[str, Callable[[MemoryManager], object]] = {
    "delete": lambda memory: memory.delete_session("secret"),
    "clear": lambda memory: memory.clear_history("secret"),
    "prune": _prune,
}


@pytest.mark.parametrize("forget", WAYS.values(), ids=WAYS.keys())
def test_neither_text_nor_vector_nor_tokens_are_left(
    tmp_path: Path, forget: Callable[[MemoryManager], object]
) -> None:
    with manager(tmp_path, ModelEmbeddingClient(HashedWords())) as memory:
        say(memory, SECRET, session="secret")
        say(memory, "plain words", session="other")
        with behind_the_back(present(instance(VectorFileStore, memory.vector_store).path)) as connection:
            [(vector, codes)] = connection.execute("SELECT vector, token_codes FROM vectors WHERE id = 'msg_1'")
        secrets = {"text": b"xyzzy", "vector": vector[:64], "tokens": codes[:64]}
        assert [what for what, secret in secrets.items() if secret not in all_bytes(tmp_path)] == []
        forget(memory)
        assert [what for what, secret in secrets.items() if secret in all_bytes(tmp_path)] == []
        assert b"plain words" in all_bytes(tmp_path)


def test_a_text_that_was_replaced_is_gone_with_the_next_deletion(tmp_path: Path) -> None:
    store = VectorFileStore("v", tmp_path)
    store.add(["a", "b"], [[1.0], [1.0]], [SECRET, "x"], [{"note": "xyzzy"}, None])
    store.update(["a"], documents=["harmless"], metadata=[{"note": None}])
    store.add(["b"], [[1.0]], ["y"], [{"n": 1}])
    store.delete(["b"])
    assert b"xyzzy" not in all_bytes(tmp_path)
    store.clear()
    assert b"harmless" not in all_bytes(tmp_path)
    store.close()


@pytest.mark.slow
def test_a_large_text_leaves_nothing_on_the_pages_it_filled(tmp_path: Path) -> None:
    with manager(tmp_path, ModelEmbeddingClient(HashedWords())) as memory:
        say(memory, "xyzzy " * 20_000, session="secret")
        memory.delete_session("secret")
        assert b"xyzzy" not in all_bytes(tmp_path)


def test_another_reader_only_puts_it_off_to_the_next_deletion(tmp_path: Path) -> None:
    store = VectorFileStore("v", tmp_path)
    store.add(["a", "b"], [[1.0], [1.0]], [SECRET, "x"], [None, None])
    with behind_the_back(present(store.path)) as connection, connection:
        assert connection.execute("SELECT count(*) FROM vectors").get == 2
        store.delete(["a"])
        assert store.get()[1] == ["x"]
        assert b"xyzzy" in all_bytes(tmp_path)
    store.delete(["b"])
    assert b"xyzzy" not in all_bytes(tmp_path)
    store.close()
