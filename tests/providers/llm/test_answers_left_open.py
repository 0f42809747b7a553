"""Answers that are complete although something is not: a connection that stays open, or prompts without an answer."""

from typing import Any

import aiohttp
import pytest

from mnemoir.core.errors import ProviderInvalidOutput
from mnemoir.core.events import Finished, ModelEvent, Text
from mnemoir.core.messages import Extra, ModelRequest, text_message
from mnemoir.providers.llm.ollama_chat import OllamaChat
from mnemoir.providers.llm.remote_model import RemoteModel
from tests.providers.llm.test_reused_connections import REQUEST, RawServer, head, model_on, sized, streamed, text_of
from tests.wire.answer_kit import DONE, as_json, lines, sse

PROMPTS: list[tuple[Any, int, int]] = [  # prompts, choices wanted of each, choices that come
    (["a", "b"], 1, 1),
    ([[1], [2, 3], [4]], 1, 2),
    (["a", "b"], 3, 5),
    (["a", "b", "c"], 1, 0),
]
ANSWERED: list[tuple[Any, int, int]] = [
    (["a", "b"], 1, 2),
    (["a", "b"], 3, 2),  # a server that knows no `n`
    (["a", "b"], 2, 4),
    (["a"], 3, 1),
    ([1, 2, 3], 1, 1),  # one prompt of three tokens
]


def asked(prompt: Any, choices: int) -> ModelRequest:
    extra = Extra(route="openai-completions", members={"prompt": prompt})
    return ModelRequest(messages=(text_message("user", "a"),), extra=extra, raw=True, choices=choices)


def answers(count: int) -> tuple[bytes, bytes]:
    """So many choices, the first one last, as one object and as a stream."""
    choices = [{"index": n, "text": f"{n} ", "finish_reason": "stop"} for n in reversed(range(count))]
    streamed_choices = sse(*({"choices": [choice]} for choice in choices), DONE)
    return sized(as_json({"choices": choices})), sized(streamed_choices)


async def read(model: RemoteModel, request: ModelRequest, events: list[ModelEvent]) -> None:
    async for batch in model.stream(request):
        events += batch


@pytest.mark.parametrize(("prompt", "wanted", "count"), PROMPTS, ids=str)
async def test_an_answer_that_leaves_a_prompt_out_is_an_error(
    session: aiohttp.ClientSession, prompt: Any, wanted: int, count: int
) -> None:
    whole, stream = answers(count)
    async with model_on(session, RawServer(lambda *_: whole)) as model:
        with pytest.raises(ProviderInvalidOutput, match=r"127\.0\.0\.1"):
            await model.ask(asked(prompt, wanted))
    events: list[ModelEvent] = []
    async with model_on(session, RawServer(lambda *_: stream)) as model:
        with pytest.raises(ProviderInvalidOutput, match=r"127\.0\.0\.1"):
            await read(model, asked(prompt, wanted), events)
    assert [event.text for event in events if isinstance(event, Text)] == ["0 "] * (count > 0)
    assert not any(isinstance(event, Finished) for event in events)


@pytest.mark.parametrize(("prompt", "wanted", "count"), ANSWERED, ids=str)
async def test_each_prompt_has_its_answer(
    session: aiohttp.ClientSession, prompt: Any, wanted: int, count: int
) -> None:
    whole, stream = answers(count)
    async with model_on(session, RawServer(lambda *_: whole)) as model:
        assert len((await model.ask(asked(prompt, wanted))).alternatives) == count - 1
    async with model_on(session, RawServer(lambda *_: stream)) as model:
        assert [event async for batch in model.stream(asked(prompt, wanted)) for event in batch][-1] == Finished()


async def test_the_last_line_ends_an_answer_whose_connection_stays_open(
    session: aiohttp.ClientSession,
) -> None:
    said = {"message": {"content": "Hi"}, "done": False}
    body = lines(said).rstrip(b"\n") + b"\n" + as_json({"message": {"content": ""}, "done": True})
    server = RawServer(lambda *_: head("Content-Type: application/x-ndjson") + body)
    async with model_on(session, server, OllamaChat, between_bytes_s=3600) as model:
        assert text_of(await streamed(model)) == "Hi"


async def test_a_model_that_was_loaded_has_not_answered_a_question(session: aiohttp.ClientSession) -> None:
    loaded = {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "load"}
    async with model_on(session, RawServer(lambda *_: sized(as_json(loaded))), OllamaChat) as model:
        with pytest.raises(ProviderInvalidOutput, match="load"):
            await model.ask(REQUEST)
        with pytest.raises(ProviderInvalidOutput, match="load"):
            await streamed(model)
        assert (await model.ask(ModelRequest(messages=()))).text == ""
