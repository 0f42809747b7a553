"""The official package of the Model Context Protocol in front of `/mcp`: its releases of 1.x and of 2.x."""

import asyncio
import importlib.metadata
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp.client import streamable_http

IS_FIRST = importlib.metadata.version("mcp").startswith("1.")
KEY = "a-key-of-sixteen-characters"


@asynccontextmanager
async def _session(url: str, headers: dict[str, str]) -> AsyncIterator[Any]:
    """A session of either line of releases."""
    if IS_FIRST:
        from mcp import ClientSession

        async with (
            streamable_http.streamablehttp_client(url, headers=headers) as (reading, writing, _),
            ClientSession(reading, writing) as session,
        ):
            await session.initialize()
            yield session
        return
    import httpx2
    from mcp import Client

    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http.streamable_http_client(url, http_client=http)) as session,
    ):
        yield session


def run(url: str, work: Callable[[Any], Coroutine[Any, Any, None]], key: str = KEY) -> None:
    """Do the work with a session of a new user."""

    async def go() -> None:
        headers = {"X-User-Id": uuid.uuid4().hex} | ({"Authorization": f"Bearer {key}"} if key else {})
        async with _session(f"{url}/mcp", headers) as session:
            await work(session)

    asyncio.run(go())


async def told(session: Any, tool: str, **arguments: Any) -> Any:
    """The structured result of a tool; both lines name it differently."""
    answer = await session.call_tool(tool, arguments)
    assert not (answer.isError if IS_FIRST else answer.is_error), answer.content
    structured = answer.structuredContent if IS_FIRST else answer.structured_content
    return structured.get("result", structured)


def test_every_tool_answers(servers):
    async def work(session):
        assert len((await session.list_tools()).tools) == 10
        (added,) = await told(session, "add_memory", text="I am allergic to nuts.")
        assert [one["id"] for one in await told(session, "search_memories", query="What may I eat?")] == [added["id"]]
        assert [one["id"] for one in await told(session, "list_memories")] == [added["id"]]
        assert (await told(session, "get_memory", memory_id=added["id"]))["memory"] == added["memory"]
        assert added["id"] in await told(session, "get_context")
        assert await told(session, "search_conversations", query="nuts") == []
        assert [one["id"] for one in (await told(session, "search", query="nuts"))["results"]] == [added["id"]]
        assert (await told(session, "fetch", id=added["id"]))["text"] == added["memory"]
        assert (await told(session, "update_memory", memory_id=added["id"], text="Likes tea"))[
            "memory"
        ] == "Likes tea"
        assert await told(session, "delete_memory", memory_id=added["id"]) == f"Deleted {added['id']}."

    run(servers["agents"], work)


def test_the_resource_and_the_prompt_are_there(servers):
    async def work(session):
        await told(session, "add_memory", text="I am allergic to nuts.")
        (resource,) = (await session.list_resources()).resources
        (content,) = (await session.read_resource(resource.uri)).contents
        assert "- Allergic to nuts (20" in content.text
        recalled = await session.get_prompt("recall", {"topic": "nuts"})
        assert "Allergic to nuts" in recalled.messages[0].content.text

    run(servers["agents"], work)


def test_a_wrong_argument_is_an_error_that_names_it(servers):
    async def work(session):
        answer = await session.call_tool("search_memories", {"query": 5})
        assert answer.isError if IS_FIRST else answer.is_error
        assert "The argument `query` must be a text." in answer.content[0].text

    run(servers["agents"], work)


@pytest.mark.parametrize("key", ["", "a-wrong-key-of-sixteen"])
def test_without_a_valid_key_nobody_gets_in(servers, key):
    async def work(session):
        await session.list_tools()

    with pytest.raises(BaseException):  # noqa: B017, PT011 - each release has an error of its own
        run(servers["agents"], work, key)
