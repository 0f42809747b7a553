"""The tools over HTTP as agents use them: the real client of the protocol, both ways to begin, a real server."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import aiohttp
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextContent, TextResourceContents

from tests.narrowing import instance
from tests.serving import ServerProcess

KEY = "a-key-of-sixteen-characters"
MODES: tuple[Literal["auto", "legacy"], ...] = ("auto", "legacy")  # of 2026-07-28, and with a handshake


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("mcp-http") / "data", environment={"API_KEYS": KEY}) as running:
        yield running


@asynccontextmanager
async def agent(
    server: ServerProcess, user: str, mode: Literal["auto", "legacy"] = "auto", key: str = KEY
) -> AsyncIterator[Client]:
    """An agent that calls the server as one user."""
    headers = {"X-User-Id": user} | ({"Authorization": f"Bearer {key}"} if key else {})
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(f"{server.url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


@asynccontextmanager
async def rest(server: ServerProcess) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(server.url, headers={"Authorization": f"Bearer {KEY}"}) as http:
        yield http


async def told(client: Client, tool: str, **arguments: Any) -> Any:
    """The structured result of a tool, which must not have failed."""
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    assert answer.structured_content is not None
    return answer.structured_content["result"]


@pytest.mark.parametrize("mode", MODES)
async def test_each_tool_answers_over_http(server, mode):
    async with agent(server, f"mira-{mode}", mode) as client:
        assert len((await client.list_tools()).tools) == 10
        (added,) = await told(client, "add_memory", text="I am allergic to nuts.")
        assert [one["id"] for one in await told(client, "search_memories", query="What may I eat?")] == [added["id"]]
        assert [one["id"] for one in await told(client, "list_memories")] == [added["id"]]
        assert added["id"] in await told(client, "get_context")
        assert await told(client, "search_conversations", query="nuts") == []
        for tool, arguments in (
            ("get_memory", {"memory_id": added["id"]}),
            ("search", {"query": "nuts"}),
            ("fetch", {"id": added["id"]}),
            ("update_memory", {"memory_id": added["id"], "text": "Allergic to walnuts"}),
        ):
            answer = await client.call_tool(tool, arguments)
            assert (tool, answer.is_error, added["id"] in str(answer.structured_content)) == (tool, False, True)
        (resource,) = (await client.read_resource("mnemoir://memories")).contents
        assert "- Allergic to walnuts (20" in instance(TextResourceContents, resource).text
        recalled = (await client.get_prompt("recall", {"topic": "nuts"})).messages[0].content
        assert "walnuts" in instance(TextContent, recalled).text
        assert (await client.call_tool("search_memories", {"query": 5})).is_error
        assert await told(client, "delete_memory", memory_id=added["id"]) == f"Deleted {added['id']}."
        assert await told(client, "list_memories") == []


@pytest.mark.parametrize("mode", MODES)
async def test_without_a_valid_key_no_agent_gets_in(server, mode):
    for key in ("", "a-wrong-key-of-sixteen-characters"):
        with pytest.raises((MCPError, ExceptionGroup)):
            async with agent(server, "mira", mode, key) as client:
                await client.list_tools()


@pytest.mark.costly("it starts servers")
async def test_no_agent_notices_that_the_server_was_started_again(tmp_path):
    server = ServerProcess(tmp_path / "data", environment={"API_KEYS": KEY})
    with server:
        async with agent(server, "mira") as client, agent(server, "mira", "legacy") as older:
            (added,) = await told(client, "add_memory", text="I am allergic to nuts.")
            server.kill()
            server.start()
            for each in (client, older):
                assert [one["id"] for one in await told(each, "list_memories")] == [added["id"]]


@pytest.mark.parametrize("count", [20, pytest.param(200, marks=pytest.mark.slow)])
async def test_two_agents_that_add_at_once_lose_nothing(server, count):
    user = f"both-{count}"

    async def add(client: Client, mine: range) -> None:
        for number in mine:
            await told(client, "add_memory", text=f"My colleague Ann{number:03} lives in Town{number:03}.")

    async with agent(server, user) as one, agent(server, user, "legacy") as other:
        await asyncio.gather(add(one, range(count // 2)), add(other, range(count // 2, count)))
    async with rest(server) as http, http.get(f"/api/memories?user_id={user}&limit=1000") as answer:
        listed = " ".join(memory["memory"] for memory in (await answer.json())["results"])
    assert [number for number in range(count) if f"Ann{number:03}" not in listed] == []


async def test_what_an_agent_was_told_is_found_in_a_chat_and_gone_everywhere_once_erased(server):
    chat = {"model": "mnemoir", "user": "erna", "memoryEnabled": True}
    asked = {"messages": [{"role": "user", "content": "What may I not eat?"}]}
    async with rest(server) as http, agent(server, "erna") as client:
        await told(client, "add_memory", text="I am allergic to quinces.")
        async with http.post("/v1/chat/completions", json=chat | asked) as answer:
            assert answer.headers["X-Memory-Injected"] == "1"
        async with http.get("/api/memories?user_id=erna") as answer:
            assert "quinces" in await answer.text()
        async with http.post("/api/subjects/erna/erase", json={}) as answer:
            assert answer.status == 200, await answer.text()
        assert await told(client, "list_memories") == []
        assert await told(client, "search_memories", query="quinces") == []
        async with http.post("/v1/chat/completions", json=chat | asked) as answer:
            assert answer.headers.get("X-Memory-Injected", "0") == "0"
    found = [file for file in server.data_dir.rglob("*") if file.is_file() and b"quince" in file.read_bytes()]
    assert found == []
