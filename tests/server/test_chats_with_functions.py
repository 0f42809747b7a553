"""The unmodified `openai` package with `functions`, which model servers of today know as tools."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.scripted_llm import ScriptedLLM
from tests.server.conftest import OpenServer
from tests.server.served_tree import answering, served
from tests.server.server_kit import JSON, asks
from tests.server.test_official_clients import openai_client

WEATHER: Any = {"name": "weather", "parameters": {"type": "object", "properties": {"town": {"type": "string"}}}}
ASKED: Any = {"role": "user", "content": "Rain in Graz?"}
CALLS = [("weather", {"town": "Graz"}), ("weather", {"town": "Linz"})]


@pytest.fixture(params=["openai-chat", "openai-responses", "ollama", "tree"])
def upstream(request: pytest.FixtureRequest, llm: ScriptedLLM, tmp_path: Path) -> JSON:
    """Settings of a server in front of each protocol, and of one with a config tree whose node passes tools on."""
    if request.param == "tree":
        return served(tmp_path, llm.url, answering(allowTools=True))
    return asks(llm, **{"llm.provider": request.param, "llm.ollama_url": llm.url})


async def test_a_whole_answer_calls_the_function(listen: OpenServer, llm: ScriptedLLM, upstream: JSON) -> None:
    server = await listen(upstream)
    llm.reply(tool_calls=CALLS)
    async with openai_client(server) as client:
        made = await client.chat.completions.create(model="mnemoir", messages=[ASKED], functions=[WEATHER])
    [choice] = made.choices
    assert choice.message.function_call is not None
    assert (choice.message.function_call.name, json.loads(choice.message.function_call.arguments)) == CALLS[0]
    assert (choice.message.tool_calls, choice.finish_reason) == (None, "function_call")
    assert (llm.requests[-1].body["tools"][0].get("function") or llm.requests[-1].body["tools"][0])[
        "name"
    ] == "weather"


async def test_a_streamed_answer_calls_the_function(listen: OpenServer, llm: ScriptedLLM, upstream: JSON) -> None:
    server = await listen(upstream)
    llm.reply(tool_calls=CALLS)
    async with openai_client(server) as client:
        stream = await client.chat.completions.create(
            model="mnemoir", messages=[ASKED], functions=[WEATHER], stream=True
        )
        choices = [chunk.choices[0] async for chunk in stream]
    called = [choice.delta.function_call for choice in choices if choice.delta.function_call]
    assert "".join(one.name or "" for one in called) == "weather"
    assert json.loads("".join(one.arguments or "" for one in called)) == {"town": "Graz"}
    assert [choice.delta.tool_calls for choice in choices if choice.delta.tool_calls] == []
    assert choices[-1].finish_reason == "function_call"


async def test_a_round_trip_reaches_the_model_as_tool_messages(listen: OpenServer, llm: ScriptedLLM) -> None:
    server = await listen(asks(llm))
    llm.reply(tool_calls=CALLS[:1])
    async with openai_client(server) as client:
        first = await client.chat.completions.create(model="mnemoir", messages=[ASKED], functions=[WEATHER])
        said: Any = first.choices[0].message.model_dump(exclude_none=True)
        answered: Any = {"role": "function", "name": "weather", "content": "dry"}
        llm.reply("It is dry.")
        last = await client.chat.completions.create(
            model="mnemoir", messages=[ASKED, said, answered], functions=[WEATHER], function_call="auto"
        )
    assert last.choices[0].message.content == "It is dry."
    _, call, result = llm.requests[-1].body["messages"]
    assert call["tool_calls"][0]["id"] == result["tool_call_id"]
    assert (result["role"], result["content"]) == ("tool", "dry")


async def test_a_kept_conversation_of_functions_goes_on_without_a_branch(
    listen: OpenServer, llm: ScriptedLLM
) -> None:
    server = await listen(asks(llm))
    llm.reply(tool_calls=CALLS)
    async with openai_client(server) as client:
        settings: Any = {"model": "mnemoir", "functions": [WEATHER], "extra_headers": {"X-Session-Id": "rain"}}
        first = await client.chat.completions.create(messages=[ASKED], **settings)
        said: Any = first.choices[0].message.model_dump(exclude_none=True)
        answered: Any = {"role": "function", "name": "weather", "content": "dry"}
        llm.reply("It is dry.")
        await client.chat.completions.create(messages=[ASKED, said, answered], **settings)
    kept = await server.get("/api/conversations/rain/branches")
    assert [branch["messages"] for branch in kept["results"]] == [4]


async def test_functions_that_a_model_has_no_place_for_are_named_as_they_were_sent(listen: OpenServer) -> None:
    server = await listen()
    async with openai_client(server) as client:
        raw = await client.chat.completions.with_raw_response.create(
            model="mnemoir", messages=[ASKED], functions=[WEATHER], function_call="auto"
        )
    assert raw.headers["x-mnemoir-dropped"] == "functions, function_call"


async def test_tools_beside_functions_are_kept_and_answered_as_tools(listen: OpenServer, llm: ScriptedLLM) -> None:
    server = await listen(asks(llm))
    llm.reply(tool_calls=CALLS[:1])
    async with openai_client(server) as client:
        raw = await client.chat.completions.with_raw_response.create(
            model="mnemoir", messages=[ASKED], functions=[WEATHER], tools=[{"type": "function", "function": WEATHER}]
        )
    assert raw.headers["x-mnemoir-dropped"] == "functions"
    [choice] = raw.parse().choices
    assert (choice.finish_reason, len(choice.message.tool_calls or ())) == ("tool_calls", 1)
