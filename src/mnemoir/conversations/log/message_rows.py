"""Converts messages to database rows and back, and between the types of conversations and of model requests.

A damaged field is skipped, and so is a row whose role is unreadable; the log names the row, and the rest is read.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple, get_args

import orjson
import structlog

from mnemoir.core import messages as core
from mnemoir.core.conversations import (
    Content,
    MediaPart,
    MediaType,
    Message,
    MessageRecord,
    Part,
    Role,
    TextPart,
    ToolCall,
    calls_of,
)
from mnemoir.core.errors import InvalidRequest

_log = structlog.get_logger(__name__)
_ROLES: frozenset[str] = frozenset(get_args(Role))
_MEDIA: frozenset[str] = frozenset(get_args(MediaType))
# The argument name for a value that is no JSON object: no signature has it, so the tool's error reaches the model.
UNREADABLE = "unreadable_arguments"
_SENT_ROLES: dict[str, Role] = {role: role for role in get_args(Role)} | {
    "developer": "system",
    "systemMes": "system",
}


class Columns(NamedTuple):
    """The columns of a message's row; calls and files as JSON."""

    role: str
    content: str | None = None
    tool_calls: str | None = None
    tool_call_id: str | None = None
    name: str | None = None
    files: str | None = None


def record_of(
    session_id: str,
    message: Message,
    *,
    run_id: str | None = None,
    finish_reason: str | None = None,
    uid: str | None = None,
) -> MessageRecord:
    """The row for a message; `finish_reason` is stored for answers only. Without a `uid` it gets a new one.

    Raises InvalidRequest for an unknown role, and for arguments that are not JSON.
    """
    if message.role not in _ROLES:
        raise InvalidRequest(
            f"A message has one of the roles {', '.join(sorted(_ROLES))}, not {message.role!r}.", field="role"
        )
    return MessageRecord(
        session_id=session_id,
        role=message.role,
        content=None if message.content is None else message.text,
        tool_calls=_calls_as_json(calls_of(message)),
        tool_call_id=message.tool_call_id,
        name=message.name,
        files=_files_as_json(message.content),
        run_id=run_id,
        finish_reason=finish_reason if message.role == "assistant" else None,
        uid=uid,
    )


def message_of(message_id: int, columns: Columns) -> Message | None:
    """The message in a row; None, with a warning, for a row with an invalid role."""
    if columns.role not in _ROLES:
        _log.warning("stored message skipped", message_id=message_id, cause="unknown role")
        return None
    role: Any = columns.role  # one of the literals
    files = _files(message_id, columns.files)
    calls = _calls(message_id, columns.tool_calls)
    return Message(role, _content(files, columns.content), calls, columns.tool_call_id, columns.name)


def _calls_as_json(calls: Sequence[ToolCall]) -> str | None:
    if not calls:
        return None
    members = [{"id": call.id, "name": call.name, "arguments": dict(call.arguments)} for call in calls]
    try:
        return json.dumps(members, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as exc:
        raise InvalidRequest(f"The arguments of a tool call must be JSON: {exc}.", field="tool_calls") from exc


def _files_as_json(content: Content) -> str | None:
    files = [asdict(part) for part in content if isinstance(part, MediaPart)] if isinstance(content, list) else []
    return json.dumps(files, ensure_ascii=False) if files else None


def _content(files: Sequence[MediaPart], text: str | None) -> Content:
    """Files first, the text last; the text alone where there are no files."""
    if not files:
        return text
    return [*files, TextPart(text)] if text else [*files]


def _files(message_id: int, raw: str | None) -> Sequence[MediaPart]:
    if not raw:
        return ()
    try:
        return [_file(members) for members in json.loads(raw)]
    except (ValueError, TypeError, RecursionError) as exc:
        _log.warning("files of a stored message left out", message_id=message_id, cause=type(exc).__name__)
        return ()


def _file(members: Mapping[str, Any]) -> MediaPart:
    part = MediaPart(**members)
    if part.type not in _MEDIA:
        raise ValueError("of no known type")
    return part


def _calls(message_id: int, raw: str | None) -> list[ToolCall] | None:
    if not raw:
        return None
    try:
        return [_call(members) for members in json.loads(raw)] or None
    except (ValueError, TypeError, KeyError, RecursionError) as exc:
        _log.warning("tool calls of a stored message left out", message_id=message_id, cause=type(exc).__name__)
        return None


def _call(members: Mapping[str, Any]) -> ToolCall:
    arguments = members["arguments"]
    if isinstance(arguments, str):  # some models write them as text
        arguments = json.loads(arguments)
    if not isinstance(members["id"], str) or not isinstance(members["name"], str) or not isinstance(arguments, dict):
        raise TypeError("a member of another type")
    return ToolCall(members["id"], members["name"], arguments)


def to_model(messages: Sequence[Message]) -> list[core.Message]:
    """The messages for a model; messages without sendable content are left out. Of files only pictures are sent."""
    return list(_core_messages(messages))


def from_model(message: core.Message) -> Message:
    """The message for a conversation."""
    return Message(
        _SENT_ROLES[message.role],
        _sent_content(message),
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


def _sent_content(message: core.Message) -> Content:
    """Plain text without pictures; otherwise a list with files first and the text last."""
    pictures: list[Part] = [
        MediaPart(type="image", url=part.url, detail="high" if part.detail == "high" else "low")
        for part in message.parts
        if isinstance(part, core.ImagePart)
    ]
    if not pictures:
        return message.text if message.parts or not message.tool_calls else None
    return [*pictures, TextPart(message.text)] if message.text else pictures


def _core_messages(messages: Sequence[Message]) -> Iterator[core.Message]:
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
