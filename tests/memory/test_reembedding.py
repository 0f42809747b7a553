"""Vectors that are missing are filled in: after an outage, after a change of the embedding model, after a crash."""

import asyncio
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest

from mnemoir.core.errors import ProviderError
from mnemoir.core.ids import new_memory_id
from mnemoir.core.memories import Add, Memory, Provenance
from mnemoir.core.scope import Scope
from mnemoir.memory.background import Background
from mnemoir.memory.reembedding import KIND, Reembedding
from mnemoir.ports.embedding import Passage
from mnemoir.ports.memory_store import Visible
from mnemoir.providers.embedding.minilm_model import MiniLM
from mnemoir.providers.embedding.remote import OpenAIEmbeddings
from mnemoir.providers.http import new_session
from mnemoir.providers.llm.endpoint import Endpoint
from mnemoir.search.indexing import Indexing
from mnemoir.search.recall import Question, Recall
from mnemoir.storage.sql import SqlJobQueue, SqlMemoryStore
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


def filling(store, model):
    """What fills in, without the queue that has it done."""
    return Reembedding(store, Indexing(model), model, Background(SqlJobQueue(store._db), {}), asyncio.Event())


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
    assert await filling(store, model).fill() == 3
    assert await store.backlog(model.name) == (0, 3)


@pytest.mark.slow
async def test_a_change_of_the_model_embeds_everything_anew_and_search_follows(store, remote, minilm):
    old, _ = remote
    await keep(store, Indexing(old), [*FACTS, "Plays the cello"])
    assert await store.backlog(minilm.name) == (151, 151)
    now = Visible(now=datetime.now(UTC))
    question = Question(text="which instrument?", limit=1, asked_at=now.now)
    before = await Recall(store, minilm).search(SCOPE, question, now)
    assert before.degraded != ()
    assert await filling(store, minilm).fill() == 151
    after = await Recall(store, minilm).search(SCOPE, question, now)
    assert (after.degraded, [hit.memory.text for hit in after.hits]) == ((), ["Plays the cello"])


async def test_a_filling_that_broke_off_goes_on_where_it_was(store, remote, minilm):
    model, llm = remote
    await keep(store, Indexing(minilm), FACTS)
    llm.rule(lambda asked: len(llm.requests) == 2, failure(503))
    job = filling(store, model)
    with pytest.raises(ProviderError):
        await job.fill()
    assert await store.backlog(model.name) == (86, 150)  # one call of 64 texts was kept
    assert await job.fill() == 86


@asynccontextmanager
async def working(store, model, noted):
    """The product's own queue and task, at work; gives the queue."""
    jobs = SqlJobQueue(store._db)
    background = Background(jobs, {}, first_wait_s=3600)
    task = Reembedding(store, Indexing(model), model, background, noted)
    await background.start()
    task.start()
    try:
        yield jobs
    finally:
        await task.aclose()
        await background.aclose()


async def until(look):
    async with asyncio.timeout(60):
        while not await look():  # noqa: ASYNC110 - no row tells when it changes
            await asyncio.sleep(0.005)


async def test_a_job_that_was_put_back_is_done_at_once_when_somebody_finds_the_model_working(tmp_path, remote):
    model, llm = remote
    noted, is_down = asyncio.Event(), [True]
    llm.rule(lambda asked: is_down[0], failure(503))
    database = open_database(tmp_path / "noted.db")
    store = SqlMemoryStore(database, note_pending=noted.set)
    try:
        async with working(store, model, noted) as jobs:
            await keep(store, Indexing(model), FACTS[:3])

            async def was_put_back():
                if not llm.requests:  # what waits has not begun yet
                    return []
                return [job for job in await jobs.tally() if job.kind == KIND and job.waiting and not job.running]

            async def is_filled():
                return (await store.backlog(model.name))[0] == 0

            await until(was_put_back)
            is_down[0] = False
            now = Visible(now=datetime.now(UTC))
            recall = Recall(store, model, note_pending=noted.set)
            found = await recall.search(SCOPE, Question(text="number 2?", asked_at=now.now), now)
            assert found.degraded == ("vectors_pending",)
            await until(is_filled)
    finally:
        await database.aclose()
