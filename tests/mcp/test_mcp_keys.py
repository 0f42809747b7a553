"""Every tool against every kind of key: it may what the key may, and elsewhere looks like nowhere."""

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timedelta

import pytest
from mcp import Client

from mnemoir.access.access_file import AccessFile
from mnemoir.access.api_keys import ApiKeys
from mnemoir.cli.connection import connect_on_demand
from mnemoir.core.ids import new_memory_id
from mnemoir.mcp import tool_server
from mnemoir.settings import load_settings
from tests.serving import ServerProcess

CELLO = "Plays the cello on Tuesdays"
# the written matrix: the role that each tool takes, and what it is called with; a tool that is not here fails
MATRIX: dict[str, tuple[str, dict[str, object]]] = {
    "search_memories": ("read", {"query": "cello"}),
    "list_memories": ("read", {}),
    "get_memory": ("read", {"memory_id": "?"}),
    "get_context": ("read", {"query": "cello"}),
    "search": ("read", {"query": "cello"}),
    "fetch": ("read", {"id": "?"}),
    "search_conversations": ("read", {"query": "cello"}),
    "add_memory": ("write", {"text": "I live in Graz."}),
    "update_memory": ("write", {"memory_id": "?", "text": "Lives in Linz"}),
    "delete_memory": ("write", {"memory_id": "?"}),
}
ELSEWHERE = ("another user", "another project", "another tenant")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("mcp-keys") / "data") as running:
        yield running


@pytest.fixture(scope="module")
def keys(server: ServerProcess) -> dict[str, str]:
    """Keys by what is to be said of them."""
    settings = load_settings(None, {"storage.data_dir": str(server.data_dir)}, environ={})
    with closing(AccessFile(settings)) as file:
        made = ApiKeys(file)
        texts = {role: made.create(role=role, by="test")[1] for role in ("read", "write", "admin", "operator")}
        revoked, texts["revoked"] = made.create(role="admin", by="test")
        made.revoke(revoked.id)
        long_ago = datetime.now(UTC) - timedelta(days=2)
        earlier = ApiKeys(file, clock=lambda: long_ago)
        ended = earlier.create(role="admin", expires_at=long_ago + timedelta(days=1), by="test")
        texts["expired"] = ended[1]
        texts["another user"] = made.create(role="admin", user="noa", by="test")[1]
        texts["another project"] = made.create(role="admin", projects=["kitchen"], by="test")[1]
        texts["another tenant"] = made.create(role="admin", tenant="acme", by="test")[1]
    return texts | {"none": "", "unknown": "mn_live_aaaaaaaa_" + "x" * 43}


@asynccontextmanager
async def tools_with(server: ServerProcess, key: str, project: str | None = None) -> AsyncIterator[Client]:
    """The tools over Mira's memories, with a key."""
    settings = load_settings(None, {"server.api_keys": key} if key else {}, environ={})
    async with (
        connect_on_demand(settings, url=server.url, caller="mcp") as connection,
        Client(tool_server(connection, user="mira", project=project)) as client,
    ):
        yield client


async def call(client: Client, tool: str, memory_id: str) -> tuple[bool, str]:
    """Whether it failed, and its words, without the id that was asked for."""
    arguments = {name: memory_id if value == "?" else value for name, value in MATRIX[tool][1].items()}
    answer = await client.call_tool(tool, arguments)
    return bool(answer.is_error), re.sub(r"request_id=\w+", "", str(answer.content).replace(memory_id, "…"))


@pytest.fixture
async def cello(server: ServerProcess, keys: dict[str, str]) -> str:
    """The id of a memory of Mira's."""
    async with tools_with(server, keys["admin"]) as client:
        answer = await client.call_tool("add_memory", {"text": "I play the cello on Tuesdays."})
        listed = await client.call_tool("list_memories", {})
    assert not answer.is_error
    assert listed.structured_content is not None
    (found,) = (one["id"] for one in listed.structured_content["result"] if "cello" in one["memory"])
    return str(found)


async def test_every_tool_has_a_row(server, keys):
    async with tools_with(server, keys["admin"]) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == MATRIX.keys()


@pytest.mark.parametrize("kind", ["none", "unknown", "revoked", "expired"])
async def test_without_a_valid_key_no_tool_works(server, keys, cello, kind):
    async with tools_with(server, keys[kind]) as client:
        for tool in MATRIX:
            failed, words = await call(client, tool, cello)
            assert (tool, failed, "cello" in words) == (tool, True, False)
            assert "key" in words


@pytest.mark.parametrize("role", ["read", "write", "operator"])
async def test_a_tool_takes_the_role_that_its_row_says(server, keys, cello, role):
    enough = {"read": ("read",), "write": ("read", "write"), "operator": ()}[role]
    async with tools_with(server, keys[role]) as client:
        for tool, (needed, _) in MATRIX.items():
            _, words = await call(client, tool, cello)
            assert (tool, "The role of this key" in words) == (tool, needed not in enough)


@pytest.mark.parametrize("kind", ELSEWHERE)
async def test_elsewhere_looks_like_nowhere_to_every_tool_and_nothing_there_changes(server, keys, cello, kind):
    project = "default" if kind == "another project" else None
    async with tools_with(server, keys[kind], project) as client:
        for tool, (needed, arguments) in MATRIX.items():
            if kind == "another tenant" and tool == "add_memory":
                continue  # the Mira of that tenant is another person, who may have memories of her own
            told, nowhere = await call(client, tool, cello), await call(client, tool, new_memory_id())
            assert (tool, told) == (tool, nowhere)
            assert CELLO not in told[1]
            assert told[0] == (needed == "write" or "?" in arguments.values())
    async with tools_with(server, keys["admin"]) as client:
        assert CELLO in str((await client.call_tool("get_memory", {"memory_id": cello})).structured_content)
