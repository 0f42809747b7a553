"""How messages come by their vectors: at once, by back-filling, after failures and after crashes."""

import asyncio
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.search.embedding import ModelEmbeddingClient, check_embedding_client
from mnemoir.conversations.search.embedding_worker import EmbeddingWorker
from mnemoir.core.conversations import Message
from mnemoir.core.errors import ProviderInvalidOutput, StorageUnavailable
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage
from mnemoir.storage.conversations.vector_file import VectorFileStore
from tests.conversations.search_kit import WordsClient, manager, say, vector_ids
from tests.conversations.session_kit import all_bytes
from tests.narrowing import instance, present
from tests.search.hashed_words import HashedWords


def _save_unembedded(memory: MemoryManager, *texts: str, session: str = "s") -> None:
    """As a program without an embedding client saves."""
    with MemoryManager(instance(MemoryStorage, memory.storage).db_path) as plain:
        plain.save_messages(session, [Message("user", text) for text in texts])


def test_backfilling_embeds_all_sessions_once_under_the_same_ids(tmp_path: Path) -> None:
    with manager(tmp_path, WordsClient()) as memory:
        for number in range(15):
            _save_unembedded(memory, f"text {number}", session=f"s{number}")
        say(memory, "saved and embedded", session="s0")
        assert memory.backfill_embeddings(batch_size=4) == 15
        assert len(vector_ids(memory)) == 16
        assert memory.backfill_embeddings() == 0
        assert "msg_1" in vector_ids(memory)


def test_backfilling_works_in_batches_in_order_and_says_how_far_it_is(tmp_path: Path) -> None:
    client, told = WordsClient(), []
    with manager(tmp_path, client) as memory:
        _save_unembedded(memory, *(f"text {number}" for number in range(5)))
        memory.backfill_embeddings(batch_size=2, progress=lambda done, total: told.append((done, total)))
    assert client.calls == [["text 0", "text 1"], ["text 2", "text 3"], ["text 4"]]
    assert told == [(2, 5), (4, 5), (5, 5)]


def test_backfilling_may_be_limited_to_a_session(tmp_path: Path) -> None:
    with manager(tmp_path, WordsClient()) as memory:
        _save_unembedded(memory, "one", session="a")
        _save_unembedded(memory, "two", session="b")
        assert memory.backfill_embeddings("b") == 1
        assert vector_ids(memory) == ["msg_2"]


async def test_backfilling_works_where_a_loop_is_running(tmp_path: Path) -> None:
    with manager(tmp_path, WordsClient()) as memory:
        _save_unembedded(memory, "one", "two")
        assert memory.backfill_embeddings() == 2
        _save_unembedded(memory, "three")
        assert await memory.abackfill_embeddings() == 1


@pytest.mark.parametrize("error", [ValueError, ConnectionError])
def test_a_message_that_cannot_be_embedded_costs_itself_alone(tmp_path: Path, error: type[Exception]) -> None:
    client = WordsClient(poison=["bad"], error=error)
    with manager(tmp_path, client) as memory:
        _save_unembedded(memory, *(f"text {n}" for n in range(9)), "bad", *(f"more {n}" for n in range(9)))
        assert memory.backfill_embeddings() == 18
        assert "msg_10" not in vector_ids(memory)
        assert memory.storage.vector_counts() == {"embedded": 18, "failed": 1}
        client.poison.clear()
        assert memory.backfill_embeddings() == 1


def test_backfilling_ends_early_when_the_embedder_is_down(tmp_path: Path) -> None:
    client = WordsClient()
    client.is_down = True
    with manager(tmp_path, client) as memory:
        _save_unembedded(memory, *(f"text {number}" for number in range(300)))
        assert memory.backfill_embeddings() == 0
        assert len(client.calls) < 40
        client.is_down = False
        assert memory.backfill_embeddings() == 300


def test_saving_never_fails_over_the_embedder(tmp_path: Path) -> None:
    client = WordsClient()
    client.is_down = True
    with manager(tmp_path, client) as memory:
        say(memory, "kept all the same")
        assert [m.text for m in memory.load_session("s")] == ["kept all the same"]
        assert memory.storage.vector_counts() == {"failed": 1}


def test_saving_never_fails_over_the_vector_store(tmp_path: Path) -> None:
    store = VectorFileStore("messages", tmp_path)
    with manager(tmp_path, WordsClient(), store) as memory:
        store.close()
        say(memory, "kept all the same")
        memory.clear_history("s")
        assert memory.storage.vectors_to_remove(10) == [1]


def test_vectors_whose_removal_failed_are_removed_later(tmp_path: Path) -> None:
    store = VectorFileStore("messages", tmp_path)
    with manager(tmp_path, WordsClient(), store) as memory:
        say(memory, "forget me")
        store.close()
        memory.clear_history("s")
    with manager(tmp_path, WordsClient()) as memory:
        assert vector_ids(memory) == ["msg_1"]
        say(memory, "next")
        assert vector_ids(memory) == ["msg_2"]


async def test_a_vector_that_waits_for_its_removal_is_not_shown(tmp_path: Path) -> None:
    store = VectorFileStore("messages", tmp_path)
    with manager(tmp_path, WordsClient(), store) as memory:
        await asyncio.to_thread(say, memory, "forget me")
        memory.storage.clear_messages("s")
        assert store.count() == 1
        assert await memory.search("forget me") == []


def test_a_message_that_is_deleted_while_it_is_embedded_leaves_no_vector(tmp_path: Path) -> None:
    class Slow(WordsClient):
        began, go_on = threading.Event(), threading.Event()

        async def embed(self, texts: list[str]) -> list[list[float]]:
            self.began.set()
            await asyncio.to_thread(self.go_on.wait)
            return await super().embed(texts)

    client = Slow()
    with manager(tmp_path, client, embed_sync=False) as memory:
        say(memory, "forget me")
        client.began.wait()
        memory.delete_session("s")
        client.go_on.set()
        asyncio.run(memory.wait_for_pending_embeddings())
        assert vector_ids(memory) == []
        assert memory.storage.vector_counts() == {}


def test_after_a_restart_a_store_in_memory_is_filled_again(tmp_path: Path) -> None:
    for _ in range(2):
        with manager(tmp_path, WordsClient(), VectorFileStore()) as memory:
            if not memory.get_message_count("s"):
                say(memory, "one", "two")
            memory.backfill_embeddings()
            assert vector_ids(memory) == ["msg_1", "msg_2"]


def test_no_byte_of_what_was_forgotten_is_left_in_any_file(tmp_path: Path) -> None:
    with manager(tmp_path, WordsClient()) as memory:
        say(memory, "the password is xyzzy-plugh", session="secret")
        say(memory, "plain words", session="other")
        memory.delete_session("secret")
        assert b"xyzzy" not in all_bytes(tmp_path)
        assert b"plain words" in all_bytes(tmp_path)


def test_what_is_said_just_before_is_embedded_with_a_message(tmp_path: Path) -> None:
    asked: list[str] = []

    class Listening(HashedWords):
        async def embed(self, passages):
            asked.extend(passage.context for passage in passages)
            return await super().embed(passages)

    with manager(tmp_path, ModelEmbeddingClient(Listening())) as memory:
        say(memory, "do you run?", "where?", "yes, every morning")
        say(memory, "hello", session="other")
    assert asked == ["", "do you run?", "do you run? where?", ""]


async def _nothing() -> None:
    pass


def test_what_is_asked_for_during_a_run_is_one_more_run() -> None:
    began, go_on = threading.Event(), threading.Event()
    runs: list[int] = []

    async def work() -> None:
        runs.append(len(runs))
        began.set()
        await asyncio.to_thread(go_on.wait)

    worker = EmbeddingWorker(saved=work, backlog=_nothing)
    worker.ask(worker.saved)
    began.wait()
    for _ in range(5):
        worker.ask(worker.saved)
    go_on.set()
    assert worker.wait(worker.saved)
    assert runs == [0, 1]
    worker.close()
    worker.ask(worker.saved)
    assert runs == [0, 1]


def test_a_run_that_fails_lets_go_of_who_waits_and_the_next_one_runs() -> None:
    runs: list[int] = []

    async def work() -> None:
        runs.append(len(runs))
        raise ValueError("broken")

    worker = EmbeddingWorker(saved=work, backlog=_nothing)
    for _ in range(2):
        worker.ask(worker.saved)
        assert worker.wait(worker.saved)
    assert runs == [0, 1]
    worker.close()


def test_closing_waits_no_longer_than_it_is_told() -> None:
    async def work() -> None:
        await asyncio.Event().wait()

    worker = EmbeddingWorker(saved=work, backlog=_nothing)
    worker.ask(worker.saved)
    worker.close(timeout_s=0.05)
    assert not worker.wait(worker.saved)


_SAVED_AT_THE_END = """
import sys
from pathlib import Path
from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.core.conversations import Message
from mnemoir.storage.conversations.vector_file import VectorFileStore
from tests.conversations.search_kit import WordsClient

folder = Path(sys.argv[1])
store = VectorFileStore("messages", folder)
memory = MemoryManager(folder / "memory.db", embedding_client=WordsClient(), vector_store=store, embed_sync=False)
memory.save_messages("s", [Message("user", f"text {number}") for number in range(200)])
"""


@pytest.mark.slow
def test_the_interpreters_end_finishes_what_waits(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", _SAVED_AT_THE_END, str(tmp_path)], check=True, timeout=300)
    with manager(tmp_path, WordsClient()) as memory:
        assert len(vector_ids(memory)) == 200


_WRITER = """
import sys
from pathlib import Path
from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.core.conversations import Message
from mnemoir.storage.conversations.vector_file import VectorFileStore
from tests.conversations.search_kit import WordsClient

folder, name = Path(sys.argv[1]), sys.argv[2]
store = VectorFileStore("messages", folder)
with MemoryManager(folder / "memory.db", embedding_client=WordsClient(), vector_store=store) as memory:
    for number in range(50):
        memory.save_message(name, Message("user", f"{name} says {number}"))
"""


@pytest.mark.slow
def test_four_processes_share_one_store_without_loss(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, str(tmp_path), f"writer{number}"]) for number in range(4)
    ]
    assert [writer.wait(100) for writer in writers] == [0, 0, 0, 0]
    with manager(tmp_path, WordsClient()) as memory:
        assert len(vector_ids(memory)) == 200
        assert memory.backfill_embeddings() == 0
        hits = asyncio.run(memory.search("writer3 says 49", 1))
        assert hits[0].message.text == "writer3 says 49"


def test_a_damaged_vector_file_is_told_and_left_as_it_is(tmp_path: Path) -> None:
    path = present(VectorFileStore("messages", tmp_path).path)
    path.write_bytes(b"no database" * 100)
    with pytest.raises(StorageUnavailable, match="damaged"):
        VectorFileStore("messages", tmp_path)
    assert path.read_bytes().startswith(b"no database")


def test_a_damaged_vector_file_is_set_aside_when_it_is_opened_and_not_under_its_user(tmp_path: Path) -> None:
    with closing(VectorFileStore("messages", tmp_path, on_corruption="set_aside")) as store:
        with closing(VectorFileStore("messages", tmp_path)) as other:  # what this one writes is in no other cache
            other.add(["a", "b"], [[1.0], [2.0]], ["x" * 9000, "y"], [{}, {}])
            other.delete(["b"])
        path = present(store.path)
        with path.open("r+b") as raw:
            raw.seek(4096)
            raw.write(b"\xa5" * (path.stat().st_size - 4096))
        with pytest.raises(StorageUnavailable, match="damaged"):
            store.get()
        assert list(tmp_path.glob("*.corrupt-*")) == []
    path.write_bytes(b"no database" * 1000)
    with closing(VectorFileStore("messages", tmp_path, on_corruption="set_aside")) as store:
        assert store.get() == ([], [], [])
    assert len(list(tmp_path.glob("*.corrupt-*Z"))) == 1


async def test_a_client_is_tried_out_before_it_is_trusted() -> None:
    class Turned(WordsClient):
        async def embed(self, texts: list[str]) -> list[list[float]]:
            return (await super().embed(sorted(texts)))[: len(texts)]

    class Short(WordsClient):
        dimension = 7

    assert await check_embedding_client(WordsClient()) == 1024
    assert await check_embedding_client(ModelEmbeddingClient(HashedWords())) == 1024
    with pytest.raises(ProviderInvalidOutput, match="order"):
        await check_embedding_client(Turned())
    with pytest.raises(ProviderInvalidOutput, match="1024 numbers, where it says 7"):
        await check_embedding_client(Short())
