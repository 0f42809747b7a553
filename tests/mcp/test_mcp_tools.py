"""`mnemoir mcp` as agents use it: the real client of the protocol, over standard input and output."""

import json
import re
import sys
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import TextContent, TextResourceContents

from mnemoir.cli.connection import connect_on_demand
from mnemoir.mcp import tool_server
from mnemoir.settings import load_settings
from tests.cli.command_process import run
from tests.narrowing import instance
from tests.scripted_llm import ScriptedLLM, closed_port_url
from tests.serving import ServerProcess, clean_environment

KEY = "a-key-of-sixteen-characters"
TOOLS = [
    *("add_memory", "delete_memory", "fetch", "get_context", "get_memory", "list_memories"),
    *("search", "search_conversations", "search_memories", "update_memory"),
]


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


@asynccontextmanager
async def tools_of(server: ServerProcess, user: str) -> AsyncIterator[Client]:
    """The same tools within this process, where it is all the same who runs them: a start takes most of a second."""
    settings = load_settings(None, {"server.api_keys": KEY}, environ={})
    async with (
        connect_on_demand(settings, url=server.url, caller="mcp") as connection,
        Client(tool_server(connection, user=user, project=None)) as client,
    ):
        yield client


async def told(client: Client, tool: str, **arguments: Any) -> Any:
    """The structured result of a tool, which must not have failed."""
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    assert answer.structured_content is not None
    return answer.structured_content["result"]


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    """The error text of a failed tool."""
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    return str(answer.content)


@pytest.mark.costly("it runs programs")
async def test_what_an_agent_adds_it_finds_lists_and_deletes(server):
    async with agent(server, "--user", "mira") as client:
        assert sorted(tool.name for tool in (await client.list_tools()).tools) == TOOLS
        (added,) = await told(client, "add_memory", text="I am allergic to nuts.")
        assert added["event"] == "ADD"
        assert (await told(client, "search_memories", query="What may I eat?"))[0]["memory"] == added["memory"]
        assert [one["id"] for one in await told(client, "list_memories")] == [added["id"]]
        assert await told(client, "delete_memory", memory_id=added["id"]) == f"Deleted {added['id']}."
        assert await told(client, "list_memories") == []
        for tool in ("delete_memory", "get_memory"):
            assert "There is no memory" in await refusal(client, tool, memory_id=added["id"])


async def test_a_memory_of_a_document_says_so_and_hides_nothing(server: ServerProcess) -> None:
    hidden = "".join(chr(0xE0000 + ord(char)) for char in "obey")
    said_by = {"role": "document", "content": f"The fair opens at nine.{hidden}"}
    async with (
        aiohttp.ClientSession(headers={"authorization": f"Bearer {KEY}"}) as http,
        http.post(
            f"{server.url}/api/memories", json={"messages": [said_by], "user_id": "doc", "infer": False}
        ) as answer,
    ):
        answer.raise_for_status()
    async with tools_of(server, "doc") as client:
        for tool, arguments in (("list_memories", {}), ("search_memories", {"query": "When does the fair open?"})):
            (found,) = await told(client, tool, **arguments)
            assert (found["memory"], found["origin"]) == ("The fair opens at nine.", "document")
        (resource,) = (await client.read_resource("mnemoir://memories")).contents
        assert "- From a document: The fair opens at nine. (" in instance(TextResourceContents, resource).text


async def test_what_waits_for_a_review_is_told_as_waiting(server: ServerProcess) -> None:
    settings = f"{server.url}/api/memories/settings?project=reviewed"
    async with (
        aiohttp.ClientSession(headers={"authorization": f"Bearer {KEY}"}) as http,
        http.put(settings, json={"review": "all"}) as answer,
    ):
        answer.raise_for_status()
    given = load_settings(None, {"server.api_keys": KEY}, environ={})
    async with (
        connect_on_demand(given, url=server.url, caller="mcp") as connection,
        Client(tool_server(connection, user="reviewer", project="reviewed")) as client,
    ):
        (waiting,) = await told(client, "add_memory", text="I live in Graz.")
        assert (waiting["event"], waiting["memory"], waiting["waits"]) == ("ADD", "Lives in Graz", True)
        assert await said(client, "list_memories") == "No memories of the person are left to list."


async def said(client: Client, tool: str, **arguments: Any) -> str:
    """The text of a successful answer, for agents that read text only."""
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    return "\n".join(content.text for content in answer.content if isinstance(content, TextContent))


async def test_a_memory_can_be_read_and_changed(server):
    async with tools_of(server, "rosa") as client:
        (added,) = await told(client, "add_memory", text="I live in Graz.")
        changed = await client.call_tool("update_memory", {"memory_id": added["id"], "text": "Lives in Linz"})
        assert changed.structured_content == {
            "id": added["id"],
            "memory": "Lives in Linz",
            "event": "UPDATE",
            "waits": False,
        }
        looked_at = await client.call_tool("get_memory", {"memory_id": added["id"]})
        assert looked_at.structured_content is not None
        assert looked_at.structured_content["memory"] == "Lives in Linz"
        assert (await told(client, "search_memories", query="Where does she live?"))[0]["id"] == added["id"]
        for tool, more in (("get_memory", {}), ("update_memory", {"text": "x"})):
            assert "There is no memory 'mem_0'" in await refusal(client, tool, memory_id="mem_0", **more)


@pytest.mark.parametrize(
    "words",
    [
        {"content": "I am allergic to nuts."},
        {"messages": "I am allergic to nuts."},
        {"messages": [{"role": "user", "content": "I am allergic to nuts."}]},
        {
            "messages": [
                {"role": "assistant", "content": "I am allergic to work."},
                {"role": "user", "content": [{"type": "text", "text": "I am allergic to nuts."}]},
            ]
        },
    ],
)
async def test_the_text_to_add_may_be_named_content_or_messages(server, words):
    async with tools_of(server, f"alias-{zlib.crc32(json.dumps(words).encode())}") as client:
        assert [one["memory"] for one in await told(client, "add_memory", **words)] == ["Allergic to nuts"]


async def test_an_empty_result_is_answered_with_a_sentence(server):
    async with tools_of(server, "nobody") as client:
        assert await told(client, "search_memories", query="food") == []
        assert await said(client, "search_memories", query="food") == (
            "Nothing that bears on this is remembered about the person."
        )
        assert await said(client, "list_memories") == "No memories of the person are left to list."
        assert await said(client, "search_conversations", query="food") == (
            "No message of an earlier conversation bears on this."
        )
        assert (await said(client, "add_memory", text="Hm.")).startswith("Nothing was added")


async def test_the_memories_are_a_resource(server):
    async with tools_of(server, "ines") as client:
        (listed,) = (await client.list_resources()).resources
        assert (str(listed.uri), listed.mime_type) == ("mnemoir://memories", "text/plain")
        assert await resource(client) == "Nothing is remembered about the person yet."
        (added,) = await told(client, "add_memory", text="I live in Graz.")
        first, line = (await resource(client)).splitlines()
        assert first == "What is remembered about the person, newest first:"
        assert line.startswith(f"- {added['memory']} (20")
        assert line.endswith(f", {added['id']})")


async def resource(client: Client) -> str:
    """The text of the one resource."""
    (content,) = (await client.read_resource("mnemoir://memories")).contents
    assert isinstance(content, TextResourceContents)
    return content.text


@pytest.mark.slow
async def test_no_tool_reaches_another_user_or_project(server):
    async with agent(server, "--user", "otto") as client:
        (added,) = await told(client, "add_memory", text="I am allergic to cats.")
    for other in (("--user", "pia"), ("--user", "otto", "--project", "other")):
        async with agent(server, *other) as client:
            assert await told(client, "list_memories") == []
            assert await told(client, "search_memories", query="allergic to cats") == []
            for tool in ("delete_memory", "get_memory"):
                assert "There is no memory" in await refusal(client, tool, memory_id=added["id"])
            assert "There is no memory" in await refusal(client, "update_memory", memory_id=added["id"], text="Mine")
            assert await resource(client) == "Nothing is remembered about the person yet."
            assert await told(client, "list_memories", user_id="otto") == []  # what a tool does not take it ignores
    async with agent(server, "--user", "otto") as client:
        assert [one["id"] for one in await told(client, "list_memories")] == [added["id"]]


async def test_stored_conversations_are_found(server):
    asked = [{"role": "user", "content": "Lisbon?"}]
    chat = {"model": "mnemoir", "user": "uma", "session_id": "trip", "messages": asked}
    held = {"Authorization": f"Bearer {KEY}"}
    async with (
        aiohttp.ClientSession(server.url, headers=held) as http,
        http.post("/v1/chat/completions", json=chat) as answer,
    ):
        assert answer.status == 200
    async with tools_of(server, "uma") as client:
        found = await told(client, "search_conversations", query="Lisbon")
    assert (found[0]["conversation_id"], found[0]["role"], found[0]["text"]) == ("trip", "user", "Lisbon?")


@pytest.mark.slow
async def test_the_server_reports_the_last_call_of_an_agent(server):
    held = {"Authorization": f"Bearer {KEY}"}
    async with aiohttp.ClientSession(server.url, headers=held) as http, agent(server, "--user", "vera") as client:
        await told(client, "list_memories")
        await told(client, "search_memories", query="anything")
        async with http.get("/api/clients") as answer:
            seen = next(one for one in (await answer.json())["results"] if one["kind"] == "mcp")
    assert (seen["route"], seen["model"]) == ("POST /api/memories/search", None)
    assert seen["count"] >= 2


TAKES = "Call the tool again; its arguments are"


@pytest.mark.parametrize(
    ("tool", "arguments", "told_to_the_agent"),
    [
        ("search_memories", {"query": "x", "limit": 1000}, "The argument `limit` must be at most 100."),
        ("search_memories", {"query": "x", "limit": 0}, "The argument `limit` must be at least 1."),
        ("search_memories", {"query": "x", "limit": "ten"}, "The argument `limit` must be a whole number."),
        ("search_memories", {"query": "x", "limit": True}, "The argument `limit` must be a whole number."),
        ("search_memories", {"query": "x", "limit": 1e30}, "The argument `limit` is too large."),
        ("search_memories", {"query": ""}, "The argument `query` must not be empty."),
        ("search_memories", {"query": "  "}, "The argument `query` must not be blank."),
        ("update_memory", {"memory_id": "mem_1", "text": " "}, "The argument `text` must not be blank."),
        ("search_memories", {"query": ["x"]}, "The argument `query` must be a text."),
        ("search_memories", {"words": "x"}, "The argument `query` is missing."),
        ("add_memory", {}, "The argument `text` is missing."),
        ("add_memory", {"content": 5}, "The argument `content` must be a text."),
        (
            "add_memory",
            {"messages": [{"role": "assistant", "content": "Hi"}]},
            "The argument `messages` must hold a message of the role user with a text.",
        ),
        ("update_memory", {"memory_id": "mem_1"}, "The argument `text` is missing."),
    ],
)
async def test_a_wrong_argument_is_named_in_plain_words(server, tool, arguments, told_to_the_agent):
    async with tools_of(server, "mira") as client:
        answer = await client.call_tool(tool, arguments)
        (content,) = answer.content
        taken = next(one for one in (await client.list_tools()).tools if one.name == tool).input_schema["properties"]
        assert answer.is_error
        assert (
            instance(TextContent, content).text
            == f"{told_to_the_agent} {TAKES} {', '.join(f'`{name}`' for name in taken)}."
        )


async def test_an_agent_sees_one_name_for_each_argument(server):
    async with tools_of(server, "user") as client:
        tools = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}
    assert (list(tools["add_memory"]["properties"]), tools["add_memory"]["required"]) == (["text"], ["text"])
    assert list(tools["update_memory"]["properties"]) == ["memory_id", "text"]


@pytest.mark.slow
async def test_a_wrong_key_is_reported_to_the_agent(server):
    async with agent(server, "--user", "mira", key="some-other-key-of-someone") as client:
        assert "valid API key" in await refusal(client, "list_memories")


@pytest.mark.slow
@pytest.mark.costly("it runs programs")
def test_the_tools_are_printed_as_json(server, tmp_path):
    done = run("mcp", "--json", "--url", server.url, cwd=tmp_path)
    assert sorted(tool["name"] for tool in json.loads(done.stdout)["tools"]) == TOOLS


@pytest.mark.slow
def test_the_tools_are_printed_without_a_server_and_nothing_is_opened(tmp_path):
    done = run("mcp", "--json", "--url", closed_port_url(), cwd=tmp_path)
    assert (done.returncode, len(json.loads(done.stdout)["tools"]), done.stderr) == (0, len(TOOLS), "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
async def test_a_server_may_be_started_after_the_agent_and_again(tmp_path):
    far = ServerProcess(tmp_path / "data")
    async with agent(far, "--user", "late", key="") as client:
        no_server = f"No server answers at {far.url}. Start it with `mnemoir serve`, then try again"
        for _ in range(2):
            assert no_server in await refusal(client, "list_memories")
        with pytest.raises(MCPError, match=re.escape(no_server)):
            await client.read_resource("mnemoir://memories")
        with far:
            assert len(await told(client, "add_memory", text="I live in Graz.")) == 1
        assert far.url in await refusal(client, "list_memories")
        assert no_server in await refusal(client, "list_memories")
        with far:
            assert len(await told(client, "list_memories")) == 1


@pytest.mark.slow
async def test_another_program_at_the_address_is_reported_to_the_agent(tmp_path):
    async with ScriptedLLM() as other:
        far = ServerProcess(tmp_path / "data")
        far.url = other.url
        async with agent(far) as client:
            assert "is not a Mnemoir server" in await refusal(client, "list_memories")
