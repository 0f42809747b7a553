"""Ollama's `/api/chat`: requests, replies and streams, read and written.

Ollama identifies a tool message by its tool; newer releases also by the call. Both are written, either is read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from mnemoir.core.errors import InvalidRequest
from mnemoir.core.events import Reply
from mnemoir.core.messages import ChatRequest, ImagePart, Message, ModelRequest, OpaquePart, TextPart, roles_of
from mnemoir.wire import members, ollama_options, upstream
from mnemoir.wire.members import Json, asked_extra, members_for, merged_members
from mnemoir.wire.ollama_options import Parts, write_error
from mnemoir.wire.ollama_stream import LineReader, LineWriter
from mnemoir.wire.ollama_tool_calls import read_tool_calls, write_answered_calls, write_asked_calls
from mnemoir.wire.openai_messages import read_plain_messages, read_role
from mnemoir.wire.pictures import read_picture, unpassable, write_base64

__all__ = [
    "AnswerReader",
    "LoadingReader",
    "StreamWriter",
    "read_reply",
    "read_request",
    "write_error",
    "write_reply",
    "write_request",
]

_OF_REQUESTS = frozenset({"messages", "tools"})
_OF_MESSAGES = frozenset({"role", "content", "images", "tool_name", "tool_calls", "tool_call_id"})


# --- requests


def read_request(body: Json) -> ChatRequest:
    """Read a client's request; without messages it loads the model. Unknown members are kept in `extra`.

    Raises InvalidRequest naming the field.
    """
    body = members.as_object(body, "body")
    model = members.text(body, "model")
    if not model:
        raise InvalidRequest("model is missing; name the model to ask.", field="model")
    given = body.get("messages")
    if given is None and body.get("keep_alive") is not None:
        given = []  # some clients omit an empty list
    messages = _read_messages(given)
    request = ModelRequest(
        messages=messages,
        model=model,
        sampling=ollama_options.read_sampling(body),
        tools=tuple(tool for tool, _ in members.objects(body.get("tools") or [], "tools")),
        output=ollama_options.read_format(body),
        reasoning_effort=ollama_options.read_effort(body),
        think=ollama_options.read_think(body),
        extra=ollama_options.read_extra(body, _OF_REQUESTS),
    )
    return ChatRequest(
        request=request,
        stream=ollama_options.read_stream(body),
        memory=body.get("memoryEnabled") is True,
        user=members.own_name(body, "user"),
        object_arguments=True,
        loading=None if messages else ollama_options.read_loading(body),
        names=ollama_options.NAMES,
    )


def write_request(request: ModelRequest, *, stream: bool) -> dict[str, Any]:
    """The request to an Ollama. It cannot express speakers' names, the choice of a tool and tools of free text."""
    body, names = ollama_options.write_model(request), dict[str, str]()
    body["messages"] = [_write_message(message, names) for message in request.messages]
    tools = [tool for tool in request.tools if tool.get("type") != "custom"]
    if tools and request.tool_choice != "none":
        body["tools"] = tools
    return {**body, **ollama_options.write_options(request), "stream": stream}


def _read_messages(given: object) -> Sequence[Message]:
    plain = read_plain_messages(given)
    if plain is not None and "tool" not in roles_of(plain):
        return plain
    return _with_call_ids([_read_message(item, at) for item, at in members.objects(given, "messages")])


def _read_message(body: Json, at: str) -> Message:
    text = members.text(body, "content", at=f"{at}.") or ""
    images = members.as_list(body.get("images") or [], f"{at}.images")
    parts = [TextPart(text=text)] if text else []
    return Message(
        role=read_role(body, at),
        parts=(*parts, *(read_picture(image, f"{at}.images[{n}]") for n, image in enumerate(images))),
        name=members.text(body, "tool_name", at=f"{at}."),
        tool_calls=read_tool_calls(body.get("tool_calls"), f"{at}.tool_calls"),
        tool_call_id=members.text(body, "tool_call_id", at=f"{at}."),
        extra=asked_extra(body, _OF_MESSAGES, ollama_options.ROUTE, f"{at}."),
    )


def _with_call_ids(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Give tool messages that name only their tool the id of the earliest call of it not yet answered."""
    waiting: list[tuple[str, str]] = []  # (tool, call id)
    done: list[Message] = []
    for message in messages:
        waiting += [(call.name, call.id) for call in message.tool_calls]
        if message.role == "tool":
            if message.tool_call_id is None:
                found = next((call_id for name, call_id in waiting if message.name in (name, None)), None)
                message = replace(message, tool_call_id=found)
            waiting = [call for call in waiting if call[1] != message.tool_call_id]
            message = replace(message, name=None)
        done.append(message)
    return tuple(done)


def _write_message(message: Message, names: dict[str, str]) -> dict[str, Any]:
    """One message. `names` has the tool of each call so far: a result belongs to the nearest call before it."""
    names |= {call.id: call.name for call in message.tool_calls}
    role = "system" if message.role in ("developer", "systemMes") else message.role
    body: dict[str, Any] = {"role": role, "content": message.text}
    for part in message.parts:
        if isinstance(part, OpaquePart):
            raise unpassable(part, "Ollama's protocol")
    images = [write_base64(part) for part in message.parts if isinstance(part, ImagePart)]
    if images:
        body["images"] = images
    if message.tool_calls:
        body["tool_calls"] = write_asked_calls(message.tool_calls)
    if message.tool_call_id is not None:
        body["tool_call_id"] = message.tool_call_id
        body["tool_name"] = names.get(message.tool_call_id, message.name or "")
    return body if message.extra is None else merged_members(members_for(message.extra, ollama_options.ROUTE), body)


# --- replies


def write_reply(reply: Reply, *, model: str, reply_id: str, created: int, took_ns: int = 0) -> bytes:
    """The answer's body; `created` is in seconds since 1970, `took_ns` the duration, 0 when it is unknown.

    Raises ProviderInvalidOutput for a tool call that Ollama's protocol cannot express.
    """
    value: dict[str, Any] = {"text": reply.words, "thinking": reply.thinking}
    if reply.tool_calls:
        value["tool_calls"] = write_answered_calls(reply.tool_calls)
    ending = ollama_options.closing(reply.reason, reply.usage, took_ns=took_ns)
    line = {**ollama_options.head(model=model, reply_id=reply_id, created=created), **_around(value), **ending}
    return orjson.dumps(ollama_options.with_passed_members(line, reply.passed))


def read_reply(body: Json) -> Reply:
    """A model's answer; a message without a text is an empty one.

    Raises ProviderInvalidOutput when the body holds none, or the error it holds instead.
    """
    return ollama_options.read_reply_body(body, _parts_of(body))


def _around(value: Json) -> Json:
    message: dict[str, Any] = {"role": "assistant", "content": value.get("text", "")}
    message |= {name: value[name] for name in ("thinking", "tool_calls") if value.get(name)}
    return {"message": message}


def _parts_of(body: Json) -> Parts | None:
    message = body.get("message")
    if message is None or isinstance(message, str):  # a text is that of an error
        return None
    if not isinstance(message, Mapping):
        raise upstream.unusable("a message that is not an object")
    return message.get("content") or message.get("text"), message.get("thinking"), message.get("tool_calls")


# --- streams


class StreamWriter(LineWriter):
    """Writes an answer as JSON lines. Ollama's last line always has the usage, so `include_usage` has no effect."""

    def __init__(self, model: str, reply_id: str, created: int, include_usage: bool = True) -> None:
        super().__init__(model, reply_id, created, _around)


class AnswerReader(LineReader):
    """Reads a model's answer, whole or streamed."""

    @classmethod
    def parts_of(cls, body: Json) -> Parts | None:
        """See the base class."""
        return _parts_of(body)


class LoadingReader(AnswerReader):
    """Reads what comes of a request without a question."""

    is_loading = True
