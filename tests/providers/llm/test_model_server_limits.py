"""The limit on concurrent calls to one endpoint: a call counts until its answer has ended in any way."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

import aiohttp
import pytest

from mnemoir.core.errors import ProviderError
from mnemoir.core.events import ModelEvent
from mnemoir.core.messages import ModelRequest, text_message
from mnemoir.ports.llm import ChatModel, ModelServer
from mnemoir.providers.llm.endpoint import Timeouts
from mnemoir.providers.llm.model_servers import HttpModelServers
from tests.scripted_llm import Answer, ScriptedLLM, failure

ASKED = ModelRequest(messages=(text_message("user", "Hello?"),), model="m", options={"stream": False})
STREAMED = ModelRequest(messages=(text_message("user", "Hello?"),), model="m", options={"stream": True})


def limited(llm: ScriptedLLM, session: aiohttp.ClientSession, *, most: int = 0, calls_at_once: int = 0) -> ChatModel:
    model_servers = HttpModelServers(
        session, timeouts=Timeouts(), tries=1, most_bytes=1024 * 1024, calls_at_once=calls_at_once
    )
    return model_servers.model(ModelServer(name="Main", kind="openai-chat", base_url=llm.url, most_at_once=most))


async def begun(model: ChatModel) -> AsyncGenerator[Sequence[ModelEvent], None]:
    """A stream that has given its first events."""
    stream = model.stream(STREAMED)
    await anext(stream)
    return stream


async def waits(model: ChatModel, llm: ScriptedLLM, session: aiohttp.ClientSession) -> asyncio.Task[object]:
    """Check that a call does not reach the server while two calls without a limit are answered."""
    llm.rule(lambda asked: asked.body["model"] == "free", "at once")
    before = len(llm.requests)
    asking: asyncio.Task[object] = asyncio.create_task(model.ask(ASKED))
    free = limited(llm, session)
    for _ in range(2):
        await free.ask(replace(ASKED, model="free"))
    assert [asked.body["model"] for asked in llm.requests[before:]] == ["free", "free"]
    return asking


@pytest.mark.parametrize("limits", [{"most": 1}, {"calls_at_once": 1}, {"most": 1, "calls_at_once": 9}], ids=str)
async def test_a_call_counts_until_its_stream_has_ended(
    llm: ScriptedLLM, session: aiohttp.ClientSession, limits: dict[str, int]
) -> None:
    llm.queue(Answer(text="One two", stall_after=1), Answer(text="next"))
    model = limited(llm, session, **limits)
    stream = await begun(model)
    asking = await waits(model, llm, session)
    llm.release()
    async with aclosing(stream):
        assert [batch async for batch in stream]
    await asking


async def test_a_call_whose_client_leaves_no_longer_counts(llm: ScriptedLLM, session: aiohttp.ClientSession) -> None:
    llm.queue(Answer(text="One two", endless=True), Answer(text="next"))
    model = limited(llm, session, most=1)
    stream = await begun(model)
    asking = await waits(model, llm, session)
    await stream.aclose()
    await asking
    await llm.disconnected.wait()


@pytest.mark.parametrize("way", ["whole", "streamed"])
async def test_a_cancelled_call_no_longer_counts(llm: ScriptedLLM, session: aiohttp.ClientSession, way: str) -> None:
    llm.queue(Answer(text="never", silent=True), Answer(text="next"))
    model = limited(llm, session, most=1)
    calling: asyncio.Task[object] = asyncio.create_task(model.ask(ASKED) if way == "whole" else begun(model))
    await llm.arrived.wait()
    asking = await waits(model, llm, session)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    await asking


async def test_a_call_cancelled_while_it_waits_never_counts(llm: ScriptedLLM, session: aiohttp.ClientSession) -> None:
    llm.queue(Answer(text="One two", stall_after=1), Answer(text="next"))
    model = limited(llm, session, most=1)
    stream = await begun(model)
    waiting = await waits(model, llm, session)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await stream.aclose()
    await model.ask(ASKED)


@pytest.mark.parametrize(
    "answer", [failure(500), Answer(text="One two", cut_after=1), Answer(text="One two", end_after=1)], ids=str
)
async def test_a_failed_call_no_longer_counts(
    llm: ScriptedLLM, session: aiohttp.ClientSession, answer: Answer
) -> None:
    llm.queue(answer, Answer(text="next"))
    model = limited(llm, session, most=1)
    with pytest.raises(ProviderError):
        [batch async for batch in model.stream(STREAMED)]
    await model.ask(ASKED)


async def test_models_of_one_endpoint_share_its_limit(llm: ScriptedLLM, session: aiohttp.ClientSession) -> None:
    llm.queue(Answer(text="One two", stall_after=1), Answer(text="next"))
    model_servers = HttpModelServers(session, timeouts=Timeouts(), tries=1, most_bytes=1024 * 1024, calls_at_once=1)
    one, other, third = (
        model_servers.model(ModelServer(name=name, kind="openai-chat", base_url=llm.url, connect_timeout_s=seconds))
        for name, seconds in (("Main", None), ("Main", 5.0), ("Third", None))
    )
    stream = await begun(one)
    asking = await waits(other, llm, session)
    await third.ask(ASKED)
    await stream.aclose()
    await asking


async def test_without_a_limit_no_call_waits(llm: ScriptedLLM, session: aiohttp.ClientSession) -> None:
    llm.queue(Answer(text="One two", stall_after=1), Answer(text="next"))
    model = limited(llm, session)
    async with aclosing(await begun(model)):
        await model.ask(ASKED)
