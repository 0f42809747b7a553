"""The answers of OpenAI's chat completions, whole or streamed, read and written.

Reasoning is sent as `reasoning_content`, a name that is not OpenAI's but common among compatible servers. Some
call it `reasoning`: that is forwarded beside it, for clients that read it there.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from mnemoir.core.errors import InvalidRequest
from mnemoir.core.events import Event, FinishReason, ModelEvent, Refusal, Reply, Text, Thinking, ToolCallPart
from mnemoir.wire import upstream
from mnemoir.wire.members import Json, members_for, merged_members, unread
from mnemoir.wire.openai_messages import ROUTE, extra_of_call, read_tool_calls, write_tool_calls
from mnemoir.wire.openai_shapes import read_usage, write_usage
from mnemoir.wire.openai_stream import ChunkReader, ChunkWriter, head, passed_of

FUNCTION_CALL = "function_call"
"""The name of a tool call, the choice of a tool, and an answer that ends with a call, for clients of functions."""

_OF_ANSWERS = frozenset({"role", "content", "refusal", "tool_calls", "reasoning_content"})


# --- whole replies


def write_reply(reply: Reply, *, model: str, reply_id: str, created: int) -> bytes:
    """The answer's body; `created` is in seconds since 1970."""
    return orjson.dumps(_reply_body(reply, model, reply_id, created))


def write_function_reply(reply: Reply, *, model: str, reply_id: str, created: int) -> bytes:
    """`write_reply` for a client that sent `functions`."""
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
    common: dict[str, Any] = {**head(model, reply_id, created, "chat.completion")}
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
    """The text of a message; some servers send it in parts."""
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


# --- for clients of functions


def without_further_calls(batch: Sequence[Event]) -> Sequence[Event]:
    """The events without the calls after the first one, so that the stored answer equals the one the client gets."""
    return [event for event in batch if not (isinstance(event, ToolCallPart) and event.index)]


def of_function_call(choice: Json) -> Json:
    """A choice of an answer, or of a piece of a streamed one, with the first tool call as its function call."""
    choice = _with_reason(choice)
    part = next((name for name in ("message", "delta") if isinstance(choice.get(name), Mapping)), None)
    if part is None or "tool_calls" not in choice[part]:
        return choice
    said = {name: value for name, value in choice[part].items() if name != "tool_calls"}
    calls = choice[part]["tool_calls"]
    first = next((call for call in calls or () if isinstance(call, Mapping) and not call.get("index")), None)
    if first is not None and isinstance(first.get("function"), Mapping):
        said[FUNCTION_CALL] = first["function"]
    return {**choice, part: said}


def _with_reason(choice: Json) -> Json:
    return {**choice, "finish_reason": FUNCTION_CALL} if choice.get("finish_reason") == "tool_calls" else choice


# --- streams


class StreamWriter(ChunkWriter):
    """Writes an answer as server-sent events; the first delta has the role."""

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
    """`StreamWriter` for a client that sent `functions`."""

    def _chunk(self, choice: Json) -> bytes:
        return super()._chunk(of_function_call(choice))


def _choice_of(delta: Json, reason: FinishReason | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}


class StreamReader(ChunkReader):
    """Reads a model's answer from its server-sent events."""

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
        """Read a piece of a call. A piece without an index begins a new call where it has an id."""
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
    return body if part.extra is None else merged_members(members_for(part.extra, ROUTE), body)
