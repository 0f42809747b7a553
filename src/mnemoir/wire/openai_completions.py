"""OpenAI's text completions: requests, replies and streams, read and written.

A prompt may carry the turns of a conversation behind markers; then its request holds them as messages. The protocol
has no place for reasoning, tools or pictures: they are left out of what is written.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from mnemoir.core.errors import InvalidRequest, NotSupported
from mnemoir.core.events import FinishReason, ModelEvent, Reply, Text
from mnemoir.core.messages import ChatRequest, ModelRequest, text_message
from mnemoir.wire import members, upstream
from mnemoir.wire.markers import read_marked
from mnemoir.wire.members import Json
from mnemoir.wire.openai_sampling import read_sampling, write_sampling
from mnemoir.wire.openai_stream import ChunkReader, ChunkWriter, head, write_error
from mnemoir.wire.openai_usage import read_usage, write_usage
from mnemoir.wire.text_completion import prompt_of, write_choice

__all__ = [
    "StreamReader",
    "StreamWriter",
    "read_reply",
    "read_request",
    "write_error",
    "write_reply",
    "write_request",
]


# --- requests


def read_request(body: Json) -> ChatRequest:
    """What a client asks of us. Raises InvalidRequest naming the field; members we do not know are ignored."""
    body = members.as_object(body, "body")
    if (members.integer(body, "n", least=1) or 1) > 1:
        raise NotSupported("n must be 1: one answer is given to a request.", field="n")
    options = members.as_object(body.get("stream_options") or {}, "stream_options")
    prompt = _read_prompt(body.get("prompt"))
    marked = read_marked(prompt)
    request = ModelRequest(
        messages=marked or (text_message("user", prompt),),
        model=members.text(body, "model") or "",
        sampling=read_sampling(body),
    )
    return ChatRequest(
        request=request,
        stream=members.boolean(body, "stream"),
        is_completion=True,
        unmarked_prompt=prompt if marked is None else None,
        include_usage=members.boolean(options, "include_usage", at="stream_options."),
        memory=body.get("memoryEnabled") is True,
        user=members.own_name(body, "user"),
    )


def write_request(request: ModelRequest, *, stream: bool) -> dict[str, Any]:
    """What we ask of a model's server: the prompt is the text of the one message."""
    body: dict[str, Any] = {"prompt": prompt_of(request)}
    named = {} if request.model is None else {"model": request.model}
    if request.options is not None:
        return {**body, **request.options, **named}
    body |= {**write_sampling(request.sampling), **(named if request.model else {})}
    return {**body, "stream": True, "stream_options": {"include_usage": True}} if stream else body


def _read_prompt(value: object) -> str:
    """A text, or a list of one; token numbers and several prompts are refused."""
    if value is None:
        return ""
    if isinstance(value, str):
        return members.as_text(value, "prompt")
    given = members.as_list(value, "prompt")
    if any(not isinstance(item, str) for item in given):
        raise NotSupported("prompt must be a text; lists of token numbers are not taken.", field="prompt")
    if len(given) != 1:
        raise InvalidRequest(f"prompt must be one text, it is a list of {len(given)}.", field="prompt")
    return members.as_text(given[0], "prompt[0]")


# --- whole replies


def write_reply(reply: Reply, *, model: str, reply_id: str, created: int) -> bytes:
    """Our answer; `created` is in seconds since 1970."""
    common = head(model, reply_id, created, "text_completion")
    choices = [write_choice(reply.text, reply.reason)]
    return orjson.dumps({**common, "choices": choices, "usage": write_usage(reply.usage)})


def read_reply(body: Json) -> Reply:
    """A model's answer. Raises ProviderInvalidOutput when it holds none, or the error it holds instead."""
    if body.get("error"):
        raise upstream.error_in_body(body)
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    text = upstream.text_or_none(upstream.member(choice, "text"), "text")
    if not isinstance(choice, Mapping) or text is None:
        raise upstream.unusable("no text")
    reason = upstream.finish_reason(choice.get("finish_reason"), has_calls=False)
    return Reply(text=text, reason=reason, usage=read_usage(body.get("usage")))


# --- streams


class StreamWriter(ChunkWriter):
    """Our answer as server-sent events."""

    def __init__(self, model: str, reply_id: str, created: int, include_usage: bool) -> None:
        super().__init__(head(model, reply_id, created, "text_completion"), include_usage)

    def _choice(self, text: str, reason: FinishReason | None = None) -> Json:
        return write_choice(text, reason)


class StreamReader(ChunkReader):
    """A model's answer from its server-sent events."""

    def _read_content(self, choice: dict[str, Any], events: list[ModelEvent]) -> None:
        text = upstream.text_or_none(choice.get("text"), "text")
        if text:
            events.append(Text(text))
