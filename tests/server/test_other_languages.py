"""Facts and questions in other languages than English, over HTTP, with the models that are built in."""

import asyncio
import threading

import pytest

from mnemoir.providers.embedding import multilingual_model
from tests.storage.sealing_kit import a_key

MEMORIES = "/api/memories"
FACTS = ["Wohnt in Graz", "Ist Vegetarierin", "Arbeitet als Krankenschwester", "Mit Jonas verheiratet"]


async def keep(server, *texts, user="mira"):
    lines = [{"memory": text, "user_id": user, "created_at": "2026-03-01T09:15:00.000Z"} for text in texts]
    for line in lines:
        await server.post("/api/import", line)


async def asked(server, query, user="mira"):
    """Texts found, best first, and what was missing."""
    answer = await server.post(f"{MEMORIES}/search", {"query": query, "user_id": user, "limit": 10})
    return [hit["memory"] for hit in answer["results"]], answer.get("degraded") or []


async def filled(server):
    """All second vectors are made."""
    async with asyncio.timeout(60):
        while (await server.parts.upkeep.further_vectors[0].backlog())[0]:  # noqa: ASYNC110 - no row tells when it changes
            await asyncio.sleep(0.005)


@pytest.mark.costly("whichever is first loads the model")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("In welcher Stadt ist sie zu Hause?", "Wohnt in Graz"),
        ("What does she do for a living?", "Arbeitet als Krankenschwester"),
        ("¿Cuál es su profesión?", "Arbeitet als Krankenschwester"),
        ("她家在哪个城市？", "Wohnt in Graz"),
    ],
)
async def test_a_question_in_any_served_language_finds_the_fact(open_server, query, expected):
    server = await open_server({})
    await keep(server, *FACTS)
    await filled(server)
    hits, degraded = await asked(server, query)
    assert (hits[0], degraded) == (expected, [])


@pytest.mark.costly("whichever is first loads the model")
async def test_with_encryption_it_finds_the_fact_alike(open_server, tmp_path):
    keys = tmp_path / "key"
    keys.write_text(a_key())
    keys.chmod(0o600)
    server = await open_server({"encryption.mode": "fields", "encryption.key_file": str(keys)})
    await keep(server, *FACTS)
    await filled(server)
    hits, degraded = await asked(server, "What does she do for a living?")
    assert (hits[0], degraded) == ("Arbeitet als Krankenschwester", [])


@pytest.mark.costly("whichever is first loads the model")
async def test_a_first_question_in_another_language_says_that_vectors_are_still_made(open_server, monkeypatch):
    server, was_asked = await open_server({}), asyncio.Event()
    store = server.parts.upkeep.further_vectors[0]._store
    put = store.put_vectors

    async def put_later(*vectors):
        await was_asked.wait()
        return await put(*vectors)

    monkeypatch.setattr(store, "put_vectors", put_later)
    await keep(server, "Lives in Graz", "Is vegetarian")
    assert (await asked(server, "Wo wohnt sie?"))[1] == ["vectors_pending"]
    was_asked.set()
    await filled(server)
    assert await asked(server, "In welcher Stadt wohnt sie?") == (["Lives in Graz", "Is vegetarian"], [])


async def test_english_alone_has_no_second_vectors_and_loads_no_model(open_server, monkeypatch):
    monkeypatch.setattr(multilingual_model, "_loaded", [])
    server = await open_server({})
    await keep(server, "Lives in Graz", "Is vegetarian")
    assert (await asked(server, "Which city does she live in?"))[0][0] == "Lives in Graz"
    assert await server.parts.upkeep.further_vectors[0].backlog() == (0, 0)
    assert multilingual_model._loaded == []


@pytest.mark.slow
async def test_always_keeps_second_vectors_of_english_facts_too(open_server):
    server = await open_server({"embedding.multilingual": "always"})
    await keep(server, "Lives in Graz")
    await filled(server)
    assert await server.parts.upkeep.further_vectors[0].backlog() == (0, 1)
    assert await asked(server, "Which city is her home?") == (["Lives in Graz"], [])


@pytest.mark.costly("whichever is first loads the model")
async def test_a_search_does_not_wait_for_a_model_that_still_loads(open_server):
    server, may_load = await open_server({"memory.search_timeout_s": 0.01}), threading.Event()
    model = server.parts.upkeep.further_vectors[0]._embedding
    load = model._load
    model._load = lambda: may_load.wait() and load()
    try:
        await keep(server, *FACTS)
        hits, degraded = await asked(server, "Wer arbeitet als Krankenschwester?")
        assert hits[0] == "Arbeitet als Krankenschwester"
        assert "language" in degraded
    finally:
        may_load.set()
    await filled(server)


async def test_off_keeps_none(open_server):
    server = await open_server({"embedding.multilingual": "off"})
    await keep(server, *FACTS)
    assert server.parts.upkeep.further_vectors == []
    assert (await asked(server, "In welcher Stadt wohnt sie?"))[1] == []


async def test_a_language_that_is_not_served_is_named(open_server):
    server = await open_server({})
    await keep(server, "Lives in Graz")
    assert "language" in (await asked(server, "Mitä eläintä hän pitää?"))[1]


@pytest.mark.slow
async def test_a_model_that_cannot_be_loaded_leaves_words_and_the_english_model(open_server):
    def damaged():
        raise OSError("weights.npz is damaged")

    server = await open_server({})
    server.parts.upkeep.further_vectors[0]._embedding._load = damaged
    await keep(server, *FACTS)
    hits, degraded = await asked(server, "Wer arbeitet als Krankenschwester?")
    assert hits[0] == "Arbeitet als Krankenschwester"
    assert set(degraded) >= {"language"}


@pytest.mark.parametrize(
    "query",
    ["?", "😀😀😀", "и", "שלום नमस्ते hello 東京", "der die das und", "猫" * 50_000, "wort " * 20_000, "x\x00y\u2028"],
)
async def test_any_question_is_answered(open_server, query):
    server = await open_server({})
    await keep(server, *FACTS)
    hits, _ = await asked(server, query)
    assert isinstance(hits, list)


async def test_near_facts_are_looked_for_by_the_english_model_alone(open_server):
    server = await open_server({})
    await keep(server, "Ist allergisch gegen Nüsse", "Is allergic to nuts")
    await filled(server)
    answer = await server.get(f"{MEMORIES}/duplicates?user_id=mira")
    assert answer["results"] == []
