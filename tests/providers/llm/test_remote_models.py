"""Models over HTTP, when all goes well: whole and streamed, in every protocol."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import aiohttp
import ollama
import openai
import pytest

from mnemoir.core.events import Finished, ModelEvent, Text, Usage
from mnemoir.core.messages import JsonSchema, ModelRequest, text_message
from mnemoir.providers.llm.openai_chat import OpenAIChat
from mnemoir.providers.llm.openai_responses import OpenAIResponses
from mnemoir.providers.llm.remote_model import RemoteModel
from tests.providers.llm.conftest import SECRET, NewModel
from tests.scripted_llm import ScriptedLLM
from tests.wire.samples import CLOSED, TOOL, joined

REQUEST = ModelRequest(messages=(text_message("system", "Be kind."), text_message("user", "Hello?")))


async def streamed(model: RemoteModel, request: ModelRequest = REQUEST) -> list[ModelEvent]:
    return [event async for batch in model.stream(request) for event in batch]


async def test_a_whole_answer_comes_in_one_call(any_model: type[RemoteModel], new_model: NewModel, llm: Any) -> None:
    llm.reply("Grüezi Alex.", usage=(11, 4))
    reply = await new_model(any_model).ask(REQUEST)
    usage = replace(reply.usage, extra=None)  # what else its server tells of the end
    assert (reply.text, reply.reason, usage) == ("Grüezi Alex.", "stop", Usage(input_tokens=11, output_tokens=4))
    assert len(llm.requests) == 1
    assert llm.requests[0].body["model"] == "scripted"
    assert llm.requests[0].headers["Authorization"] == f"Bearer {SECRET}"


async def test_a_stream_gives_the_same_answer_as_a_whole_call(
    any_model: type[RemoteModel], new_model: NewModel, llm: ScriptedLLM
) -> None:
    llm.default = replace(
        llm.default, text="One two three.", thinking="hm", tool_calls=(("look", {"at": "the sky"}),), usage=(9, 3)
    )
    model = new_model(any_model)
    reply = joined(await streamed(model))
    assert (reply.text, reply.thinking, reply.reason) == ("One two three.", "hm", "tool_calls")
    (call,) = reply.tool_calls
    assert (call.id.startswith("call_"), call.name, "the sky" in call.arguments) == (True, "look", True)
    whole = await model.ask(replace(REQUEST, tools=(TOOL,)))
    assert (whole.text, whole.usage) == (reply.text, reply.usage)
    assert [call.name for call in whole.tool_calls] == ["look"]


@pytest.mark.parametrize("framing", [{"crlf": True}, {"bytewise": True}, {"crlf": True, "bytewise": True}], ids=str)
async def test_framing_changes_nothing(
    any_model: type[RemoteModel], new_model: NewModel, llm: ScriptedLLM, framing: dict[str, bool]
) -> None:
    llm.reply("Grüezi Alex 😀.", **framing)
    assert joined(await streamed(new_model(any_model))).text == "Grüezi Alex 😀."


async def test_a_piece_arrives_before_the_next_is_made(
    any_model: type[RemoteModel], new_model: NewModel, llm: ScriptedLLM
) -> None:
    llm.reply("One two", stall_after=1)
    events: list[ModelEvent] = []
    async with aclosing(new_model(any_model).stream(REQUEST)) as batches:
        async for batch in batches:
            events += batch
            llm.release()
    assert [event for event in events if isinstance(event, Text)] == [Text("One "), Text("two")]


async def test_events_that_arrive_together_are_yielded_together(
    new_model: NewModel, llm: ScriptedLLM, session: aiohttp.ClientSession
) -> None:
    pieces = [f"{n} " for n in range(200)]
    llm.reply(pieces=pieces, stall_after=0)
    batches: list[Sequence[ModelEvent]] = []
    model = new_model(OpenAIChat)

    async def read() -> None:
        batches.extend([batch async for batch in model.stream(REQUEST)])

    reading = asyncio.create_task(read())
    await llm.arrived.wait()
    llm.release()
    await reading
    assert all(batches)
    assert len(batches) < 100
    assert joined([event for batch in batches for event in batch]).text == "".join(pieces)


async def test_the_connection_is_used_again_after_a_stream(
    any_model: type[RemoteModel], new_model: NewModel, llm: ScriptedLLM, session: aiohttp.ClientSession
) -> None:
    model = new_model(any_model)
    for _ in range(3):
        assert isinstance((await streamed(model))[-1], Finished)
    assert session.connector is not None
    kept = sum(len(connections) for connections in session.connector._conns.values())
    assert kept == 1


async def test_structured_output_is_asked_for_in_each_protocols_words(
    any_model: type[RemoteModel], new_model: NewModel, llm: ScriptedLLM
) -> None:
    llm.reply_json({"facts": ["Lives in Graz"]})
    reply = await new_model(any_model).ask(replace(REQUEST, output=JsonSchema(name="memory_facts", schema=CLOSED)))
    assert reply.text == '{"facts": ["Lives in Graz"]}'
    assert '"additionalProperties": false' in llm.requests[0].prompt


async def test_a_model_has_its_name_and_address(any_model: type[RemoteModel], new_model: NewModel) -> None:
    model = new_model(any_model)
    assert (model.name, model.provider) in {
        ("scripted", "openai-responses"),
        ("scripted", "openai-chat"),
        ("scripted", "ollama"),
    }
    await model.aclose()
    await model.aclose()


async def test_a_request_may_name_another_model(new_model: NewModel, llm: ScriptedLLM) -> None:
    await new_model(OpenAIResponses).ask(replace(REQUEST, model="gpt-5-mini"))
    assert llm.requests[0].body["model"] == "gpt-5-mini"
    assert llm.requests[0].body["store"] is False


# The scripted server itself is checked against the official packages, or the tests above would prove little.


async def test_the_scripted_server_satisfies_the_official_openai_package(llm: ScriptedLLM) -> None:
    llm.default = replace(llm.default, text="One two.", tool_calls=(("look", {}),))
    async with openai.AsyncOpenAI(base_url=llm.openai_url, api_key="k", max_retries=0) as client:
        chat = await client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
        assert chat.choices[0].message.content == "One two."
        response = await client.responses.create(model="m", input="hi")
        assert response.output_text == "One two."
        stream = await client.responses.create(model="m", input="hi", stream=True)
        deltas = [event.delta async for event in stream if event.type == "response.output_text.delta"]
        assert "".join(deltas) == "One two."
        embedded = await client.embeddings.create(model="m", input=["a b"], encoding_format="float")
        assert embedded.data[0].embedding == pytest.approx(llm.vector_of("a b"))


async def test_the_scripted_server_satisfies_the_official_ollama_package(llm: ScriptedLLM) -> None:
    llm.default = replace(llm.default, text="One two.")
    client = ollama.AsyncClient(host=llm.url)
    try:
        chat = await client.chat(model="m", messages=[{"role": "user", "content": "hi"}])
        assert chat.message.content == "One two."
        pieces = [part.response async for part in await client.generate(model="m", prompt="hi", stream=True)]
        assert "".join(piece or "" for piece in pieces) == "One two."
        assert [model.model for model in (await client.list()).models] == ["scripted"]
        assert len((await client.embed(model="m", input="a")).embeddings[0]) == llm.dimension
    finally:
        await client._client.aclose()


def test_the_scripted_server_runs_in_a_thread_of_its_own() -> None:
    with ScriptedLLM.in_thread() as llm:
        llm.reply("From afar.")
        with openai.OpenAI(base_url=llm.openai_url, api_key="k", max_retries=0) as client:
            chat = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
        assert chat.choices[0].message.content == "From afar."
        assert llm.wait_request()
        assert llm.requests[0].path == "/v1/chat/completions"
        assert not llm.wait_disconnected(0.01)
