"""What would be recalled: the lines of a chat, by its own search and bounds, of a question that nobody has asked."""

from typing import Any

import pytest

from tests.scripted_llm import ScriptedLLM
from tests.scripted_memory import ScriptedMemory
from tests.server.conftest import OpenServer
from tests.server.server_kit import Server, asks, error_of
from tests.server.test_recall_by_tokens import FACTS, remembered

RECALL, QUESTION = "/api/memories/recall", "Whose dog is it, my sister's?"


async def preview(server: Server, question: str = QUESTION, user: str = "mira") -> Any:
    return await server.post(RECALL, {"query": question, "user_id": user})


@pytest.mark.parametrize("bounds", [{}, {"memory.recall_fact_tokens": 40}, {"memory.recall_tokens": 30}])
async def test_it_gives_the_very_lines_that_a_chat_is_given(
    open_server: OpenServer, llm: ScriptedLLM, bounds: dict[str, int]
) -> None:
    server = await open_server(asks(llm) | bounds)
    await remembered(server)
    told = await preview(server)
    asked = {"messages": [{"role": "user", "content": QUESTION}], "memoryEnabled": True, "conversation_id": "s-1"}
    await server.post("/v1/chat/completions", {"model": "any", "user": "mira", **asked})
    shown = llm.requests[-1].body["messages"][-1]["content"].splitlines()
    lines = [f"- [{line['day']}] {line['memory']}" for line in told["results"]]
    assert sorted(lines) == sorted(line for line in shown if line.startswith("- ["))
    assert 0 < told["tokens"] == sum(line["tokens"] for line in told["results"]) <= told["max_tokens"]
    assert told["max_tokens"] == bounds.get("memory.recall_tokens", 1200)


async def test_what_fits_comes_first_and_each_line_names_its_memory(server: Server) -> None:
    await remembered(server)
    told = (await preview(server))["results"]
    assert {line["memory"] for line in told[:2]} == {"Has a dog called Rex", "Sister is called Anna"}
    assert [line["fits"] for line in told] == [True] * 2 + [False] * (len(FACTS) - 2)
    known = {one["id"]: one["memory"] for one in (await server.get("/api/memories/mira"))["results"]}
    assert {line["id"]: line["memory"] for line in told} == known


async def test_it_is_no_recall_and_stores_nothing(server: Server) -> None:
    await remembered(server)
    before = await server.get("/api/memories/mira/map"), server.parts.chats.times.recall.last(1)
    await preview(server)
    assert (await server.get("/api/memories/mira/map"), server.parts.chats.times.recall.last(1)) == before
    assert (await server.get("/api/conversations?user_id=mira"))["results"] == []
    assert (await server.get("/api/runs"))["results"] == []


async def test_nothing_is_given_of_nobody_nor_where_memory_is_off(server: Server) -> None:
    await remembered(server)
    nothing = {"results": [], "tokens": 0, "max_tokens": 1200, "memory_enabled": True, "degraded": ""}
    assert await preview(server, user="nobody") == nothing
    assert (await server.ask("PUT", "/api/memories/settings", {"memoryEnabled": False})).status == 200
    assert await preview(server) == nothing | {"max_tokens": 0, "memory_enabled": False}


async def test_a_question_is_needed_and_the_path_names_no_user(server: Server) -> None:
    for wrong in ({"query": " ", "user_id": "mira"}, {"user_id": "mira"}, {"query": "x"}):
        assert (await server.ask("POST", RECALL, wrong)).status == 422
    assert error_of(await server.ask("GET", RECALL)) == (405, "method_not_allowed")


async def test_another_memory_server_is_not_asked_of_users_that_the_key_is_not_for(open_server: OpenServer) -> None:
    with ScriptedMemory(hits=["Is vegetarian"]) as memory:
        server = await open_server({"memory.management_url": memory.url})
        key = server.parts.access.api_keys.create(role="read", user="mira", by="test")[1]
        body = {"query": QUESTION, "user_id": "otto"}
        of_otto = await server.post(RECALL, body, x_api_key=key)
        of_mira = await server.post(RECALL, body | {"user_id": "mira"}, x_api_key=key)
    assert (of_otto["results"], [line["memory"] for line in of_mira["results"]]) == ([], ["Is vegetarian"])
    assert [asked.body["user_id"] for asked in memory.asked("/api/memories/search")] == ["mira"]
