"""Messages as OpenAI's chat protocol spells them, both ways."""

from collections.abc import Sequence
from typing import Any, get_args

import orjson

from mnemoir.core.errors import InvalidRequest, NotSupported
from mnemoir.core.messages import ImagePart, Message, Part, Role, TextPart, ToolCall
from mnemoir.wire import members
from mnemoir.wire.members import Json
from mnemoir.wire.pictures import read_picture

_ROLES: tuple[str, ...] = tuple(role for role in get_args(Role) if role != "systemMes")


def read_messages(value: object) -> tuple[Message, ...]:
    """The `messages` of a request; at least one."""
    messages = tuple(_read_message(body, at) for body, at in members.objects(value, "messages"))
    if not messages:
        raise InvalidRequest("messages is empty; send at least one message.", field="messages")
    return messages


def read_role(body: Json, at: str) -> Role:
    """The role of a message, one that we know."""
    role = body.get("role")
    if role not in _ROLES:
        raise InvalidRequest(f"{at}.role must be one of {', '.join(_ROLES)}.", field=f"{at}.role")
    return role  # type: ignore[no-any-return]  # one of the literals


def write_message(message: Message) -> dict[str, Any]:
    """One message of a request of ours."""
    role = "system" if message.role == "systemMes" else message.role
    body: dict[str, Any] = {"role": role, "content": _write_content(message)}
    if message.name is not None:
        body["name"] = message.name
    if message.tool_calls:
        body["tool_calls"] = write_tool_calls(message.tool_calls)
    if message.tool_call_id is not None:
        body["tool_call_id"] = message.tool_call_id
    return body


def write_tool_calls(calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
    """Whole tool calls, of a message or a reply."""
    return [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in calls
    ]


def read_tool_calls(value: object, field: str) -> tuple[ToolCall, ...]:
    """Whole tool calls; a call without an id gets one by its place, arguments given as an object become text."""
    if value is None:
        return ()
    calls: list[ToolCall] = []
    for body, at in members.objects(value, field):
        function = members.as_object(body.get("function"), f"{at}.function")
        name = members.as_text(function.get("name"), f"{at}.function.name")
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            arguments = orjson.dumps(arguments).decode()
        given = "" if arguments is None else members.as_text(arguments, f"{at}.function.arguments")
        call_id = members.text(body, "id", at=f"{at}.") or f"call_{len(calls)}"
        calls.append(ToolCall(id=call_id, name=name, arguments=given))
    return tuple(calls)


def _read_message(body: Json, at: str) -> Message:
    role = read_role(body, at)
    if "content" not in body and role != "assistant":
        raise InvalidRequest(f"{at}.content is missing; send text, or a list of parts.", field=f"{at}.content")
    return Message(
        role=role,
        parts=_read_content(body.get("content"), f"{at}.content"),
        name=members.text(body, "name", at=f"{at}."),
        tool_calls=read_tool_calls(body.get("tool_calls"), f"{at}.tool_calls"),
        tool_call_id=members.text(body, "tool_call_id", at=f"{at}."),
    )


def _read_content(value: object, field: str) -> tuple[Part, ...]:
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        return (TextPart(text=members.as_text(value, field)),)
    if not isinstance(value, list):
        members.refuse(field, "text or a list of parts", value)
    return tuple(_read_part(body, at) for body, at in members.objects(value, field))


def _read_part(body: Json, at: str) -> Part:
    kind = body.get("type")
    if kind == "text":
        return TextPart(text=members.as_text(body.get("text"), f"{at}.text"))
    if kind == "refusal":
        return TextPart(text=members.as_text(body.get("refusal"), f"{at}.refusal"))
    if kind == "image_url":
        return _read_image(body.get("image_url"), f"{at}.image_url")
    if kind == "image":
        return _read_image_source(members.as_object(body.get("source"), f"{at}.source"), f"{at}.source")
    if not isinstance(kind, str):
        members.refuse(f"{at}.type", "a string", kind)
    raise NotSupported(f"{at}.type {kind[:40]!r} is not supported; send text or image_url.", field=f"{at}.type")


def _read_image(value: object, at: str) -> ImagePart:
    if isinstance(value, str):
        return read_picture(value, at)
    body = members.as_object(value, at)
    return read_picture(body.get("url"), f"{at}.url", detail=members.text(body, "detail", at=f"{at}."))


def _read_image_source(body: Json, at: str) -> ImagePart:
    """A picture in Anthropic's words, which several chat interfaces send to every server."""
    if body.get("type") == "url":
        return read_picture(body.get("url"), f"{at}.url")
    media_type = members.text(body, "media_type", at=f"{at}.") or "image/png"
    return ImagePart(url=f"data:{media_type};base64,{members.as_text(body.get('data'), f'{at}.data')}")


def _write_content(message: Message) -> str | list[dict[str, Any]] | None:
    if not message.parts:
        return None if message.tool_calls else ""
    if len(message.parts) == 1 and isinstance(message.parts[0], TextPart):
        return message.parts[0].text
    return [_write_part(part) for part in message.parts]


def _write_part(part: Part) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    detail = {} if part.detail is None else {"detail": part.detail}
    return {"type": "image_url", "image_url": {"url": part.url, **detail}}
