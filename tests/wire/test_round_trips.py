"""What a dialect writes, it reads back the same: requests, replies and streams, however the bytes are cut."""

from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemoir.core.events import Event, Reply
from mnemoir.core.messages import Message, ModelRequest, Sampling, TextPart
from mnemoir.wire import ollama_chat, ollama_generate, openai_chat, openai_completions
from tests.wire.samples import joined, replies, requests, streams

ARGUMENTS: dict[str, Any] = {"model": "m", "reply_id": "id-1", "created": 1_767_225_600}


def said(reply: Reply) -> Reply:
    """The reply without the members that its writer adds and no reader looks at."""
    return replace(reply, passed=None, usage=replace(reply.usage, extra=None))


def through_stream(dialect: Any, batches: list[list[Event]], sizes: list[int]) -> Reply:
    writer = dialect.StreamWriter("m", "id-1", 1_767_225_600, True)
    data = b"".join(writer.events(batch) for batch in batches)
    reader = dialect.AnswerReader()
    events: list[Event] = []
    while data:
        size = sizes[len(events) % len(sizes)]
        events += reader.feed(data[:size])
        data = data[size:]
    return said(joined([*events, *reader.end()]))


@given(requests(), st.booleans())
def test_an_openai_chat_request_comes_back_as_it_was(request: ModelRequest, stream: bool) -> None:
    body = orjson.loads(orjson.dumps(openai_chat.write_request(request, stream=stream)))
    chat = openai_chat.read_request(body)
    output = chat.request.output and replace(chat.request.output, extra=None)  # the same once more, as it was written
    assert (replace(chat.request, output=output), chat.stream, chat.include_usage) == (request, stream, stream)


@given(requests(many_texts=False, output_name="answer"), st.booleans())
def test_an_ollama_chat_request_comes_back_as_it_was(request: ModelRequest, stream: bool) -> None:
    body = orjson.loads(orjson.dumps(ollama_chat.write_request(request, stream=stream)))
    chat = ollama_chat.read_request(body)
    # Ollama always holds a model to its format, which is what OpenAI calls strict
    output = chat.request.output and replace(chat.request.output, strict=None)
    assert (replace(chat.request, output=output), chat.stream) == (request, stream)


@given(st.text(max_size=30), st.text(min_size=1, max_size=30), st.booleans())
def test_an_ollama_generate_request_comes_back_as_it_was(system: str, prompt: str, stream: bool) -> None:
    messages = [Message(role="user", parts=(TextPart(text=prompt),))]
    if system:
        messages.insert(0, Message(role="system", parts=(TextPart(text=system),)))
    request = ModelRequest(messages=tuple(messages), model="m")
    chat = ollama_generate.read_request(ollama_generate.write_request(request, stream=stream))
    assert (chat.request, chat.stream) == (request, stream)


@pytest.mark.parametrize("dialect", [openai_chat, ollama_chat])
@given(reply=replies())
def test_a_whole_reply_comes_back_as_it_was(dialect: Any, reply: Reply) -> None:
    assert said(dialect.read_reply(orjson.loads(dialect.write_reply(reply, **ARGUMENTS)))) == reply


@given(replies())
def test_a_generated_reply_comes_back_as_it_was(reply: Reply) -> None:
    reply = replace(reply, tool_calls=(), reason="length" if reply.reason == "length" else "stop")
    assert said(ollama_generate.read_reply(orjson.loads(ollama_generate.write_reply(reply, **ARGUMENTS)))) == reply


@given(replies())
def test_a_completed_reply_comes_back_as_it_was(reply: Reply) -> None:
    reply = replace(reply, tool_calls=(), thinking="", reason="length" if reply.reason == "length" else "stop")
    assert (
        said(openai_completions.read_reply(orjson.loads(openai_completions.write_reply(reply, **ARGUMENTS)))) == reply
    )


@given(st.text(min_size=1, max_size=30), st.none() | st.integers(1, 99), st.booleans())
def test_a_completion_request_comes_back_as_it_was(prompt: str, limit: int | None, stream: bool) -> None:
    messages = (Message(role="user", parts=(TextPart(text=prompt),)),)
    request = ModelRequest(messages=messages, model="m", sampling=Sampling(max_tokens=limit))
    chat = openai_completions.read_request(openai_completions.write_request(request, stream=stream))
    assert (chat.request, chat.stream, chat.include_usage) == (request, stream, stream)


@pytest.mark.parametrize("dialect", [openai_chat, ollama_chat])
@settings(deadline=None)
@given(batches=streams(), sizes=st.lists(st.integers(1, 400), min_size=1, max_size=5))
def test_a_stream_comes_back_as_it_was(dialect: Any, batches: list[list[Event]], sizes: list[int]) -> None:
    events = [event for batch in batches for event in batch]
    assert through_stream(dialect, batches, sizes) == joined(events)


@settings(deadline=None)
@given(batches=streams(), sizes=st.lists(st.integers(1, 400), min_size=1, max_size=5))
def test_a_completed_stream_comes_back_without_what_it_has_no_place_for(
    batches: list[list[Event]], sizes: list[int]
) -> None:
    whole = joined([event for batch in batches for event in batch])
    reason = "stop" if whole.reason == "tool_calls" else whole.reason
    expected = replace(whole, thinking="", tool_calls=(), reason=reason)
    assert through_stream(openai_completions, batches, sizes) == expected
