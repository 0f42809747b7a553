"""Vectors that are missing are filled in: after an outage, after a change of the embedding model, after a crash."""

from datetime import UTC, datetime

import pytest

from mnemoir.core.errors import ProviderError
from mnemoir.core.ids import new_memory_id
from mnemoir.core.memories import Add, Memory, Provenance
from mnemoir.core.scope import Scope
from mnemoir.memory.reembedding import Reembedding
from mnemoir.ports.embedding import Passage
from mnemoir.ports.memory_store import Visible
from mnemoir.providers.embedding.minilm_model import MiniLM
from mnemoir.providers.embedding.remote import OpenAIEmbeddings
from mnemoir.providers.http import new_session
from mnemoir.providers.llm.endpoint import Endpoint
from mnemoir.search.indexing import Indexing
from mnemoir.search.recall import Question, Recall
from mnemoir.storage.sql import SqlMemoryStore
from mnemoir.storage.sqlite import open_database
from tests.scripted_llm import ScriptedLLM, failure

SCOPE = Scope(project="p", user="alex")
FACTS = [f"Likes number {number}" for number in range(150)]


@pytest.fixture
async def store(tmp_path):
    database = open_database(tmp_path / "mnemoir.db")
    yield SqlMemoryStore(database)
    await database.aclose()


@pytest.fixture
async def minilm():
    model = MiniLM()
    yield model
    await model.aclose()


@pytest.fixture
async def remote():
    """A remote embedding model whose server can be told to fail."""
    async with ScriptedLLM() as llm, new_session() as session:
        endpoint = Endpoint(base_url=llm.openai_url, model="scripted", tries=1)
        yield OpenAIEmbeddings(endpoint, session), llm


async def keep(store, indexing, texts):
    entries = await indexing.entries([Passage(text=text) for text in texts])
    memories = [Memory(id=new_memory_id(), text=t, user="alex", created_at="2026-01-01T00:00:00.000Z") for t in texts]
    adds = [Add(memory=memory, entry=entry) for memory, entry in zip(memories, entries, strict=True)]
    await store.commit(SCOPE, adds, Provenance(reason="test"))


async def test_what_was_kept_during_an_outage_gets_its_vectors_afterwards(store, remote):
    model, llm = remote
    llm.queue_embedding(failure(503))
    await keep(store, Indexing(model), FACTS[:3])
    assert await store.backlog(model.name) == (3, 3)
    assert await Reembedding(store, Indexing(model), model).fill() == 3
    assert await store.backlog(model.name) == (0, 3)


async def test_a_change_of_the_model_embeds_everything_anew_and_search_follows(store, remote, minilm):
    old, _ = remote
    await keep(store, Indexing(old), [*FACTS, "Plays the cello"])
    assert await store.backlog(minilm.name) == (151, 151)
    now = Visible(now=datetime.now(UTC))
    question = Question(text="which instrument?", limit=1, asked_at=now.now)
    before = await Recall(store, minilm).search(SCOPE, question, now)
    assert before.degraded != ()
    assert await Reembedding(store, Indexing(minilm), minilm).fill() == 151
    after = await Recall(store, minilm).search(SCOPE, question, now)
    assert (after.degraded, [hit.memory.text for hit in after.hits]) == ((), ["Plays the cello"])


async def test_a_filling_that_broke_off_goes_on_where_it_was(store, remote, minilm):
    model, llm = remote
    await keep(store, Indexing(minilm), FACTS)
    llm.rule(lambda asked: len(llm.requests) == 2, failure(503))
    filling = Reembedding(store, Indexing(model), model)
    with pytest.raises(ProviderError):
        await filling.fill()
    assert await store.backlog(model.name) == (86, 150)  # one call of 64 texts was kept
    assert await filling.fill() == 86
