"""The embedding model's server fails: saves are taken, words are searched, and vectors follow by themselves."""

import asyncio

import numpy as np
import pytest

from mnemoir.chats.message_vectors import KIND as EMBED_MESSAGES
from mnemoir.core.conversations import Message
from mnemoir.core.scope import Scope
from tests.scripted_llm import Answer, closed_port_url, failure, html_page
from tests.server.server_kit import asks, error_of

MEMORIES = "/api/memories"
EMBEDDINGS = "/v1/embeddings"
WIDTH = 16  # of the scripted server's vectors

FAULTS = {
    "down": failure(503),
    "key refused": failure(401),
    "refused": failure(400),
    "no JSON": html_page(),
    "wrong width": Answer(vectors=[[1.0, 2.0]]),
    "null": Answer(vectors=[[None] + [1.0] * (WIDTH - 1)]),
    "NaN": Answer(vectors=[[float("nan")] + [1.0] * (WIDTH - 1)]),
    "too large": Answer(vectors=[[1e39] + [1.0] * (WIDTH - 1)]),
    "zero vector": Answer(vectors=[[0.0] * WIDTH]),
    "none": Answer(vectors=[]),
}


def embeds(llm) -> dict:
    """Settings of a server whose model and embedder are the scripted one."""
    return asks(llm) | {"embedding.provider": "openai", "embedding.model": "far-vectors"}


def said(*texts: str) -> dict:
    return {"messages": [{"role": "user", "content": text} for text in texts], "user_id": "mira", "infer": False}


async def found(server, query: str) -> tuple[list[str], list[str]]:
    """Texts found, best first, and what was missing."""
    answer = await server.post(f"{MEMORIES}/search", {"query": query, "user_id": "mira"})
    return [hit["memory"] for hit in answer["results"]], answer.get("degraded") or []


async def vectors(server) -> list[np.ndarray]:
    """Every stored vector."""
    query = "SELECT vector FROM entries WHERE vector IS NOT NULL"
    rows = await server.parts.memory.database.read(None, lambda sql: sql.rows(query))
    return [np.frombuffer(blob, dtype=np.float16).astype(np.float32) for (blob,) in rows]


async def filled_in(server, left: int = 0) -> None:
    """The product's own job fills in what is missing."""
    parts = server.parts
    async with asyncio.timeout(60):
        while (await parts.memory.store.backlog(parts.models.embedding.name))[0] > left:  # noqa: ASYNC110 - no row tells when it changes
            await asyncio.sleep(0.005)


async def no_job_waits(server) -> None:
    """Take away the job that was put for a text without a vector, so that nothing is filled in by itself."""
    background, queue = server.parts.upkeep.background, server.parts.upkeep.reembedding.queue
    async with asyncio.timeout(60):
        while not await background.waiting(queue, limit=1):  # noqa: ASYNC110 - no row tells when it changes
            await asyncio.sleep(0.005)
    await background.withdraw(queue, lambda job: True, patience_s=60)


@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_save_is_taken_found_by_words_and_gets_its_vector_later_by_itself(open_server, llm, fault):
    server, broken = await open_server(embeds(llm)), [False]
    llm.rule(lambda asked: broken[0] and asked.path == EMBEDDINGS, FAULTS[fault])
    await server.post(MEMORIES, said("Rows on the lake"))
    broken[0] = True
    await server.post(MEMORIES, said("Lives in Graz"))
    hits, degraded = await found(server, "does anyone live in Graz?")
    assert (hits[0], degraded) == ("Lives in Graz", ["vectors"])
    assert len(await vectors(server)) == 1
    await no_job_waits(server)
    broken[0] = False
    assert (await found(server, "who lives in the town of Graz?"))[1] == ["vectors_pending"]
    await filled_in(server)
    hits, degraded = await found(server, "Lives in Graz?")
    assert (hits[0], degraded) == ("Lives in Graz", [])
    stored = await vectors(server)
    assert [vector.shape for vector in stored] == [(WIDTH,)] * 2
    assert np.linalg.norm(stored, axis=1) == pytest.approx(1.0, abs=1e-2)


async def test_vectors_that_cannot_be_made_are_told_without_a_word_of_the_texts_until_they_can(open_server, llm):
    server, broken = await open_server(embeds(llm)), [True]
    refusal = failure(500, "I choke on: Lives in Graz")
    llm.rule(lambda asked: broken[0] and asked.path == EMBEDDINGS, refusal)
    await server.post(MEMORIES, said("Lives in Graz"))
    await no_job_waits(server)
    for wanted in (1, 0):
        broken[0] = bool(wanted)
        await server.parts.upkeep.reembedding.look()
        status = await server.get("/api/status")
        found = [remark["found"] for remark in status["remarks"] if remark["about"] == "work"]
        assert (len(found), "Graz" in str(found)) == (wanted, False)
        assert status["work"]["memory_vectors"] == {"done": 1 - wanted, "of": 1}
        assert not wanted or "llm_unavailable" in found[0]


async def test_an_embedder_that_is_not_there_takes_no_save_away(open_server, llm):
    server = await open_server(embeds(llm) | {"embedding.base_url": f"{closed_port_url()}/v1", "llm.tries": 1})
    await server.post(MEMORIES, said("Lives in Graz"))
    assert await found(server, "Graz?") == (["Lives in Graz"], ["vectors"])


async def test_vectors_of_another_width_for_a_client_leave_those_of_memories_alone(open_server, llm):
    server = await open_server(embeds(llm))
    llm.queue_embedding(FAULTS["wrong width"])
    answer = await server.post(EMBEDDINGS, {"model": "far-vectors", "input": "Graz"})
    assert answer["data"][0]["embedding"] == [1.0, 2.0]
    await server.post(MEMORIES, said("Rows on the lake"))
    assert [len(vector) for vector in await vectors(server)] == [WIDTH]


@pytest.mark.parametrize("fault", ["no JSON", "null", "NaN", "too large", "none"])
async def test_a_client_gets_an_error_for_vectors_that_are_none(open_server, llm, fault):
    server = await open_server(embeds(llm))
    llm.queue_embedding(FAULTS[fault])
    answer = await server.ask("POST", EMBEDDINGS, {"model": "far-vectors", "input": "Graz"})
    assert error_of(answer) == (502, "llm_invalid_output")


@pytest.mark.parametrize("fault", ["null", "too long"])
async def test_one_text_that_cannot_be_embedded_keeps_no_other_waiting(open_server, llm, fault):
    server = await open_server(embeds(llm))
    refusal = FAULTS["null"] if fault == "null" else failure(400, "maximum context length is 8192 tokens")
    llm.rule(lambda asked: asked.path == EMBEDDINGS and "poison" in asked.prompt, refusal)
    await server.post(MEMORIES, said("poison", "Rows on the lake", "Lives in Graz"))
    await filled_in(server, left=1)
    assert len(await vectors(server)) == 2
    assert (await found(server, "poison"))[0][0] == "poison"


@pytest.mark.parametrize("first", [WIDTH, 8])
async def test_a_model_that_changes_its_width_between_two_runs_breaks_no_search(open_server, llm, first):
    """The store then holds vectors of another width under the same name; those count as missing and are made anew."""
    llm.dimension = first
    one = await open_server(embeds(llm))
    await one.post(MEMORIES, said("Rows on the lake", "Lives in Graz"))
    await one.parts.aclose()
    llm.dimension = 24 - first
    two = await open_server(embeds(llm))
    await two.post(MEMORIES, said("Plays the cello"))
    for query in ("who lives in Graz?", "who plays the cello?"):
        hits, _ = await found(two, query)
        assert hits[0] in ("Lives in Graz", "Plays the cello")
    async with asyncio.timeout(60):
        while {len(vector) for vector in await vectors(two)} != {24 - first}:  # noqa: ASYNC110 - no row tells when it changes
            await asyncio.sleep(0.005)
    await filled_in(two)
    assert len(await vectors(two)) == 3
    assert (await found(two, "who lives in Graz?"))[1] == []


async def test_a_message_saved_during_an_outage_gets_its_vector_by_the_job_that_was_put_back(open_server, llm):
    server, broken = await open_server(embeds(llm) | {"llm.tries": 1}), [True]
    llm.rule(lambda asked: broken[0] and asked.path == EMBEDDINGS, failure(500, "down"))
    parts, owner = server.parts, Scope(project="default", user="mira")
    async with parts.chats.conversations.of(owner) as own:
        await asyncio.to_thread(own.manager.save_message, "s", Message("user", "Lives in Graz"))
        async with asyncio.timeout(60):
            while own.log.vector_counts() != {"failed": 1}:  # noqa: ASYNC110 - no row tells when it changes
                await asyncio.sleep(0.005)
            while not await is_put_back(parts.upkeep.jobs):  # noqa: ASYNC110
                await asyncio.sleep(0.005)
            broken[0] = False
            while own.log.vector_counts() != {"embedded": 1}:  # noqa: ASYNC110
                await asyncio.sleep(0.005)


async def is_put_back(jobs) -> bool:
    return any(job.kind == EMBED_MESSAGES and job.waiting and not job.running for job in await jobs.tally())
