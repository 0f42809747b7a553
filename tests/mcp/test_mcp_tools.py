"""`mnemoir mcp` as agents use it: the real client of the protocol, over standard input and output."""

import json
import sys
from collections.abc import Iterator
from typing import Any

import aiohttp
import pytest
from mcp import Client, StdioServerParameters

from tests.cli.command_process import run
from tests.serving import ServerProcess, clean_environment

KEY = "a-key-of-sixteen-characters"
TOOLS = ["add_memory", "delete_memory", "list_memories", "search_conversations", "search_memories"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("mcp") / "data", environment={"API_KEYS": KEY}) as running:
        yield running


def agent(server: ServerProcess, *arguments: str, key: str = KEY) -> Client:
    """An agent that starts the command by itself."""
    command = ["-m", "mnemoir", "mcp", "--url", server.url, *arguments]
    return Client(
        StdioServerParameters(
            command=sys.executable,
            args=command,
            env=clean_environment(API_KEYS=key),
            cwd=server.data_dir.parent,
        )
    )


async def told(client: Client, tool: str, **arguments: Any) -> Any:
    """What a tool gave; it must not have failed."""
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    assert answer.structured_content is not None
    return answer.structured_content["result"]


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    """How a tool failed."""
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    return str(answer.content)


async def test_what_an_agent_adds_it_finds_lists_and_deletes(server):
    async with agent(server, "--user", "mira") as client:
        assert sorted(tool.name for tool in (await client.list_tools()).tools) == TOOLS
        (added,) = await told(client, "add_memory", text="I am allergic to nuts.")
        assert added["event"] == "ADD"
        assert (await told(client, "search_memories", query="What may I eat?"))[0]["memory"] == added["memory"]
        assert [one["id"] for one in await told(client, "list_memories")] == [added["id"]]
        assert await told(client, "delete_memory", memory_id=added["id"]) == f"Deleted {added['id']}."
        assert await told(client, "list_memories") == []
        assert "There is no memory" in await refusal(client, "delete_memory", memory_id=added["id"])


async def test_no_tool_reaches_another_user_or_project(server):
    async with agent(server, "--user", "otto") as client:
        (added,) = await told(client, "add_memory", text="I am allergic to cats.")
    for other in (("--user", "pia"), ("--user", "otto", "--project", "other")):
        async with agent(server, *other) as client:
            assert await told(client, "list_memories") == []
            assert await told(client, "search_memories", query="allergic to cats") == []
            assert "There is no memory" in await refusal(client, "delete_memory", memory_id=added["id"])
            assert await told(client, "list_memories", user_id="otto") == []  # what a tool does not take it ignores
    async with agent(server, "--user", "otto") as client:
        assert [one["id"] for one in await told(client, "list_memories")] == [added["id"]]


async def test_kept_conversations_are_found(server):
    asked = [{"role": "user", "content": "Lisbon?"}]
    chat = {"model": "mnemoir", "user": "uma", "session_id": "trip", "messages": asked}
    held = {"Authorization": f"Bearer {KEY}"}
    async with (
        aiohttp.ClientSession(server.url, headers=held) as http,
        http.post("/v1/chat/completions", json=chat) as answer,
    ):
        assert answer.status == 200
    async with agent(server, "--user", "uma") as client:
        found = await told(client, "search_conversations", query="Lisbon")
    assert (found[0]["conversation_id"], found[0]["role"], found[0]["text"]) == ("trip", "user", "Lisbon?")


async def test_the_server_tells_when_an_agent_called_last(server):
    held = {"Authorization": f"Bearer {KEY}"}
    async with aiohttp.ClientSession(server.url, headers=held) as http, agent(server, "--user", "vera") as client:
        await told(client, "list_memories")
        await told(client, "search_memories", query="anything")
        async with http.get("/api/clients") as answer:
            seen = next(one for one in (await answer.json())["results"] if one["kind"] == "mcp")
    assert (seen["route"], seen["model"]) == ("POST /api/memories/search", None)
    assert seen["count"] >= 2


async def test_a_wrong_argument_and_a_wrong_key_are_told_to_the_agent(server):
    async with agent(server, "--user", "mira") as client:
        assert "limit" in await refusal(client, "search_memories", query="x", limit=1000)
    async with agent(server, "--user", "mira", key="some-other-key-of-someone") as client:
        assert "valid API key" in await refusal(client, "list_memories")


def test_the_tools_are_printed_as_json(server, tmp_path):
    done = run("mcp", "--json", "--url", server.url, cwd=tmp_path)
    assert sorted(tool["name"] for tool in json.loads(done.stdout)["tools"]) == TOOLS


def test_without_a_server_it_says_so_and_opens_nothing(tmp_path):
    done = run("mcp", "--url", "http://127.0.0.1:9", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "No server answers" in done.stderr
