"""Model servers that fail within their answer: events so far are yielded, then an error is raised, never Finished."""

import asyncio
import tracemalloc
from dataclasses import replace
from typing import Any

import pytest

from mnemoir.core.errors import ProviderError, ProviderInvalidOutput, ProviderTimeout, ProviderUnavailable
from mnemoir.core.events import Finished, ModelEvent, Text
from mnemoir.core.messages import ModelRequest, Sampling, text_message
from mnemoir.providers.llm.ollama_chat import OllamaChat
from mnemoir.providers.llm.openai_chat import OpenAIChat
from mnemoir.providers.llm.openai_responses import OpenAIResponses
from mnemoir.providers.llm.remote_model import RemoteModel
from tests.providers.llm.conftest import NewModel
from tests.scripted_llm import Answer, ScriptedLLM

REQUEST = ModelRequest(messages=(text_message("user", "Hello?"),))


async def broken(model: RemoteModel, kind: type[ProviderError], match: str, request: ModelRequest = REQUEST) -> str:
    """The text that came before the error; fails when an end came too."""
    events: list[ModelEvent] = []

    async def read() -> None:
        async for batch in model.stream(request):
            events.extend(batch)

    with pytest.raises(kind, match=match):
        await read()
    assert not any(isinstance(event, Finished) for event in events)
    return "".join(event.text for event in events if isinstance(event, Text))


@pytest.mark.real_time
async def test_a_stall_ends_at_the_limit_between_bytes(
    any_model: type[RemoteModel], new_model: NewModel, llm: ScriptedLLM
) -> None:
    llm.reply("One two", stall_after=1)
    model = new_model(any_model, timeouts={"between_bytes_s": 0.1})
    assert await broken(model, ProviderTimeout, r"sent nothing for 0\.1 s") == "One "
    await llm.disconnected.wait()


@pytest.mark.parametrize("cut", [{"cut_after": 2}, {"bad_after": 2}, {"end_after": 2}], ids=str)
async def test_text_that_waits_for_a_stop_text_is_told_before_an_error(
    new_model: NewModel, llm: ScriptedLLM, cut: dict[str, Any]
) -> None:
    llm.reply(pieces=["One <", "en", "d> two"], **cut)
    request = replace(REQUEST, sampling=Sampling(stop=("<end>",)))
    what = r"127\.0\.0\.1:\d+"
    assert await broken(new_model(OpenAIResponses), ProviderError, what, request) == "One <en"


@pytest.mark.real_time
async def test_a_slow_reader_is_not_a_stall(new_model: NewModel, llm: ScriptedLLM) -> None:
    llm.reply("One two", stall_after=1)
    texts = []
    async for batch in new_model(OpenAIChat, timeouts={"between_bytes_s": 0.3}).stream(REQUEST):
        texts += [event.text for event in batch if isinstance(event, Text)]
        with pytest.raises(TimeoutError):  # more time must pass than a stall may take, and no event can stand for it
            await asyncio.wait_for(asyncio.Event().wait(), 0.4 if texts == ["One "] else 0.01)
        llm.release()
    assert texts == ["One ", "two"]


async def test_a_torn_connection_is_an_error(
    any_model: type[RemoteModel], new_model: NewModel, llm: ScriptedLLM
) -> None:
    llm.reply("One two", cut_after=1)
    text = await broken(new_model(any_model), ProviderUnavailable, r"127\.0\.0\.1:\d+ (broke|closed)")
    assert text in ("", "One ")  # a reset may overtake what was sent before it
    assert len(llm.requests) == 1


async def test_a_body_that_ends_properly_but_early_is_an_error(
    any_model: type[RemoteModel], new_model: NewModel, llm: ScriptedLLM
) -> None:
    llm.reply("One two", end_after=1)
    assert await broken(new_model(any_model), ProviderUnavailable, "ended before its answer was complete") == "One "


async def test_an_event_that_is_not_json_is_an_error(
    any_model: type[RemoteModel], new_model: NewModel, llm: ScriptedLLM
) -> None:
    llm.reply("One two", bad_after=1, stall_after=0)
    llm.release()
    assert await broken(new_model(any_model), ProviderInvalidOutput, "not JSON: '{not json'") in ("", "One ")


async def test_an_error_event_keeps_the_servers_message(new_model: NewModel, llm: ScriptedLLM) -> None:
    llm.reply("One two", bad_after=1, bad_event=b'{"error":{"message":"out of memory","type":"server_error"}}')
    assert await broken(new_model(OpenAIChat), ProviderUnavailable, "out of memory") in ("", "One ")
    llm.reply("One two", bad_after=1, bad_event=b'{"error":"out of memory"}')
    assert await broken(new_model(OllamaChat), ProviderUnavailable, "out of memory") in ("", "One ")


async def test_an_endless_stream_stops_at_the_byte_limit_with_memory_flat(
    any_model: type[RemoteModel], new_model: NewModel, llm: ScriptedLLM
) -> None:
    llm.reply(pieces=["x" * 4000], endless=True)
    model = new_model(any_model, most_bytes=8 * 1024 * 1024)
    seen = 0

    async def read() -> None:
        nonlocal seen
        async for batch in model.stream(REQUEST):
            seen += sum(len(event.text) for event in batch if isinstance(event, Text))

    tracemalloc.start()
    with pytest.raises(ProviderInvalidOutput, match="more than 8388608 bytes"):
        await read()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 1_000_000 < seen < 9_000_000
    assert peak < 4 * 1024 * 1024
    await llm.disconnected.wait()


async def test_a_mebibyte_in_one_event_arrives(
    any_model: type[RemoteModel], new_model: NewModel, llm: ScriptedLLM
) -> None:
    llm.reply(pieces=["x" * 1_048_576])
    events = [event async for batch in new_model(any_model).stream(REQUEST) for event in batch]
    assert sum(len(event.text) for event in events if isinstance(event, Text)) == 1_048_576


@pytest.mark.parametrize(
    "answer", [Answer(text="x", silent=True), Answer(text="One two", stall_after=1)], ids=["before", "within"]
)
async def test_cancelling_the_caller_closes_the_call_at_once(
    any_model: type[RemoteModel], new_model: NewModel, llm: ScriptedLLM, answer: Answer
) -> None:
    llm.queue(answer)
    first = asyncio.Event()

    async def read() -> None:
        async for _ in new_model(any_model).stream(REQUEST):
            first.set()

    reading = asyncio.create_task(read())
    await (llm.arrived if answer.silent else first).wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    await llm.disconnected.wait()  # the limits of silence are 20 s


async def test_cancelling_a_whole_question_closes_the_call_at_once(
    any_model: type[RemoteModel], new_model: NewModel, llm: ScriptedLLM
) -> None:
    llm.reply("never", silent=True)
    asking = asyncio.create_task(new_model(any_model).ask(REQUEST))
    await llm.arrived.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await llm.disconnected.wait()


async def test_leaving_a_stream_half_read_closes_the_call(
    any_model: type[RemoteModel], new_model: NewModel, llm: ScriptedLLM
) -> None:
    llm.reply("One two", endless=True)
    stream = new_model(any_model).stream(REQUEST)
    await anext(stream)
    await stream.aclose()
    await llm.disconnected.wait()
