"""Converts messages between the types of model requests and those of conversations."""

from collections.abc import Iterator, Sequence
from typing import Any, get_args

import orjson

from mnemoir.core import messages as core
from mnemoir.core.conversations import Content, MediaPart, Message, Part, Role, TextPart, ToolCall, calls_of

# The argument name for a value that is no JSON object: no signature has it, so the tool's error reaches the model.
UNREADABLE = "unreadable_arguments"
_ROLES: dict[str, Role] = {role: role for role in get_args(Role)} | {"developer": "system", "systemMes": "system"}


def to_model(messages: Sequence[Message]) -> list[core.Message]:
    """The messages for a model; messages without sendable content are left out. Of files only pictures are sent."""
    return list(_written(messages))


def from_model(message: core.Message) -> Message:
    """The message for a conversation."""
    return Message(
        _ROLES[message.role],
        _content(message),
        [read_call(call) for call in message.tool_calls] or None,
        message.tool_call_id,
        message.name,
    )


def read_call(call: core.ToolCall) -> ToolCall:
    """A call as tools read it. Broken JSON is not repaired: half a command could be another command."""
    try:
        value: Any = orjson.loads(call.arguments or "{}")
    except orjson.JSONDecodeError:
        value = None
    return ToolCall(call.id, call.name, value if isinstance(value, dict) else {UNREADABLE: call.arguments})


def write_call(call: ToolCall) -> core.ToolCall:
    """A call as models write it."""
    if set(call.arguments) == {UNREADABLE}:
        return core.ToolCall(id=call.id, name=call.name, arguments=str(call.arguments[UNREADABLE]))
    arguments = orjson.dumps(dict(call.arguments), default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    return core.ToolCall(id=call.id, name=call.name, arguments=arguments)


def _content(message: core.Message) -> Content:
    """Plain text without pictures; otherwise a list with files first and the text last."""
    pictures: list[Part] = [
        MediaPart(type="image", url=part.url, detail="high" if part.detail == "high" else "low")
        for part in message.parts
        if isinstance(part, core.ImagePart)
    ]
    if not pictures:
        return message.text if message.parts or not message.tool_calls else None
    return [*pictures, TextPart(message.text)] if message.text else pictures


def _written(messages: Sequence[Message]) -> Iterator[core.Message]:
    for message in messages:
        parts = tuple(_parts(message))
        if parts or calls_of(message) or not isinstance(message.content, list):
            yield core.Message(
                role=message.role,
                parts=parts,
                name=message.name if message.role == "tool" else None,
                tool_calls=[write_call(call) for call in calls_of(message)],
                tool_call_id=message.tool_call_id,
            )


def _parts(message: Message) -> Iterator[core.Part]:
    if not isinstance(message.content, list):
        if message.content:
            yield core.TextPart(text=message.content)
        return
    for part in message.content:
        if isinstance(part, TextPart):
            yield core.TextPart(text=part.data)
        elif isinstance(part, MediaPart) and part.type == "image":
            yield core.ImagePart(url=part.data, detail=part.detail)
