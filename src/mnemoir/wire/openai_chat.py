"""OpenAI's chat completions: requests, replies and streams, read and written.

Reasoning travels as `reasoning_content`, which is not OpenAI's own word but what compatible servers agreed on. Some
call it `reasoning`: that is passed on beside it, for clients that look for it there.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from mnemoir.core.errors import InvalidRequest
from mnemoir.core.events import Event, FinishReason, ModelEvent, Refusal, Reply, Text, Thinking, ToolCallPart
from mnemoir.core.messages import ChatRequest, ModelRequest
from mnemoir.wire import members, upstream
from mnemoir.wire.extras import OWN_MEMBERS, asked_extra, members_for, merged, unread, within
from mnemoir.wire.json_output import read_response_format, write_response_format
from mnemoir.wire.legacy_functions import FUNCTION_NAMES, of_function_call, with_tools
from mnemoir.wire.members import Json
from mnemoir.wire.openai_family import effort_of, is_reasoning_model
from mnemoir.wire.openai_messages import (
    ROUTE,
    extra_of_call,
    read_messages,
    read_tool_calls,
    write_message,
    write_tool_calls,
)
from mnemoir.wire.openai_sampling import SAMPLING, read_choices, read_sampling, write_sampling
from mnemoir.wire.openai_stream import ChunkReader, ChunkWriter, head, passed_of, write_error
from mnemoir.wire.openai_usage import read_usage, write_usage

__all__ = [
    "FunctionStreamWriter",
    "StreamReader",
    "StreamWriter",
    "read_reply",
    "read_request",
    "write_error",
    "write_function_reply",
    "write_reply",
    "write_request",
]


_OF_REQUESTS = (
    OWN_MEMBERS
    | SAMPLING
    | {"model", "messages", "stream", "stream_options", "tools", "tool_choice", "response_format", "reasoning_effort"}
)
_OF_STREAM_OPTIONS = frozenset({"include_usage"})
_OF_ANSWERS = frozenset({"role", "content", "refusal", "tool_calls", "reasoning_content"})


# --- requests


def read_request(body: Json) -> ChatRequest:
    """What a client asks of us. Raises InvalidRequest naming the field; unknown members are kept in `extra`."""
    body, function_calls, dropped = with_tools(members.as_object(body, "body"))
    options = members.as_object(body.get("stream_options") or {}, "stream_options")
    of_options = asked_extra(options, _OF_STREAM_OPTIONS, ROUTE, "stream_options.")
    extra = within(asked_extra(body, _OF_REQUESTS, ROUTE), "stream_options", of_options)
    choice = body.get("tool_choice")
    if not isinstance(choice, str | dict | None):
        members.refuse("tool_choice", "a string or an object", choice)
    request = ModelRequest(
        messages=read_messages(body.get("messages")),
        model=members.text(body, "model") or "",
        sampling=read_sampling(body),
        tools=tuple(tool for tool, _ in members.objects(body.get("tools") or [], "tools")),
        tool_choice=choice,
        output=read_response_format(body["response_format"], "response_format")
        if "response_format" in body
        else None,
        reasoning_effort=members.text(body, "reasoning_effort"),
        choices=read_choices(body),
        extra=extra,
        dropped=dropped,
    )
    return ChatRequest(
        request=request,
        stream=members.boolean(body, "stream"),
        include_usage=members.boolean(options, "include_usage", at="stream_options."),
        memory=body.get("memoryEnabled") is True,
        user=members.own_name(body, "user"),
        function_calls=function_calls,
        names=_names(body, function_calls),
    )


def _names(body: Json, function_calls: bool) -> dict[str, str]:
    """Members that have an older or newer name too, by the one that the client used."""
    names = {"max_tokens": "max_completion_tokens"} if body.get("max_completion_tokens") is not None else {}
    return {**names, **FUNCTION_NAMES} if function_calls else names


def write_request(request: ModelRequest, *, stream: bool) -> dict[str, Any]:
    """What we ask of a model's server; a request without a model leaves the member out.

    Of a config tree's request nothing but its options, the messages, the model, the tools, and what a client was
    allowed to add is written.
    """
    body: dict[str, Any] = {"model": request.model} if _names_model(request) else {}
    body["messages"] = [write_message(message) for message in request.messages]
    body |= write_sampling(request.sampling, reasoning=is_reasoning_model(request.model))
    body |= _write_tools(request)
    if request.output is not None:
        body["response_format"] = write_response_format(request.output)
    effort = effort_of(request)
    if effort is not None:
        body["reasoning_effort"] = effort
    if request.choices > 1:
        body["n"] = request.choices
    if request.options is not None:
        body |= request.options
    elif stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return body if request.extra is None else merged(members_for(request.extra, ROUTE), body)


def _names_model(request: ModelRequest) -> bool:
    """Whether the model's name is sent: an empty one only where a config tree says so."""
    return bool(request.model) if request.options is None else request.model is not None


def _write_tools(request: ModelRequest) -> dict[str, Any]:
    body: dict[str, Any] = {"tools": list(request.tools)} if request.tools else {}
    return body if request.tool_choice is None else {**body, "tool_choice": request.tool_choice}


# --- whole replies


def write_reply(reply: Reply, *, model: str, reply_id: str, created: int) -> bytes:
    """Our answer; `created` is in seconds since 1970."""
    return orjson.dumps(_reply_body(reply, model, reply_id, created))


def write_function_reply(reply: Reply, *, model: str, reply_id: str, created: int) -> bytes:
    """The same for a client that sent `functions`."""
    body = _reply_body(reply, model, reply_id, created)
    return orjson.dumps({**body, "choices": [of_function_call(choice) for choice in body["choices"]]})


def _reply_body(reply: Reply, model: str, reply_id: str, created: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": reply.refusal or None}
    if reply.tool_calls or reply.refusal:
        message["content"] = reply.text or None
    if reply.tool_calls:
        message["tool_calls"] = write_tool_calls(reply.tool_calls)
    if reply.thinking:
        message["reasoning_content"] = reply.thinking
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reply.reason}
    common = head(model, reply_id, created, "chat.completion")
    passed = reply.passed
    if passed is not None and passed.route == ROUTE:
        message |= passed.message or {}
        choice |= passed.choice or {}
        common |= passed.answer or {}
    return {**common, "choices": [choice, *reply.alternatives], "usage": write_usage(reply.usage)}


def read_reply(body: Json) -> Reply:
    """A model's answer. Raises ProviderInvalidOutput when it holds none, or the error it holds instead."""
    if body.get("error"):
        raise upstream.error_in_body(body)
    choices = body.get("choices")
    message = upstream.member(choices[0], "message") if isinstance(choices, list) and choices else None
    if not isinstance(message, Mapping) or not isinstance(choices, list):
        raise upstream.unusable("no choices")
    calls = _read_reply_calls(message.get("tool_calls"))
    text = _reply_text(message.get("content"))
    thinking = _thinking(message)
    refusal = upstream.text_or_none(message.get("refusal"), "a refusal") or ""
    reason = upstream.finish_reason(choices[0].get("finish_reason"), has_calls=bool(calls))
    if text is None and not calls and not thinking and not refusal and reason != "content_filter":
        raise upstream.unusable("no content")
    return Reply(
        text=text or "",
        reason=reason,
        tool_calls=calls,
        thinking=thinking,
        refusal=refusal,
        usage=read_usage(body.get("usage")),
        passed=passed_of(body, choices[0], message, _OF_ANSWERS, ROUTE),
        alternatives=tuple(choice for choice in choices[1:] if isinstance(choice, dict)),
    )


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


# --- streams


class StreamWriter(ChunkWriter):
    """Our answer as server-sent events; the first delta tells the role."""

    route = ROUTE

    def __init__(self, model: str, reply_id: str, created: int, include_usage: bool) -> None:
        super().__init__(head(model, reply_id, created, "chat.completion.chunk"), include_usage)

    def _choice(self, text: str, reason: FinishReason | None = None) -> dict[str, Any]:
        return _choice_of({} if reason else {"content": text}, reason)

    def _opening(self) -> bytes:
        return self._chunk(_choice_of({"role": "assistant", "content": ""}))

    def _other(self, event: Event) -> dict[str, Any] | None:
        if isinstance(event, Thinking):
            return _choice_of({"reasoning_content": event.text})
        if isinstance(event, Refusal):
            return _choice_of({"refusal": event.text})
        if isinstance(event, ToolCallPart):
            return _choice_of({"tool_calls": [_write_call_part(event)]})
        return None


class FunctionStreamWriter(StreamWriter):
    """The same for a client that sent `functions`."""

    def _chunk(self, choice: Json) -> bytes:
        return super()._chunk(of_function_call(choice))


def _choice_of(delta: Json, reason: FinishReason | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}


class StreamReader(ChunkReader):
    """A model's answer from its server-sent events."""

    route = ROUTE

    def __init__(self, *, tolerant: bool = False) -> None:
        super().__init__(tolerant=tolerant)
        self._last_call = -1

    @property
    def _has_calls(self) -> bool:
        return self._last_call >= 0

    def _read_content(self, choice: dict[str, Any], events: list[ModelEvent]) -> Json | None:
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            return None
        content = delta.get("content")
        if content:
            if content.__class__ is not str:
                raise upstream.unusable("content that is not text")
            events.append(Text(content))
        if content and len(delta) == 1:
            return None
        self._rest_of_delta(delta, events)
        return unread(delta, _OF_ANSWERS)

    def _rest_of_delta(self, delta: dict[str, Any], events: list[ModelEvent]) -> None:
        thinking = _thinking(delta)
        if thinking:
            events.append(Thinking(thinking))
        refusal = upstream.text_or_none(delta.get("refusal"), "a refusal")
        if refusal:
            events.append(Refusal(refusal))
        calls = delta.get("tool_calls")
        if isinstance(calls, list):
            events += [self._call_part(part) for part in calls]

    def _call_part(self, part: object) -> ToolCallPart:
        """A piece of a call. Servers that leave the index out mean a new call where there is an id."""
        custom = upstream.member(part, "type") == "custom" or upstream.member(part, "custom") is not None
        called = upstream.member(part, "custom" if custom else "function")
        call_id, name = upstream.member(part, "id"), upstream.member(called, "name")
        index = upstream.member(part, "index")
        if not isinstance(index, int):
            index = self._last_call + 1 if call_id or self._last_call < 0 else self._last_call
        self._last_call = index
        arguments = upstream.member(called, "input" if custom else "arguments")
        if isinstance(arguments, dict):
            arguments = orjson.dumps(arguments).decode()
        return ToolCallPart(
            index=index,
            id=upstream.text_or_none(call_id, "a call id") or None,
            name=upstream.text_or_none(name, "a function name") or None,
            arguments=upstream.text_or_none(arguments, "call arguments") or "",
            custom=custom,
            extra=extra_of_call(part) if isinstance(part, dict) else None,
        )


def _write_call_part(part: ToolCallPart) -> dict[str, Any]:
    kind, words = ("custom", "input") if part.custom else ("function", "arguments")
    named = {} if part.name is None else {"name": part.name}
    body: dict[str, Any] = {"index": part.index, kind: {**named, words: part.arguments}}
    if part.id is not None:
        body |= {"id": part.id, "type": kind}
    return body if part.extra is None else merged(members_for(part.extra, ROUTE), body)
