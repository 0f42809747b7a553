"""Ollama's `/api/generate`: one prompt, one text. Requests, replies and streams, read and written."""

from typing import Any

import orjson

from mnemoir.core.errors import InvalidRequest, ProviderRefused
from mnemoir.core.events import Reply
from mnemoir.core.messages import ChatRequest, ImagePart, Message, ModelRequest, TextPart, text_message
from mnemoir.wire import members, ollama_options
from mnemoir.wire.members import Json
from mnemoir.wire.ollama_options import LineReader, LineWriter, write_error

__all__ = [
    "StreamReader",
    "StreamWriter",
    "read_reply",
    "read_request",
    "write_error",
    "write_reply",
    "write_request",
]

_SPEAKERS = {"user": "User", "assistant": "Assistant", "tool": "Tool"}


# --- requests


def read_request(body: Json) -> ChatRequest:
    """What a client asks of us: `system` and `prompt` become a system and a user message.

    Raises InvalidRequest naming the field; members we do not know are ignored.
    """
    body = members.as_object(body, "body")
    model = members.text(body, "model")
    if not model:
        raise InvalidRequest("model is missing; name the model to ask.", field="model")
    request = ModelRequest(
        messages=_read_messages(body),
        model=model,
        sampling=ollama_options.read_sampling(body),
        output=ollama_options.read_format(body),
        reasoning_effort=ollama_options.read_effort(body),
    )
    return ChatRequest(
        request=request,
        stream=ollama_options.read_stream(body),
        memory=body.get("memoryEnabled") is True,
        user=members.own_name(body, "user"),
        conversation=members.own_name(body, "conversation_id", "session_id"),
    )


def write_request(request: ModelRequest, *, stream: bool) -> dict[str, Any]:
    """What we ask of an Ollama. A conversation of several turns is written out with its speakers."""
    if request.tools:
        raise ProviderRefused("Ollama's generate route has no tools; use its chat route for this model.")
    system = "\n\n".join(message.text for message in request.messages if message.role in ("system", "developer"))
    turns = [message for message in request.messages if message.role in _SPEAKERS]
    images = [part for message in turns for part in message.parts if isinstance(part, ImagePart)]
    body: dict[str, Any] = {"model": request.model} if request.model else {}
    body["prompt"] = _write_prompt(turns)
    if system:
        body["system"] = system
    if images:
        body["images"] = [ollama_options.write_image(image) for image in images]
    return {**body, **ollama_options.write_options(request), "stream": stream}


def _read_messages(body: Json) -> tuple[Message, ...]:
    images = members.as_list(body.get("images") or [], "images")
    prompt = members.text(body, "prompt") or ""
    parts = [TextPart(text=prompt)] if prompt else []
    pictures = [ollama_options.read_image(image, f"images[{n}]") for n, image in enumerate(images)]
    system = members.text(body, "system")
    user = Message(role="user", parts=(*parts, *pictures))
    return (text_message("system", system), user) if system else (user,)


def _write_prompt(turns: list[Message]) -> str:
    if len(turns) == 1:
        return turns[0].text
    return "\n\n".join([*(f"{_SPEAKERS[turn.role]}: {turn.text}" for turn in turns), "Assistant:"]) if turns else ""


# --- replies


def write_reply(reply: Reply, *, model: str, reply_id: str, created: int, took_ns: int = 0) -> bytes:
    """Our answer; `created` is in seconds since 1970, `took_ns` how long it took, 0 when nobody knows."""
    value = {"text": reply.text, "thinking": reply.thinking}
    ending = ollama_options.closing(reply.reason, reply.usage, after_first_ns=took_ns)
    return orjson.dumps(
        {**ollama_options.head(model=model, reply_id=reply_id, created=created), **_around(value), **ending}
    )


def read_reply(body: Json) -> Reply:
    """A model's answer. Raises ProviderInvalidOutput when it holds none, or the error it holds instead."""
    text, thinking, _ = _parts(body)
    return ollama_options.read_reply_body(body, text=text, thinking=thinking, tool_calls=None)


def _around(value: Json) -> Json:
    thinking = {"thinking": value["thinking"]} if value.get("thinking") else {}
    return {"response": value.get("text", ""), **thinking}


def _parts(body: Json) -> tuple[object, object, object]:
    return body.get("response"), body.get("thinking"), None


# --- streams


class StreamWriter(LineWriter):
    """Our answer as JSON lines; pieces of tool calls have no place here and are left out."""

    def __init__(self, model: str, reply_id: str, created: int, include_usage: bool = True) -> None:
        super().__init__(model, reply_id, created, _around)


class StreamReader(LineReader):
    """A model's answer from its JSON lines."""

    def __init__(self) -> None:
        super().__init__(_parts)
