"""Calls of tools as Ollama spells them, both ways. Its arguments are a JSON object, where OpenAI's are text."""

from collections.abc import Sequence
from typing import Any

import orjson

from mnemoir.core.errors import InvalidRequest
from mnemoir.core.messages import ToolCall
from mnemoir.wire import members, upstream


def read_tool_calls(value: object, field: str) -> tuple[ToolCall, ...]:
    """Whole calls; Ollama's arguments are an object, ours text. A call without an id gets one by its place."""
    calls: list[ToolCall] = []
    for body, at in members.objects(value or [], field):
        function = members.as_object(body.get("function"), f"{at}.function")
        arguments = function.get("arguments") or {}
        if not isinstance(arguments, str):
            arguments = orjson.dumps(members.as_object(arguments, f"{at}.function.arguments")).decode()
        name = members.as_text(function.get("name"), f"{at}.function.name")
        call_id = members.text(body, "id", at=f"{at}.") or f"call_{len(calls)}"
        calls.append(ToolCall(id=call_id, name=name, arguments=arguments))
    return tuple(calls)


def write_tool_calls(calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
    """Whole calls; arguments that are no JSON object, which only a confused model writes, go under `arguments`."""
    return [
        {"id": call.id, "function": {"index": n, "name": call.name, "arguments": _arguments(call.arguments)}}
        for n, call in enumerate(calls)
    ]


def _arguments(text: str) -> dict[str, Any]:
    try:
        value = orjson.loads(text or "{}")
    except orjson.JSONDecodeError:
        value = text
    return value if isinstance(value, dict) else {"arguments": value}


def read_upstream_calls(value: object) -> tuple[ToolCall, ...]:
    """Tool calls of an answer, where a wrong shape is the server's fault."""
    try:
        return read_tool_calls(value, "tool_calls")
    except InvalidRequest as exc:
        raise upstream.unusable(f"an unusable tool call: {exc.message}") from exc
