"""OpenAI's chat completions: requests, replies and streams, read and written.

The stream writer splices a piece of text between bytes made once per answer; the reader decodes each event once.
Reasoning travels as `reasoning_content`, which is not OpenAI's own word but what compatible servers agreed on.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from mnemoir.core.errors import InvalidRequest, MnemoirError, NotSupported, ProviderError
from mnemoir.core.events import (
    Event,
    Finished,
    FinishReason,
    ModelEvent,
    Reply,
    Text,
    Thinking,
    ToolCallPart,
    Usage,
)
from mnemoir.core.messages import ChatRequest, ModelRequest, Sampling
from mnemoir.wire import members, upstream
from mnemoir.wire.json_output import read_response_format, write_response_format
from mnemoir.wire.members import Json
from mnemoir.wire.openai_family import effort_for, is_reasoning_model
from mnemoir.wire.openai_messages import read_messages, read_tool_calls, write_message, write_tool_calls
from mnemoir.wire.sse import SseReader

DONE = b"data: [DONE]\n\n"
HEARTBEAT = b":\n\n"


# --- requests


def read_request(body: Json) -> ChatRequest:
    """What a client asks of us. Raises InvalidRequest naming the field; members we do not know are ignored."""
    body = members.as_object(body, "body")
    if (members.integer(body, "n", least=1) or 1) > 1:
        raise NotSupported("n must be 1: one answer is given to a request.", field="n")
    options = members.as_object(body.get("stream_options") or {}, "stream_options")
    choice = body.get("tool_choice")
    if not isinstance(choice, str | dict | None):
        members.refuse("tool_choice", "a string or an object", choice)
    request = ModelRequest(
        messages=read_messages(body.get("messages")),
        model=members.text(body, "model") or "",
        sampling=_read_sampling(body),
        tools=tuple(tool for tool, _ in members.objects(body.get("tools") or [], "tools")),
        tool_choice=choice,
        output=read_response_format(body.get("response_format"), "response_format"),
        reasoning_effort=members.text(body, "reasoning_effort"),
    )
    return ChatRequest(
        request=request,
        stream=members.boolean(body, "stream"),
        include_usage=members.boolean(options, "include_usage", at="stream_options."),
        memory=body.get("memoryEnabled") is True,
        user=members.own_name(body, "user"),
        conversation=members.own_name(body, "conversation_id", "session_id"),
    )


def write_request(request: ModelRequest, *, stream: bool) -> dict[str, Any]:
    """What we ask of a model's server; a request without a model leaves the member out."""
    body: dict[str, Any] = {"model": request.model} if request.model else {}
    body["messages"] = [write_message(message) for message in request.messages]
    body |= _write_sampling(request.sampling, reasoning=is_reasoning_model(request.model))
    if request.tools:
        body["tools"] = list(request.tools)
    if request.tool_choice is not None:
        body["tool_choice"] = request.tool_choice
    if request.output is not None:
        body["response_format"] = write_response_format(request.output)
    effort = effort_for(request.model, request.reasoning_effort)
    if effort is not None:
        body["reasoning_effort"] = effort
    if stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return body


def _read_sampling(body: Json) -> Sampling:
    limit = members.integer(body, "max_completion_tokens", least=1)
    return Sampling(
        temperature=members.number(body, "temperature"),
        top_p=members.number(body, "top_p"),
        max_tokens=limit if limit is not None else members.integer(body, "max_tokens", least=1),
        stop=members.texts(body, "stop"),
        seed=members.integer(body, "seed"),
        presence_penalty=members.number(body, "presence_penalty"),
        frequency_penalty=members.number(body, "frequency_penalty"),
    )


def _write_sampling(sampling: Sampling, *, reasoning: bool) -> dict[str, Any]:
    """Older servers know only `max_tokens`, the reasoning models only the other name, and no temperature."""
    given: dict[str, Any] = {
        "max_completion_tokens" if reasoning else "max_tokens": sampling.max_tokens,
        "stop": list(sampling.stop) or None,
        "seed": sampling.seed,
        "presence_penalty": sampling.presence_penalty,
        "frequency_penalty": sampling.frequency_penalty,
    }
    if not reasoning:
        given |= {"temperature": sampling.temperature, "top_p": sampling.top_p}
    return {name: value for name, value in given.items() if value is not None}


# --- whole replies


def write_reply(reply: Reply, *, model: str, reply_id: str, created: int) -> bytes:
    """Our answer; `created` is in seconds since 1970."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": None}
    if reply.tool_calls:
        message |= {"content": reply.text or None, "tool_calls": write_tool_calls(reply.tool_calls)}
    if reply.thinking:
        message["reasoning_content"] = reply.thinking
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reply.reason}
    return orjson.dumps(
        {
            "id": reply_id,
            "object": "chat.completion",
            "created": created,
            "model": model,
            "choices": [choice],
            "usage": _write_usage(reply.usage),
        }
    )


def read_reply(body: Json) -> Reply:
    """A model's answer. Raises ProviderInvalidOutput when it holds none, or the error it holds instead."""
    if body.get("error"):
        raise upstream.error_in_body(body)
    choices = body.get("choices")
    message = upstream.member(choices[0], "message") if isinstance(choices, list) and choices else None
    if not isinstance(message, Mapping) or not isinstance(choices, list):
        raise upstream.unusable("no choices")
    if message.get("refusal"):
        return Reply(text="", reason="content_filter", usage=_read_usage(body.get("usage")))
    calls = _read_reply_calls(message.get("tool_calls"))
    text = _reply_text(message.get("content"))
    thinking = _thinking(message)
    reason = upstream.finish_reason(choices[0].get("finish_reason"), has_calls=bool(calls))
    if text is None and not calls and not thinking and reason != "content_filter":
        raise upstream.unusable("no content")
    usage = _read_usage(body.get("usage"))
    return Reply(text=text or "", reason=reason, tool_calls=calls, thinking=thinking, usage=usage)


def _reply_text(content: object) -> str | None:
    """The text of a message; some servers answer in parts."""
    if isinstance(content, list):
        return "".join(upstream.text_or_none(upstream.member(part, "text"), "a part") or "" for part in content)
    return upstream.text_or_none(content, "content")


def _thinking(message: Json) -> str:
    value = message.get("reasoning_content") or message.get("reasoning")
    return value if isinstance(value, str) else ""


def _read_reply_calls(value: object) -> tuple[Any, ...]:
    try:
        return read_tool_calls(value, "tool_calls")
    except InvalidRequest as exc:  # the same shape as in a request, but here it is the server's fault
        raise upstream.unusable(f"an unusable tool call: {exc.message}") from exc


def _read_usage(value: object) -> Usage:
    return Usage(
        input_tokens=upstream.count(upstream.member(value, "prompt_tokens")),
        output_tokens=upstream.count(upstream.member(value, "completion_tokens")),
        cached_tokens=upstream.count(
            upstream.member(upstream.member(value, "prompt_tokens_details"), "cached_tokens")
        ),
    )


def _write_usage(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
    }


# --- errors


def write_error(exc: MnemoirError) -> dict[str, Any]:
    """An error as OpenAI's clients read it."""
    kind = "invalid_request_error" if isinstance(exc, InvalidRequest) else "server_error"
    if isinstance(exc, ProviderError):
        kind = "upstream_error"
    return {"error": {"message": exc.message, "type": kind, "param": getattr(exc, "field", None), "code": exc.code}}


# --- streams


class StreamWriter:
    """Our answer as server-sent events. Usage of several model calls is summed."""

    def __init__(self, model: str, reply_id: str, created: int, include_usage: bool) -> None:
        head = orjson.dumps({"id": reply_id, "object": "chat.completion.chunk", "created": created, "model": model})
        self._head = b"data: " + head[:-1]
        self._tail = b',"usage":null}\n\n' if include_usage else b"}\n\n"
        self._before = self._head + b',"choices":[{"index":0,"delta":'
        self._after = b',"logprobs":null,"finish_reason":null}]' + self._tail
        self._before_text = self._before + b'{"content":'
        self._after_text = b"}" + self._after
        self._include_usage = include_usage
        self._usage = Usage()
        self._begun = False

    def events(self, batch: Sequence[Event]) -> bytes:
        """All of the batch in one write; b"" when nothing in it is for the client."""
        out: list[bytes] = []
        for event in batch:
            if event.__class__ is Text:
                out += (self._before_text, orjson.dumps(event.text), self._after_text)
            else:
                self._other(event, out)
        if out and not self._begun:
            self._begun = True
            out.insert(0, self._delta({"role": "assistant", "content": ""}))
        return b"".join(out)

    def error(self, exc: MnemoirError) -> bytes:
        """The end of an answer that failed: no finish reason and no [DONE] follow."""
        return b"data: " + orjson.dumps(write_error(exc)) + b"\n\n"

    def heartbeat(self) -> bytes:
        """A comment, to keep proxies from closing a silent connection."""
        return HEARTBEAT

    def _other(self, event: Event, out: list[bytes]) -> None:
        if isinstance(event, Thinking):
            out.append(self._delta({"reasoning_content": event.text}))
        elif isinstance(event, ToolCallPart):
            out.append(self._delta({"tool_calls": [_write_call_part(event)]}))
        elif isinstance(event, Usage):
            self._usage = _sum(self._usage, event)
        elif isinstance(event, Finished):
            out.append(self._finish(event.reason))

    def _delta(self, delta: Json) -> bytes:
        return self._before + orjson.dumps(delta) + self._after

    def _finish(self, reason: FinishReason) -> bytes:
        last = self._before + b'{},"logprobs":null,"finish_reason":"' + reason.encode() + b'"}]' + self._tail
        if not self._include_usage:
            return last + DONE
        usage = self._head + b',"choices":[],"usage":' + orjson.dumps(_write_usage(self._usage)) + b"}\n\n"
        return last + usage + DONE


class StreamReader:
    """A model's answer from its server-sent events; `finished` once Finished was given.

    Finished waits for the usage, which comes after the finish reason.
    """

    def __init__(self) -> None:
        self.finished = False
        self._sse = SseReader()
        self._reason: object = None
        self._usage: Usage | None = None
        self._last_call = -1

    def feed(self, data: bytes) -> list[ModelEvent]:
        """The events that `data` completes. Raises ProviderError for an event that is an error, or not JSON."""
        return self._events(self._sse.feed(data))

    def end(self) -> list[ModelEvent]:
        """The body has ended: what was still held back. Raises ProviderUnavailable for an answer cut short."""
        events = self._events(self._sse.end())
        if not self.finished:
            if self._reason is None:
                raise upstream.ended_early()
            self._finish(events)
        return events

    def _events(self, frames: Sequence[bytes]) -> list[ModelEvent]:
        events: list[ModelEvent] = []
        for frame in frames:
            if self.finished:
                break
            if frame == b"[DONE]":
                self._finish(events)
            else:
                self._chunk(upstream.decode(frame), events)
        return events

    def _chunk(self, chunk: dict[str, Any], events: list[ModelEvent]) -> None:
        choices = chunk.get("choices")
        if choices.__class__ is list and choices:
            self._choice(choices[0], events)
        elif chunk.get("error"):
            raise upstream.error_in_body(chunk)
        usage = chunk.get("usage")
        if usage is not None:
            self._usage = _read_usage(usage)
            if not choices and self._reason is not None:
                self._finish(events)

    def _choice(self, choice: object, events: list[ModelEvent]) -> None:
        if not isinstance(choice, dict):
            raise upstream.unusable("a choice that is not an object")
        delta = choice.get("delta")
        if isinstance(delta, dict):
            content = delta.get("content")
            if content:
                if content.__class__ is not str:
                    raise upstream.unusable("content that is not text")
                events.append(Text(content))
            if not content or len(delta) > 1:
                self._rest_of_delta(delta, events)
        reason = choice.get("finish_reason")
        if reason is not None:
            if reason == "error":
                raise upstream.error_in_body(choice.get("error") or "The model's server broke off with an error.")
            self._reason = self._reason or reason

    def _rest_of_delta(self, delta: dict[str, Any], events: list[ModelEvent]) -> None:
        thinking = _thinking(delta)
        if thinking:
            events.append(Thinking(thinking))
        if delta.get("refusal"):
            self._reason = "content_filter"
        calls = delta.get("tool_calls")
        if isinstance(calls, list):
            events += [self._call_part(part) for part in calls]

    def _call_part(self, part: object) -> ToolCallPart:
        """A piece of a call. Servers that leave the index out mean a new call where there is an id."""
        call_id, name = upstream.member(part, "id"), upstream.member(upstream.member(part, "function"), "name")
        index = upstream.member(part, "index")
        if not isinstance(index, int):
            index = self._last_call + 1 if call_id or self._last_call < 0 else self._last_call
        self._last_call = index
        arguments = upstream.member(upstream.member(part, "function"), "arguments")
        if isinstance(arguments, dict):
            arguments = orjson.dumps(arguments).decode()
        return ToolCallPart(
            index=index,
            id=upstream.text_or_none(call_id, "a call id") or None,
            name=upstream.text_or_none(name, "a function name") or None,
            arguments=upstream.text_or_none(arguments, "call arguments") or "",
        )

    def _finish(self, events: list[ModelEvent]) -> None:
        if self._usage is not None:
            events.append(self._usage)
        events.append(Finished(reason=upstream.finish_reason(self._reason, has_calls=self._last_call >= 0)))
        self.finished = True


def _write_call_part(part: ToolCallPart) -> dict[str, Any]:
    function = {} if part.name is None else {"name": part.name}
    body: dict[str, Any] = {"index": part.index, "function": {**function, "arguments": part.arguments}}
    if part.id is not None:
        body |= {"id": part.id, "type": "function"}
    return body


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        cached_tokens=one.cached_tokens + other.cached_tokens,
    )
