"""A client of `embed`, `embed_single`, `dimension` and a store of `add`, `search` are enough everywhere."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from structlog.testing import capture_logs

from mnemoir.agent import Agent, CompletionResponse
from mnemoir.conversations import (
    ChromaDBVectorStore,
    MemoryManager,
    SearchFilter,
    VectorFileStore,
    check_embedding_client,
)
from mnemoir.conversations.search.client_model import ClientModel
from mnemoir.conversations.search.embedding_jobs import EmbeddingModelChanged
from mnemoir.conversations.search.session_search import SearchHost
from mnemoir.storage.pack_files import PackFiles
from tests.conversations.least_kit import LEAST_CLIENTS, LeastClient, LeastStore, PlainClient
from tests.conversations.session_kit import assistant, user
from tests.narrowing import present

STORES = {
    "vector file": lambda folder: VectorFileStore("least", folder),
    "chromadb": lambda folder: ChromaDBVectorStore("least", folder / "chroma"),
    "two members": lambda folder: LeastStore(),
}


@pytest.fixture(params=LEAST_CLIENTS)
def client(request):
    return LEAST_CLIENTS[request.param]()


@pytest.fixture(params=STORES)
def store(request, tmp_path):
    made = STORES[request.param](tmp_path)
    yield made
    close = getattr(made, "close", None)
    if close is not None:
        close()


async def texts(memory, question, **more):
    return [message.text for message in await memory.search_similar(question, **more)]


async def test_what_is_saved_is_found_back_filled_and_embedded_again(tmp_path, client, store):
    with MemoryManager(tmp_path / "m.db") as plain:
        plain.save_message("old", user("the boat is red"))
    with MemoryManager(tmp_path / "m.db", embedding_client=client, vector_store=store) as memory:
        await asyncio.to_thread(memory.save_messages, "new", [user("the train leaves at nine"), assistant("noted")])
        assert await texts(memory, "when leaves the train", top_k=1) == ["the train leaves at nine"]
        assert await memory.abackfill_embeddings() == 1
        assert await texts(memory, "the boat", session_id="old", min_similarity=0.1) == ["the boat is red"]
        assert (await memory.get_relevant_context("the boat", 4))[0].text == "the boat is red"
        assert await asyncio.to_thread(memory.reindex_embeddings) == 3
        assert await texts(memory, "the boat", top_k=1) == ["the boat is red"]
        assert [hit.message.text for hit in await memory.search_hybrid("train nine", 1)] == [
            "the train leaves at nine"
        ]
        assert memory.storage.vector_counts() == {"embedded": 3}


async def test_an_agent_recalls_with_it(tmp_path, client, store):
    class Model:
        def __init__(self):
            self.asked = []

        async def complete(self, messages, tools):
            self.asked = [message.content for message in messages]
            return CompletionResponse(content="Teal.")

    with MemoryManager(tmp_path / "m.db", embedding_client=client, vector_store=store) as memory:
        memory.create_session("", {"user": "ann"}, session_id="before")
        memory.create_session("", {"user": "ann"}, session_id="earlier")
        memory.create_session("", {"user": "ann"}, session_id="now")
        await asyncio.to_thread(memory.save_message, "before", user("my colour is teal"))
        model = Model()
        agent = Agent(model, [], memory_manager=memory, session_id="now", enable_rag=True, rag_min_similarity=0.2)
        assert await agent.run("what is my colour") == "Teal."
        assert "[USER]: my colour is teal" in model.asked[-1]


async def test_plain_functions_run_in_no_thread_with_a_loop(tmp_path):
    client = PlainClient()
    with MemoryManager(tmp_path / "m.db", embedding_client=client, vector_store=LeastStore()) as memory:
        await asyncio.to_thread(memory.save_message, "s", user("tea"))
        assert await texts(memory, "tea") == ["tea"]
    assert client.threads
    assert client.threads.isdisjoint({threading.current_thread().name, "mnemoir-embedding"})


def test_what_a_plain_function_has_to_embed_at_the_end_is_embedded_by_the_thread_that_ends(tmp_path):
    """As when the interpreter ends: no further thread can be started."""
    client = PlainClient()

    async def embed() -> str:
        ended = ThreadPoolExecutor()
        ended.shutdown()
        asyncio.get_running_loop().set_default_executor(ended)
        return await ClientModel(client).find()

    assert asyncio.run(embed())
    assert client.threads == {threading.current_thread().name}


def test_the_name_is_of_class_length_and_vectors(tmp_path):
    def name_of(client):
        with MemoryManager(tmp_path / "m.db", embedding_client=client, vector_store=LeastStore()) as memory:
            return memory.embedding_model

    class Other(LeastClient):
        pass

    class Noisy(LeastClient):
        def _vector(self, text):
            return [x + 1e-6 for x in super()._vector(text)]

    Noisy.__module__, Noisy.__qualname__ = LeastClient.__module__, LeastClient.__qualname__
    name = name_of(LeastClient())
    assert name is not None
    assert name.startswith("tests.conversations.least_kit.LeastClient, 64 numbers, ")
    assert name_of(LeastClient()) == name_of(Noisy()) == name
    assert len({name, name_of(Other()), name_of(LeastClient("other")), name_of(LeastClient("third"))}) == 4


def test_the_two_texts_are_embedded_once_where_the_client_is_given(tmp_path):
    client = LeastClient()
    with MemoryManager(tmp_path / "m.db", embedding_client=client, vector_store=LeastStore()) as memory:
        [probe] = client.asked
        memory.save_message("s", user("tea"))
        memory.backfill_embeddings()
        assert client.asked.count(probe) == 1


def test_other_vectors_are_those_of_another_model(tmp_path):
    for salt in ("", "changed"):
        with MemoryManager(
            tmp_path / "m.db", embedding_client=LeastClient(salt), vector_store=VectorFileStore("v", tmp_path)
        ) as memory:
            if not salt:
                memory.save_message("s", user("tea"))
                assert memory.backfill_embeddings() == 0
                continue
            with pytest.raises(EmbeddingModelChanged, match=r"were made by .*LeastClient, 64 numbers"):
                asyncio.run(memory.search("tea"))
            assert memory.reindex_embeddings() == 1
            assert [hit.message.text for hit in asyncio.run(memory.search("tea"))] == ["tea"]


def test_a_client_that_is_down_where_it_is_given_loses_nothing(tmp_path):
    client = LeastClient()
    client.is_down = True
    with MemoryManager(tmp_path / "m.db", embedding_client=client, vector_store=LeastStore()) as memory:
        memory.save_message("s", user("tea"))
        assert memory.backfill_embeddings() == 0
        assert [hit.message.text for hit in asyncio.run(memory.search_hybrid("tea"))] == ["tea"]
        with pytest.raises(ConnectionError):
            asyncio.run(memory.search("tea"))
        client.is_down = False
        assert memory.backfill_embeddings() == 1
        memory.save_message("s", user("rum"))
        assert [hit.message.text for hit in asyncio.run(memory.search("rum", 1))] == ["rum"]
        assert memory.storage.vector_counts() == {"embedded": 2}


async def test_the_check_of_clients_takes_it(client):
    assert await check_embedding_client(client) == 64


def test_a_store_that_cannot_delete_is_warned_of_once_and_shows_nothing_deleted(tmp_path):
    store = LeastStore()
    with (
        capture_logs() as logs,
        MemoryManager(tmp_path / "m.db", embedding_client=LeastClient(), vector_store=store) as memory,
    ):
        memory.save_message("s", user("tea with milk"))
        memory.save_message("t", user("rum"))
        memory.delete_session("s")
        memory.clear_history("t")
        memory.backfill_embeddings()
        assert asyncio.run(memory.search("tea")) == []
    [warning] = [log for log in logs if log["log_level"] == "warning"]
    assert (warning["event"], warning["store"]) == ("vector_store_cannot_delete", "LeastStore")
    assert "Deleted text stays in it" in warning["effect"]
    assert set(store.rows) == {"msg_1", "msg_2"}


def test_whole_stores_are_not_warned_of(tmp_path):
    with (
        capture_logs() as logs,
        MemoryManager(tmp_path / "m.db", embedding_client=LeastClient(), vector_store=VectorFileStore("v", tmp_path)),
    ):
        pass
    assert logs == []


def test_what_could_not_be_deleted_is_deleted_once_the_store_can(tmp_path):
    class Deleting(LeastStore):
        def delete(self, ids):
            for id in ids:
                self.rows.pop(id, None)

    first, second = LeastStore(), Deleting()
    with MemoryManager(tmp_path / "m.db", embedding_client=LeastClient(), vector_store=first) as memory:
        memory.save_message("s", user("tea"))
        memory.delete_session("s")
    second.rows = first.rows
    with MemoryManager(tmp_path / "m.db", embedding_client=LeastClient(), vector_store=second) as memory:
        memory.save_message("t", user("rum"))
        memory.delete_session("unknown")
        assert set(second.rows) == {"msg_2"}


def test_a_store_in_memory_is_filled_again_after_a_restart(tmp_path):
    for _ in range(2):
        store = LeastStore()
        with MemoryManager(tmp_path / "m.db", embedding_client=LeastClient(), vector_store=store) as memory:
            if not memory.get_message_count("s"):
                memory.save_messages("s", [user("tea"), user("rum")])
            memory.backfill_embeddings()
            assert set(store.rows) == {"msg_1", "msg_2"}
            assert memory.backfill_embeddings() == 0


FILTERS = [
    (SearchFilter(session_ids=["a", "b"]), ["tea a", "tea b"]),
    (SearchFilter(roles=["user"]), ["tea a", "tea b"]),
    (SearchFilter(roles=["assistant"], session_ids=["c"]), ["tea c"]),
    (SearchFilter(since=datetime(2100, 1, 1, tzinfo=UTC)), []),
    (SearchFilter(until=datetime(2100, 1, 1)), ["tea a", "tea b", "tea c"]),
    (SearchFilter(user="ann"), ["tea a"]),
]


@pytest.mark.parametrize(("filters", "expected"), FILTERS)
async def test_conditions_that_the_store_does_not_know_hold_all_the_same(tmp_path, filters, expected):
    with MemoryManager(tmp_path / "m.db", embedding_client=LeastClient(), vector_store=LeastStore()) as memory:
        memory.create_session("", {"user": "ann"}, session_id="a")
        for name, say in (("a", user), ("b", user), ("c", assistant)):
            await asyncio.to_thread(memory.save_message, name, say(f"tea {name}"))
        assert sorted(hit.message.text for hit in await memory.search("tea", 9, filters=filters)) == expected


async def test_within_a_server_the_first_job_finds_the_name(tmp_path, client, store):
    host = SearchHost(loop=asyncio.get_running_loop(), request=lambda: None, packs=PackFiles(tmp_path / "packs"))
    with MemoryManager(tmp_path / "m.db", embedding_client=client, vector_store=store, host=host) as memory:
        await asyncio.to_thread(memory.save_messages, "s", [user("tea"), user("rum")])
        assert memory.storage.vector_counts() == {"pending": 2}
        await memory.wait_for_pending_embeddings()
        assert memory.storage.vector_counts() == {"embedded": 2}
        assert await texts(memory, "rum", top_k=1) == ["rum"]


async def test_within_a_server_a_search_finds_the_name_as_well(tmp_path, client):
    host = SearchHost(loop=asyncio.get_running_loop(), request=lambda: None, packs=PackFiles(tmp_path / "packs"))
    with MemoryManager(tmp_path / "m.db", embedding_client=client, vector_store=LeastStore(), host=host) as memory:
        await asyncio.to_thread(memory.save_message, "s", user("tea"))
        assert await texts(memory, "tea") == []
        assert (await memory.search_hybrid("tea"))[0].message.text == "tea"
        assert await memory.fill_vectors() is False
        assert await texts(memory, "tea") == ["tea"]


def test_a_store_of_two_members_gets_the_vectors_of_another_model_under_the_same_ids(tmp_path):
    store = LeastStore()
    for salt, embedded in (("", 0), ("changed", 2), ("changed", 0)):
        with MemoryManager(tmp_path / "m.db", embedding_client=LeastClient(salt), vector_store=store) as memory:
            if not memory.get_message_count("s"):
                memory.save_messages("s", [user("tea"), user("rum")])
            assert memory.backfill_embeddings() == embedded
            assert asyncio.run(memory.search("rum", 1))[0].message.text == "rum"
    assert set(store.rows) == {"msg_1", "msg_2"}


def test_vectors_of_any_shape_of_numbers_are_taken(tmp_path):
    class Arrays(LeastClient):
        async def embed(self, texts):
            return np.array(await super().embed(texts), np.float64)

        async def embed_single(self, text):
            return np.array(await super().embed_single(text))

    with MemoryManager(tmp_path / "m.db", embedding_client=Arrays(), vector_store=LeastStore()) as memory:
        memory.save_message("s", user("tea"))
        assert asyncio.run(memory.search("tea"))[0].message.text == "tea"


def test_a_client_that_embeds_one_text_at_a_time_has_a_name_too(tmp_path):
    class OneByOne(LeastClient):
        async def embed(self, texts):
            return (await super().embed(texts))[:1]

    with MemoryManager(tmp_path / "m.db", embedding_client=OneByOne(), vector_store=LeastStore()) as memory:
        assert present(memory.embedding_model).endswith(name_of_vectors(LeastClient()))
        memory.save_message("s", user("tea"))
        assert asyncio.run(memory.search("tea"))[0].message.text == "tea"


def name_of_vectors(client):
    """The end of the name, which the vectors alone decide."""
    return asyncio.run(ClientModel(client).find()).partition(", ")[2]


MORE: dict[str, Callable[..., Any]] = {
    "delete": lambda self, ids: [self.rows.pop(id, None) for id in ids],
    "get": lambda self, ids: ([id for id in ids if id in self.rows], [], []),
    "count": lambda self: len(self.rows),
    "clear": lambda self: self.rows.clear(),
}


@pytest.mark.parametrize("names", [*((name,) for name in MORE), tuple(MORE)], ids="+".join)
def test_a_store_may_have_any_of_the_other_methods(tmp_path, names):
    store = type("Some", (LeastStore,), {name: MORE[name] for name in names})()
    with MemoryManager(tmp_path / "m.db", embedding_client=LeastClient(), vector_store=store) as memory:
        memory.save_messages("s", [user("tea"), user("rum")])
        memory.save_message("t", user("milk"))
        memory.delete_session("t")
        assert set(store.rows) == {"msg_1", "msg_2"} | (set() if "delete" in names else {"msg_3"})
        store.rows.clear()
        assert (memory.backfill_embeddings(), memory.reindex_embeddings(), memory.backfill_embeddings()) == (2, 2, 0)
        filters = SearchFilter(session_ids=["s", "u"], roles=["user"])
        [best, _] = asyncio.run(memory.search("rum", filters=filters))
        assert best.message.text == "rum"
