"""Search in sessions by meaning, by words, and by both."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.search.embedding import EmbeddingClient, ModelEmbeddingClient
from mnemoir.conversations.search.embedding_jobs import EmbeddingModelChanged
from mnemoir.conversations.search.search_filter import SearchFilter
from mnemoir.conversations.search.semantic import SemanticSearch
from mnemoir.core.conversations import Message, MessageRecord
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage
from mnemoir.storage.conversations.vector_file import VectorFileStore
from tests.conversations.search_kit import OpenVectorStore, WordsClient, client_of, manager, say, store_of, vector_ids
from tests.narrowing import instance, present
from tests.search.hashed_words import HashedWords


def _chroma() -> OpenVectorStore:
    pytest.importorskip("chromadb")
    from mnemoir.storage.conversations.chroma_store import ChromaDBVectorStore

    return ChromaDBVectorStore("messages")


STORES: dict[str, Callable[[], OpenVectorStore]] = {"built-in": VectorFileStore, "chromadb": _chroma}
CLIENTS: dict[str, Callable[[], EmbeddingClient]] = {
    "vectors": WordsClient,
    "tokens": lambda: ModelEmbeddingClient(HashedWords()),
}


@pytest.fixture(params=STORES.values(), ids=list(STORES))
def store(request: pytest.FixtureRequest) -> OpenVectorStore:
    made: OpenVectorStore = request.param()
    return made


@pytest.fixture(params=CLIENTS.values(), ids=list(CLIENTS))
def memory(request: pytest.FixtureRequest, store: OpenVectorStore, tmp_path: Path) -> Iterator[MemoryManager]:
    with manager(tmp_path, request.param(), store) as opened:
        yield opened


def _texts(hits) -> list[str]:
    return [hit.message.text for hit in hits]


async def test_a_message_is_found_right_after_it_was_saved_without_a_loop(memory: MemoryManager) -> None:
    await asyncio.to_thread(say, memory, "the cat sat on the mat", "trains leave at nine")
    [first, *_] = await memory.search("where did the cat sit", 2)
    assert first.message == Message("user", "the cat sat on the mat")
    assert (first.session_id, first.message_id) == ("s", 1)
    assert first.created_at is not None
    assert 0 < present(first.similarity) <= 1


async def test_saving_in_a_loop_does_not_wait_and_draining_does(memory: MemoryManager) -> None:
    say(memory, "the cat sat on the mat")
    await memory.wait_for_pending_embeddings()
    assert [m.text for m in await memory.search_similar("cat mat")] == ["the cat sat on the mat"]


def test_search_works_from_a_thread_whose_loop_is_closed(memory: MemoryManager) -> None:
    asyncio.run(asyncio.sleep(0))
    say(memory, "the cat sat on the mat")
    assert vector_ids(memory) == ["msg_1"]


async def test_only_what_says_something_and_is_no_instruction_is_embedded(memory: MemoryManager) -> None:
    for message in (
        Message("system", "be kind"),
        Message("assistant", None),
        Message("assistant", "  \n"),
        Message("tool", "the cat weighs 4 kg", tool_call_id="1", name="scales"),
    ):
        memory.save_message("s", message)
    await memory.wait_for_pending_embeddings()
    assert store_of(memory).get()[1] == ["the cat weighs 4 kg"]
    assert memory.backfill_embeddings() == 0


async def test_the_vectors_metadata_say_where_the_message_stands(memory: MemoryManager) -> None:
    say(memory, "the cat")
    await memory.wait_for_pending_embeddings()
    [members] = store_of(memory).get()[2]
    [found] = memory.storage.messages_by_id([1]).values()
    timestamp = present(found.created_at).replace(tzinfo=UTC).timestamp()
    assert members == {"session_id": "s", "message_id": 1, "role": "user", "timestamp": pytest.approx(timestamp)}


async def test_similarity_is_a_threshold_and_zero_is_one_too(memory: MemoryManager) -> None:
    say(memory, "red apple", "slow train")
    await memory.wait_for_pending_embeddings()
    everything = await memory.search("red apple", 5, min_similarity=-1.0)
    least = min(present(hit.similarity) for hit in everything)
    assert len(everything) == 2
    assert _texts(await memory.search("red apple", 5, min_similarity=0.9)) == ["red apple"]
    assert len(await memory.search("red apple", 5, min_similarity=0.0)) == 1 + (least >= 0.0)


async def test_only_what_is_related_is_found_by_meaning_by_words_and_by_both(memory: MemoryManager) -> None:
    long = "trains leave at nine and arrive in the dark of the night by way of a long tunnel below the pass: cat"
    say(memory, "the cat sat", "ships leave at noon", long, "rain falls")
    await memory.wait_for_pending_embeddings()
    asked = SearchFilter(related=True)
    for alpha in (None, 0.0, 0.5, 1.0):
        assert set(_texts(await memory.search_hybrid("cat", 10, asked, alpha))) == {"the cat sat", long}
        assert await memory.search_hybrid("quantum physics", 10, asked, alpha) == []
    assert _texts(await memory.search("cat", 10, filters=asked)) == ["the cat sat", long]
    assert len(await memory.search("cat", 10)) == 4


async def test_one_session_is_searched_alone(memory: MemoryManager) -> None:
    say(memory, "cat one", session="a")
    say(memory, "cat two", session="b")
    await memory.wait_for_pending_embeddings()
    assert [m.text for m in await memory.search_similar("cat", 5, "b")] == ["cat two"]
    assert _texts(await memory.search_hybrid("cat", 5, SearchFilter(session_ids=["a"]))) == ["cat one"]


FILTERS = [
    (SearchFilter(), ["ann's cat", "ann's old cat", "bob's cat"]),
    (SearchFilter(user="ann"), ["ann's cat", "ann's old cat"]),
    (SearchFilter(user="nobody"), []),
    (SearchFilter(tags_any=["pets", "x"]), ["ann's cat", "ann's old cat"]),
    (SearchFilter(tags_all=["pets", "x"]), []),
    (SearchFilter(tags_all=[]), ["ann's cat", "ann's old cat", "bob's cat"]),
    (SearchFilter(tags_any=[]), []),
    (SearchFilter(agent="scout"), ["bob's cat"]),
    (SearchFilter(visibility="private"), ["bob's cat"]),
    (SearchFilter(visibility="shared"), ["ann's cat", "ann's old cat"]),
    (SearchFilter(roles=["assistant"]), ["ann's old cat"]),
    (SearchFilter(roles=[]), []),
    (SearchFilter(session_ids=[]), []),
    (SearchFilter(session_ids=["b"], user="ann"), []),
    (SearchFilter(since=datetime(2026, 1, 1)), ["ann's cat", "bob's cat"]),
    (SearchFilter(until=datetime(2026, 1, 1, tzinfo=UTC)), ["ann's old cat"]),
    (SearchFilter(since=datetime(2025, 5, 5), until=datetime(2025, 5, 5)), []),
    (SearchFilter(min_importance=0.6), ["ann's cat", "bob's cat"]),
    (SearchFilter(min_importance=0.6, user="ann"), ["ann's cat"]),
    (SearchFilter(min_importance=0.0), ["ann's cat", "ann's old cat", "bob's cat"]),
]


async def test_filters_hold_for_every_search_and_before_the_best_are_taken(memory: MemoryManager) -> None:
    memory.create_session("", {"user": "ann", "tags": ["pets"]}, "a")
    memory.create_session("", {"user": "bob", "agent": "scout", "visibility": "private"}, "b")
    old, new = datetime(2025, 5, 5), datetime(2026, 2, 2)
    ids = memory.storage.save_messages(
        [
            MessageRecord(session_id="a", role="assistant", content="ann's old cat", created_at=old),
            MessageRecord(session_id="a", role="user", content="ann's cat", created_at=new),
            MessageRecord(session_id="b", role="user", content="bob's cat", created_at=new),
        ]
    )
    assert await memory.abackfill_embeddings() == 3
    memory.storage.set_importance({ids[0]: 0.3, ids[1]: 0.9})
    memory.pin_message(ids[2])
    for asked, found in FILTERS:
        assert sorted(_texts(await memory.search("cat", 10, filters=asked))) == found, asked
        assert sorted(_texts(await memory.search_hybrid("cat", 10, asked))) == found, asked
        assert sorted(_texts(await memory.search_hybrid("cat", 10, asked, alpha=0.5))) == found, asked
        assert len(await memory.search("cat", 1, filters=asked)) == min(1, len(found)), asked


async def test_deleted_messages_are_found_no_more_and_their_vectors_are_gone(memory: MemoryManager) -> None:
    say(memory, "cat one", session="a")
    say(memory, "cat two", session="b")
    await memory.wait_for_pending_embeddings()
    assert len(await memory.search_hybrid("cat", 5)) == 2
    memory.delete_session("a")
    assert vector_ids(memory) == ["msg_2"]
    assert _texts(await memory.search_hybrid("cat", 5)) == ["cat two"]
    memory.clear_history("b")
    assert await memory.search("cat", 5) == []
    assert await memory.search_hybrid("cat", 5) == []


async def test_context_passes_over_what_does_not_fit_and_goes_on(memory: MemoryManager) -> None:
    say(memory, "cat cat cat", "cat " * 200, "cat mat")
    await memory.wait_for_pending_embeddings()
    kept = await memory.get_relevant_context("cat", max_tokens=20)
    assert sorted(message.text for message in kept) == ["cat cat cat", "cat mat"]
    assert await memory.get_relevant_context("cat", max_tokens=0) == []


async def test_a_rare_word_brings_up_what_meaning_alone_would_not(memory: MemoryManager) -> None:
    say(memory, *(f"the build was slow on day {n}" for n in range(30)), "it ended with E4021 in config_loader.py")
    await memory.wait_for_pending_embeddings()
    for query in ("E4021", "config_loader.py", "what was E4021"):
        assert _texts(await memory.search_hybrid(query, 3))[0] == "it ended with E4021 in config_loader.py"


async def test_alpha_weighs_meaning_against_words(memory: MemoryManager) -> None:
    say(memory, "apples and pears", "apples apples apples apples", "trains")
    await memory.wait_for_pending_embeddings()
    by_meaning = await memory.search("apples", 2)
    assert _texts(await memory.search_hybrid("apples", 2, alpha=1.0)) == _texts(by_meaning)
    by_words = _texts(await memory.search_hybrid("pears", 3, alpha=0.0))
    assert by_words[0] == "apples and pears"


async def test_words_alone_are_searched_without_embeddings(tmp_path: Path) -> None:
    with MemoryManager(tmp_path / "memory.db") as memory:
        for session, text in enumerate(("the cat sat on the mat", "trains leave at nine", "明天去北京开会")):
            say(memory, text, session=str(session))
        assert _texts(await memory.search_hybrid("cat mat")) == ["the cat sat on the mat"]
        assert _texts(await memory.search_hybrid("北京")) == ["明天去北京开会"]
        assert await memory.search_hybrid("zebra") == []
        with pytest.raises(RuntimeError, match=r"^Semantic search not enabled"):
            await memory.search_similar("cat")
        with pytest.raises(RuntimeError, match=r"^Semantic search not enabled"):
            await memory.get_relevant_context("cat")


async def test_words_still_answer_while_the_embedder_is_down(tmp_path: Path) -> None:
    client = WordsClient()
    with manager(tmp_path, client) as memory:
        await asyncio.to_thread(say, memory, "the cat sat on the mat")
        client.is_down = True
        assert _texts(await memory.search_hybrid("cat")) == ["the cat sat on the mat"]
        with pytest.raises(ConnectionRefusedError):
            await memory.search("cat")


async def test_a_limit_below_one_finds_nothing(memory: MemoryManager) -> None:
    say(memory, "cat")
    assert await memory.search("cat", 0) == []
    assert await memory.search_hybrid("cat", -1) == []


async def test_vectors_of_another_model_are_never_compared(tmp_path: Path) -> None:
    with manager(tmp_path, ModelEmbeddingClient(HashedWords(name="old"))) as memory:
        await asyncio.to_thread(say, memory, "the cat")
    with manager(tmp_path, ModelEmbeddingClient(HashedWords(name="new"))) as memory:
        await asyncio.to_thread(say, memory, "the mat")
        with pytest.raises(EmbeddingModelChanged, match=r"old.*new"):
            await memory.search("cat")
        with pytest.raises(EmbeddingModelChanged):
            await memory.abackfill_embeddings()
        assert _texts(await memory.search_hybrid("mat"))[0] == "the mat"
        search = SemanticSearch(instance(MemoryStorage, memory.storage), memory.embedding_client, memory.vector_store)
        assert await asyncio.to_thread(search.reindex) == 2
        search.close()
        assert sorted(_texts(await memory.search("the"))) == ["the cat", "the mat"]


async def test_what_another_process_saved_is_found(tmp_path: Path) -> None:
    client = ModelEmbeddingClient(HashedWords())
    with manager(tmp_path, client) as one, manager(tmp_path, client) as other:
        await asyncio.to_thread(say, one, "the cat")
        assert _texts(await other.search_hybrid("cat")) == ["the cat"]
        await asyncio.to_thread(say, one, "a cat")
        assert len(await other.search("cat")) == 2
        assert len(await other.search_hybrid("cat")) == 2
        other.delete_session("s")
        assert await one.search_hybrid("cat") == []
        assert await one.search("cat") == []


async def test_a_vector_of_others_in_a_shared_store_is_shown_as_it_is_kept(memory: MemoryManager) -> None:
    vector = (await client_of(memory).embed(["a foreign cat"]))[0]
    store_of(memory).add(["note-7"], [vector], ["a foreign cat"], [{"role": "assistant", "session_id": "z"}])
    [hit] = await memory.search("a foreign cat")
    assert (hit.message, hit.session_id) == (Message("assistant", "a foreign cat"), "z")
