"""Ollama's `/api/generate`: one prompt, one text. Requests, replies and streams, read and written."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import orjson

from mnemoir.core.errors import InvalidRequest, ProviderRefused
from mnemoir.core.events import Reply
from mnemoir.core.messages import ChatRequest, ImagePart, Loading, Message, ModelRequest, Route, text_message
from mnemoir.wire import members, ollama_options
from mnemoir.wire.members import Json
from mnemoir.wire.ollama_options import Parts, write_error
from mnemoir.wire.ollama_stream import LineReader, LineWriter
from mnemoir.wire.openai_shapes import write_usage
from mnemoir.wire.pictures import read_picture, write_base64
from mnemoir.wire.text_completion import prompt_of, read_marked, write_choice

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

ROUTE: Route = "ollama-generate"
_OWN = ("suffix", "template", "raw", "context")
"""Members that only this route has: a request with one of them is raw."""
_UNSET: tuple[object, ...] = (None, False, "", [])  # values that clients send for an unused member
_OF_REQUESTS = frozenset({"prompt", "system", *_OWN})
_OF_RAW_REQUESTS = frozenset[str]()
_NAMES = {**ollama_options.NAMES, "messages.content.image_url": "images"}
_INSTRUCTING = ("system", "developer", "systemMes")
_SPEAKERS = {"user": "User", "assistant": "Assistant", "tool": "Tool"}


# --- requests


def read_request(body: Json) -> ChatRequest:
    """Read a client's request: `system` and `prompt` become a system and a user message.

    Where they hold markers of roles, they become the turns after the markers. A request that only this route can
    express is raw, and so is one without a prompt, or with a blank one and a `keep_alive`: it loads the model. Raises
    InvalidRequest naming the field; unknown members are kept in `extra`.
    """
    body = members.as_object(body, "body")
    model = members.text(body, "model")
    if not model:
        raise InvalidRequest("model is missing; name the model to ask.", field="model")
    system, prompt = members.text(body, "system") or "", members.text(body, "prompt") or ""
    marked = read_marked(system + prompt)
    own = [name for name in _OWN if body.get(name) not in _UNSET]
    loading = _read_loading(body, prompt) if marked is None else None
    raw = marked is None and (bool(own) or loading is not None)
    known = _OF_RAW_REQUESTS if raw else _OF_REQUESTS
    request = ModelRequest(
        messages=_with_pictures(marked or _messages_without_marks(system, prompt), _read_pictures(body)),
        model=model,
        sampling=ollama_options.read_sampling(body),
        output=ollama_options.read_format(body),
        reasoning_effort=ollama_options.read_effort(body),
        think=ollama_options.read_think(body),
        extra=ollama_options.read_extra(body, known, ROUTE if raw else ollama_options.ROUTE),
        raw=raw,
        dropped=() if raw else tuple(own),
    )
    return ChatRequest(
        request=request,
        stream=ollama_options.read_stream(body),
        is_completion=True,
        unmarked_prompt=prompt if marked is None else None,
        memory=body.get("memoryEnabled") is True,
        user=members.own_name(body, "user"),
        loading=loading,
        names=_NAMES,
    )


def _read_loading(body: Json, prompt: str) -> Loading | None:
    is_question = bool(prompt.strip()) or (prompt and body.get("keep_alive") is None)
    return None if is_question else ollama_options.read_loading(body)


def write_request(request: ModelRequest, *, stream: bool) -> dict[str, Any]:
    """The request to an Ollama. A conversation of several turns is written out with its speakers.

    With options given, the prompt is the text of the one message, and the model's own template is not used.
    """
    if request.options is not None:
        return _exactly(request, stream=stream)
    if request.raw:
        return {
            **ollama_options.write_model(request),
            **_write_pictures(request.messages),
            **ollama_options.write_options(request),
            "stream": stream,
        }
    if request.tools:
        raise ProviderRefused("Ollama's generate route has no tools; use its chat route for this model.")
    system = "\n\n".join(message.text for message in request.messages if message.role in _INSTRUCTING)
    turns = [message for message in request.messages if message.role in _SPEAKERS]
    body = {**ollama_options.write_model(request), "prompt": _write_prompt(turns)}
    if system:
        body["system"] = system
    return {**body, **_write_pictures(turns), **ollama_options.write_options(request), "stream": stream}


def _exactly(request: ModelRequest, *, stream: bool) -> dict[str, Any]:
    body = {**ollama_options.write_model(request), "prompt": prompt_of(request), "stream": stream, "raw": True}
    return {**body, **_write_pictures(request.messages), **ollama_options.write_options(request)}


def _messages_without_marks(system: str, prompt: str) -> tuple[Message, ...]:
    user = text_message("user", prompt)
    return (text_message("system", system), user) if system else (user,)


def _read_pictures(body: Json) -> tuple[ImagePart, ...]:
    images = members.as_list(body.get("images") or [], "images")
    return tuple(read_picture(image, f"images[{n}]") for n, image in enumerate(images))


def _with_pictures(messages: tuple[Message, ...], pictures: Sequence[ImagePart]) -> tuple[Message, ...]:
    """Attach the pictures to the last user message, or to an empty one added at the end."""
    if not pictures:
        return messages
    place = next((n for n in reversed(range(len(messages))) if messages[n].role == "user"), None)
    if place is None:
        return (*messages, Message(role="user", parts=tuple(pictures)))
    shown = replace(messages[place], parts=(*messages[place].parts, *pictures))
    return (*messages[:place], shown, *messages[place + 1 :])


def _write_pictures(messages: Sequence[Message]) -> dict[str, Any]:
    images = [part for message in messages for part in message.parts if isinstance(part, ImagePart)]
    return {"images": [write_base64(image) for image in images]} if images else {}


def _write_prompt(turns: list[Message]) -> str:
    if len(turns) == 1:
        return turns[0].text
    return "\n\n".join([*(f"{_SPEAKERS[turn.role]}: {turn.text}" for turn in turns), "Assistant:"]) if turns else ""


# --- replies


def write_reply(reply: Reply, *, model: str, reply_id: str, created: int, took_ns: int = 0) -> bytes:
    """The answer's body; `created` is in seconds since 1970, `took_ns` the duration, 0 when it is unknown.

    Some apps read it as a text completion of OpenAI's, so it has those members too.
    """
    said = _around({"text": reply.words, "thinking": reply.thinking})
    completion = {
        "id": reply_id,
        "object": "text_completion",
        "created": created,
        "choices": [write_choice(reply.words, reply.reason)],
        "usage": write_usage(reply.usage),
    }
    ending = ollama_options.closing(reply.reason, reply.usage, took_ns=took_ns)
    line = {**ollama_options.head(model=model, reply_id=reply_id, created=created), **completion, **said, **ending}
    return orjson.dumps(ollama_options.with_passed_members(line, reply.passed))


def read_reply(body: Json) -> Reply:
    """A model's answer. Raises ProviderInvalidOutput when it holds none, or the error it holds instead."""
    return ollama_options.read_reply_body(body, _parts_of(body))


def _around(value: Json) -> Json:
    thinking = {"thinking": value["thinking"]} if value.get("thinking") else {}
    return {"response": value.get("text", ""), **thinking}


def _parts_of(body: Json) -> Parts | None:
    if "response" not in body and not body.get("thinking"):
        return None
    return body.get("response"), body.get("thinking"), None


# --- streams


class StreamWriter(LineWriter):
    """Writes an answer as JSON lines; the protocol has no tool calls, so their pieces are left out."""

    def __init__(self, model: str, reply_id: str, created: int, include_usage: bool = True) -> None:
        super().__init__(model, reply_id, created, _around)


class AnswerReader(LineReader):
    """Reads a model's answer, whole or streamed."""

    @classmethod
    def parts_of(cls, body: Json) -> Parts | None:
        """See the base class."""
        return _parts_of(body)


class LoadingReader(AnswerReader):
    """Reads what comes of a request without a question, or of a raw one, which may have none."""

    is_loading = True
