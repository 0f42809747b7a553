"""Messages in OpenAI's chat protocol, read and written, and the parameters that its model families accept."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from mnemoir.core.errors import InvalidRequest
from mnemoir.core.messages import (
    Extra,
    ImagePart,
    Message,
    ModelRequest,
    OpaquePart,
    Part,
    PlainMessages,
    Role,
    Route,
    TextPart,
    ToolCall,
)
from mnemoir.core.text import is_utf8
from mnemoir.wire import members, upstream
from mnemoir.wire.members import Json, asked_extra, extra_of, members_for, merged_members, within
from mnemoir.wire.pictures import check_address, read_picture

_REASONING = ("gpt-5", "o1", "o3", "o4")
ROUTE: Route = "openai-chat"
_ROLES: tuple[str, ...] = tuple(role for role in get_args(Role) if role != "systemMes")
_ANY_ROLE = frozenset(_ROLES)
_OF_MESSAGES = frozenset({"role", "content", "name", "tool_calls", "tool_call_id"})
_OF_EMPTY_MESSAGES = _OF_MESSAGES - {"content"}  # null, "" and [] are all empty; the one that was sent is kept
_OF_TEXTS = frozenset({"type", "text"})
_OF_IMAGES = frozenset({"type", "image_url"})
_OF_IMAGE_URLS = frozenset({"url", "detail"})
_OF_CALLS = frozenset({"id", "type", "function", "custom", "index"})
_OF_CALLED = frozenset({"name", "arguments", "input"})
_LISTED = Extra(route=ROUTE, members={"type": "text"})  # for a text that was sent as a list of one part
# the kinds of parts beside texts and pictures that OpenAI has, and servers like vLLM
KNOWN_PARTS = ("input_audio", "file", "video_url", "audio_url", "input_video")
_LONGEST_KIND = 40  # of a part, in messages


def is_reasoning_model(model: str | None) -> bool:
    """True when `model` refuses temperature and top_p, and names its limit `max_completion_tokens`.

    A vendor prefix, as in `openai/gpt-5-mini`, is ignored.
    """
    return (model or "").rpartition("/")[2].startswith(_REASONING)


def effort_of(request: ModelRequest) -> str | None:
    """The reasoning effort to send; None leaves it to the model.

    A client's level is sent unchanged. Memory's own calls need no reasoning; `minimal` is sent only to models known
    to accept it: others refuse the whole request for it.
    """
    if request.reasoning_effort is not None:
        return request.reasoning_effort
    return "minimal" if request.think is False and is_reasoning_model(request.model) else None


def read_messages(value: object) -> Sequence[Message]:
    """Read the `messages` of a request; at least one."""
    plain = read_plain_messages(value)
    if plain is not None:
        return plain
    messages = tuple(
        _read_message(members.as_object(body, f"messages[{n}]"), f"messages[{n}]")
        for n, body in enumerate(members.as_list(value, "messages"))
    )
    if not messages:
        raise InvalidRequest("messages is empty; send at least one message.", field="messages")
    return messages


def read_plain_messages(value: object) -> PlainMessages | None:
    """Messages that have a role and a text each, as in nearly all histories; None for others, and for none at all."""
    if not value or not isinstance(value, list):
        return None
    for body in value:  # a history may have hundreds
        if body.__class__ is not dict or len(body) != 2:
            return None
        role, text = body.get("role"), body.get("content")
        if role.__class__ is not str or role not in _ANY_ROLE or text.__class__ is not str or not text:
            return None
        if not text.isascii() and not is_utf8(text):
            return None
    return PlainMessages(value)


def read_role(body: Json, at: str) -> Role:
    """The role of a message. Raises InvalidRequest for an unknown one."""
    role = body.get("role")
    if role not in _ROLES:
        raise InvalidRequest(f"{at}.role must be one of {', '.join(_ROLES)}.", field=f"{at}.role")
    return role  # type: ignore[no-any-return]  # one of the literals


def write_messages(messages: Sequence[Message]) -> Sequence[Mapping[str, Any]]:
    """The messages of a request to a model."""
    if isinstance(messages, PlainMessages):
        return messages.bodies
    return [write_message(message) for message in messages]


def write_message(message: Message) -> dict[str, Any]:
    """One message of a request to a model."""
    role = "system" if message.role == "systemMes" else message.role
    extra = members_for(message.extra, ROUTE)
    body: dict[str, Any] = {"role": role, "content": _write_content(message, extra)}
    if message.name is not None:
        body["name"] = message.name
    if message.tool_calls:
        body["tool_calls"] = write_tool_calls(message.tool_calls)
    if message.tool_call_id is not None:
        body["tool_call_id"] = message.tool_call_id
    return merged_members(extra, body) if extra else body


def write_tool_calls(calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
    """Whole tool calls as JSON, of a message or a reply."""
    return [_write_call(call) for call in calls]


def _write_call(call: ToolCall) -> dict[str, Any]:
    if call.custom:
        said: dict[str, Any] = {"type": "custom", "custom": {"name": call.name, "input": call.arguments}}
    else:
        said = {"type": "function", "function": {"name": call.name, "arguments": call.arguments}}
    return merged_members(members_for(call.extra, ROUTE), {"id": call.id, **said})


def extra_of_call(body: Json) -> Extra | None:
    """The members of a call in an answer, and of its function or tool, that Mnemoir does not read."""
    kind = "custom" if upstream.member(body, "custom") is not None else "function"
    called = body.get(kind)
    inner = extra_of(called, _OF_CALLED, ROUTE) if isinstance(called, dict) else None
    return within(extra_of(body, _OF_CALLS, ROUTE), kind, inner)


def read_tool_calls(value: object, field: str) -> tuple[ToolCall, ...]:
    """Read the tool calls of a history; arguments given as an object become text.

    A call without an id gets one by its place.
    """
    if value is None:
        return ()
    calls: list[ToolCall] = []
    for body, at in members.objects(value, field):
        custom = body.get("type") == "custom"
        inner = "custom" if custom else "function"
        called = members.as_object(body.get(inner), f"{at}.{inner}")
        arguments = called.get("input" if custom else "arguments")
        if isinstance(arguments, dict):
            arguments = members.object_text(arguments, f"{at}.{inner}.arguments")
        calls.append(
            ToolCall(
                id=members.text(body, "id", at=f"{at}.") or f"call_{len(calls)}",
                name=members.as_text(called.get("name"), f"{at}.{inner}.name"),
                arguments="" if arguments is None else members.as_text(arguments, f"{at}.{inner}.arguments"),
                custom=custom,
                extra=_asked_extra_of_call(body, inner, at),
            )
        )
    return tuple(calls)


def _asked_extra_of_call(body: Json, kind: str, at: str) -> Extra | None:
    inner = asked_extra(body[kind], _OF_CALLED, ROUTE, f"{at}.{kind}.")
    return within(asked_extra(body, _OF_CALLS, ROUTE, f"{at}."), kind, inner)


def _read_message(body: Json, at: str) -> Message:
    role = read_role(body, at)
    if "content" not in body and role != "assistant":
        raise InvalidRequest(f"{at}.content is missing; send text, or a list of parts.", field=f"{at}.content")
    parts = _read_content(body.get("content"), f"{at}.content")
    if parts and len(body) == 2:
        return Message(role=role, parts=parts)
    known = _OF_MESSAGES if parts or body.get("content") == _nothing(body.get("tool_calls")) else _OF_EMPTY_MESSAGES
    return Message(
        role=role,
        parts=parts or _read_refusal(body, at),
        name=members.text(body, "name", at=f"{at}."),
        tool_calls=read_tool_calls(body.get("tool_calls"), f"{at}.tool_calls"),
        tool_call_id=members.text(body, "tool_call_id", at=f"{at}."),
        extra=asked_extra(body, known, ROUTE, f"{at}."),
    )


def _read_refusal(body: Json, at: str) -> tuple[TextPart, ...]:
    """The model's refusal as the text of its turn, for consumers that do not support refusals."""
    refusal = members.text(body, "refusal", at=f"{at}.")
    return (TextPart(text=refusal),) if refusal else ()


def _read_content(value: object, field: str) -> tuple[Part, ...]:
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        return (TextPart(text=members.as_text(value, field)),)
    if not isinstance(value, list):
        members.refuse(field, "text or a list of parts", value)
    parts = [_read_part(body, at) for body, at in members.objects(value, field)]
    if len(parts) == 1 and isinstance(parts[0], TextPart) and parts[0].extra is None:
        parts = [replace(parts[0], extra=_LISTED)]
    return tuple(parts)


def _read_part(body: Json, at: str) -> Part:
    kind = body.get("type")
    if kind == "text":
        extra = asked_extra(body, _OF_TEXTS, ROUTE, f"{at}.")
        return TextPart(text=members.as_text(body.get("text"), f"{at}.text"), extra=extra)
    if kind == "refusal":
        text = members.as_text(body.get("refusal"), f"{at}.refusal")
        return TextPart(text=text, extra=Extra(route=ROUTE, members=body))
    if kind == "image_url":
        image = _read_image(body.get("image_url"), f"{at}.image_url")
        extra = _extra_of_image(body, at)
        return image if extra is None else replace(image, extra=extra)
    if kind == "image":
        return _read_image_source(members.as_object(body.get("source"), f"{at}.source"), f"{at}.source")
    if not isinstance(kind, str):
        members.refuse(f"{at}.type", "a string", kind)
    return _read_opaque(kind, body, at)


def _read_opaque(kind: str, body: Json, at: str) -> OpaquePart:
    """A part of any kind to forward unchanged. An address in it must be one of the web, as for pictures."""
    url = upstream.member(body.get(kind), "url")
    if url is not None:
        check_address(members.as_text(url, f"{at}.{kind}.url"), f"{at}.{kind}.url")
    return OpaquePart(kind=kind[:_LONGEST_KIND], extra=Extra(route=ROUTE, members=body))


def _extra_of_image(body: Json, at: str) -> Extra | None:
    image = body["image_url"]
    inner = asked_extra(image, _OF_IMAGE_URLS, ROUTE, f"{at}.image_url.") if isinstance(image, dict) else None
    return within(asked_extra(body, _OF_IMAGES, ROUTE, f"{at}."), "image_url", inner)


def _read_image(value: object, at: str) -> ImagePart:
    if isinstance(value, str):
        return read_picture(value, at)
    body = members.as_object(value, at)
    return read_picture(body.get("url"), f"{at}.url", detail=members.text(body, "detail", at=f"{at}."))


def _read_image_source(body: Json, at: str) -> ImagePart:
    """A picture in Anthropic's format, which several chat interfaces send to every server."""
    if body.get("type") == "url":
        return read_picture(body.get("url"), f"{at}.url")
    media_type = members.text(body, "media_type", at=f"{at}.") or "image/png"
    return ImagePart(url=f"data:{media_type};base64,{members.as_text(body.get('data'), f'{at}.data')}")


def _write_content(message: Message, extra: Json) -> Any:
    """Text, a list of parts, or for an empty message the client's own value."""
    parts = message.parts
    if "content" in extra and message.text == (extra.get("refusal") or ""):
        return extra["content"]
    if not parts:
        return _nothing(message.tool_calls)
    if len(parts) == 1 and isinstance(parts[0], TextPart) and parts[0].extra is None:
        return parts[0].text
    return [_write_part(part) for part in parts]


def _nothing(calls: object) -> str | None:
    """The content of an empty message, as most programs write it."""
    return None if calls else ""


def _write_part(part: Part) -> dict[str, Any]:
    if isinstance(part, OpaquePart):
        return dict(members_for(part.extra, ROUTE))
    extra = members_for(part.extra, ROUTE)
    if isinstance(part, TextPart):
        kind = "refusal" if extra.get("type") == "refusal" else "text"
        return {**extra, "type": kind, kind: part.text}
    detail = {} if part.detail is None else {"detail": part.detail}
    return merged_members(extra, {"type": "image_url", "image_url": {"url": part.url, **detail}})
