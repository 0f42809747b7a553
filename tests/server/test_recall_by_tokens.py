"""Recall by tokens: how much of memory a search gives and a chat is shown, and in which order."""

from typing import Any

from tests.scripted_llm import ScriptedLLM
from tests.server.conftest import OpenServer
from tests.server.server_kit import Server, asks

FACTS = [
    "Lives in Graz", "Is a vegetarian", "Allergic to nuts", "Works as a nurse", "Has a dog called Rex",
    "Plays the violin", "Is learning Spanish", "Cycles to work", "Sister is called Anna", "Likes night trains",
]  # fmt: skip


async def remembered(server: Server, texts: list[str] = FACTS) -> None:
    for day, text in enumerate(texts, start=1):
        record = {"memory": text, "user_id": "mira", "created_at": f"2026-03-{day:02}T09:15:00.000Z"}
        assert (await server.ask("POST", "/api/import", record)).status == 200


async def found(server: Server, **more: Any) -> list[dict[str, Any]]:
    body = {"query": "What should I cook tonight?", "user_id": "mira", **more}
    results: list[dict[str, Any]] = (await server.post("/api/memories/search", body))["results"]
    return results


async def test_few_facts_are_all_found_and_the_far_ones_are_marked(server: Server) -> None:
    await remembered(server)
    hits = await found(server, limit=50)
    assert {hit["memory"] for hit in hits} == set(FACTS)
    assert {hit.get("likely", True) for hit in hits} == {True, False}


async def test_of_all_that_is_found_the_answer_tells_what_fits_the_question(server: Server) -> None:
    await remembered(server)
    hits = await found(server, query="Whose dog is it, my sister's?", limit=50)
    assert {hit["memory"] for hit in hits if hit["fits"]} == {"Has a dog called Rex", "Sister is called Anna"}


async def test_a_threshold_cuts_unlikely_facts_too(server: Server) -> None:
    await remembered(server)
    assert all(hit["score"] >= 0.2 for hit in await found(server, limit=50, threshold=0.2))


async def test_the_gate_can_be_brought_back(open_server: OpenServer) -> None:
    server = await open_server({"memory.recall_unlikely": False})
    await remembered(server)
    assert not [hit for hit in await found(server, limit=50) if "likely" in hit]


async def test_results_end_by_tokens_and_the_limit_of_five_is_nobodys_wish(server: Server) -> None:
    await remembered(server)
    assert len(await found(server, limit=5, max_tokens=800)) == len(FACTS)
    assert len(await found(server, limit=3, max_tokens=800)) == 3
    assert len(await found(server, max_tokens=800, max_fact_tokens=9)) == 2
    assert await found(server, max_tokens=1) == []


async def test_what_is_too_long_is_passed_over_and_counted(server: Server) -> None:
    await remembered(server, ["Is fond of " + "red " * 3000 + "shoes", "Is fond of night trains"])
    question = {"query": "What is she fond of?", "user_id": "mira"}
    both = await server.post("/api/memories/search", question)
    assert (len(both["results"]), "no_room" in both) == (2, False)
    for bounds in ({"max_tokens": 1200, "max_fact_tokens": 400}, {"max_tokens": 9999, "max_fact_tokens": 9}):
        some = await server.post("/api/memories/search", {**question, **bounds})
        assert [hit["memory"] for hit in some["results"]] == ["Is fond of night trains"]
        assert some["no_room"] == 1


async def test_a_chat_is_shown_what_fits_beside_what_is_too_long(open_server: OpenServer, llm: ScriptedLLM) -> None:
    server = await open_server(asks(llm))
    await remembered(server, ["Is fond of " + "red " * 3000 + "shoes", "Is fond of night trains"])
    question = {"messages": [{"role": "user", "content": "What am I fond of?"}], "memoryEnabled": True}
    await server.post("/v1/chat/completions", {"model": "any", "user": "mira", **question})
    shown = llm.requests[-1].body["messages"][-1]["content"]
    assert ("night trains" in shown, "shoes" in shown) == (True, False)


async def test_a_saved_limit_bounds_beside_the_tokens(server: Server) -> None:
    await remembered(server)
    assert (await server.ask("PUT", "/api/memories/settings", {"searchLimit": 5})).status == 200
    assert len(await found(server, limit=5, max_tokens=800)) == 5


async def test_limits_of_tokens_are_positive_numbers(server: Server) -> None:
    for wrong in (0, -1, "many", 1.5):
        answer = await server.ask(
            "POST", "/api/memories/search", {"query": "x", "user_id": "mira", "max_tokens": wrong}
        )
        assert answer.status == 422, wrong


async def test_a_chat_is_shown_what_fits_oldest_first(open_server: OpenServer, llm: ScriptedLLM) -> None:
    server = await open_server(asks(llm))
    await remembered(server)
    question = {"messages": [{"role": "user", "content": "What should I cook tonight?"}], "memoryEnabled": True}
    await server.post("/v1/chat/completions", {"model": "any", "user": "mira", **question})
    [shown] = [message["content"] for message in llm.requests[-1].body["messages"] if message["role"] == "user"]
    assert [line.partition("] ")[2] for line in shown.splitlines() if line.startswith("- [")] == FACTS
