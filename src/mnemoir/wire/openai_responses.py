"""The client's side of OpenAI's Responses API: the request, and the answer whole and streamed.

`store: false` keeps the user's text out of the provider's store. The constant policy, which is the system messages
before all other messages, is sent in `instructions`, so that prompt caches hold; later ones stay in their place. An
output list starts with the model's first step, often a `reasoning` item: only items of known types are read.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mnemoir.core.messages import ImagePart, Message, ModelRequest, OpaquePart, Part, Route, TextPart
from mnemoir.wire import upstream
from mnemoir.wire.answers.openai_responses_answers import CALLS, AnswerReader, read_reply
from mnemoir.wire.json_output import ANY_OBJECT, named_schema
from mnemoir.wire.members import Json, members_for, merged_members
from mnemoir.wire.openai_messages import effort_of, is_reasoning_model
from mnemoir.wire.pictures import unpassable

__all__ = ["AnswerReader", "read_reply", "write_request"]

ROUTE: Route = "openai-responses"
_INSTRUCTING = ("system", "developer", "systemMes")


# --- requests


def write_request(request: ModelRequest, *, stream: bool) -> dict[str, Any]:
    """The request body. The protocol has no stop texts, seed, penalties or names of speakers: they are left out.

    A call of a tool that takes free text is answered by an output of the same kind.
    """
    body: dict[str, Any] = {"model": request.model} if request.model else {}
    messages = request.messages
    begun = next((place for place, one in enumerate(messages) if one.role not in _INSTRUCTING), len(messages))
    instructions = "\n\n".join(message.text for message in messages[:begun])
    if instructions:
        body["instructions"] = instructions
    custom: dict[str, bool] = {}
    body["input"] = [item for message in messages[begun:] for item in _items(message, custom)]
    body |= _options(request)
    body = merged_members(members_for(request.extra, ROUTE), body)
    return {**body, "store": False, "stream": True} if stream else {**body, "store": False}


def _options(request: ModelRequest) -> dict[str, Any]:
    sampling = request.sampling
    given: dict[str, Any] = {"max_output_tokens": sampling.max_tokens, "tool_choice": _tool_choice(request)}
    if not is_reasoning_model(request.model):
        given |= {"temperature": sampling.temperature, "top_p": sampling.top_p}
    if request.output == ANY_OBJECT:
        given["text"] = {"format": {"type": "json_object"}}
    elif request.output is not None and (request.output.schema or not request.output.is_local_form):
        given["text"] = {"format": {"type": "json_schema", **named_schema(request.output)}}
    if request.tools:
        given["tools"] = [_tool(tool) for tool in request.tools]
    effort = effort_of(request)
    if effort is not None:
        given["reasoning"] = {"effort": effort}
    return {name: value for name, value in given.items() if value is not None}


def _items(message: Message, custom: dict[str, bool]) -> Iterator[dict[str, Any]]:
    """The input items of one message. `custom` tells of each call so far whether its tool takes free text: a result
    belongs to the nearest call before it."""
    custom |= {call.id: call.custom for call in message.tool_calls}
    if message.role in _INSTRUCTING:
        role = "developer" if message.role == "developer" else "system"
        yield {"role": role, "content": _user_content(message.parts)}
        return
    if message.role == "tool":
        kind = "custom_tool_call_output" if custom.get(message.tool_call_id or "") else "function_call_output"
        yield {"type": kind, "call_id": message.tool_call_id or "", "output": message.text}
        return
    if message.role == "assistant":
        texts = [part for part in message.parts if isinstance(part, TextPart)]
        if texts:
            yield {"role": "assistant", "content": [_output_part(part) for part in texts]}
    else:
        yield {"role": "user", "content": _user_content(message.parts)}
    for call in message.tool_calls:
        kind = "custom_tool_call" if call.custom else "function_call"
        yield {"type": kind, "call_id": call.id, "name": call.name, CALLS[kind]: call.arguments}


def _output_part(part: TextPart) -> dict[str, Any]:
    if part.extra is not None and part.extra.members.get("type") == "refusal":
        return {"type": "refusal", "refusal": part.text}
    return {"type": "output_text", "text": part.text}


def _user_content(parts: Sequence[Part]) -> str | list[dict[str, Any]]:
    if all(isinstance(part, TextPart) for part in parts) and len(parts) < 2:
        return "".join(part.text for part in parts if isinstance(part, TextPart))
    return [_user_part(part) for part in parts]


def _user_part(part: Part) -> dict[str, Any]:
    if isinstance(part, OpaquePart):
        raise unpassable(part, "OpenAI's Responses protocol")
    if isinstance(part, ImagePart):
        return {"type": "input_image", "image_url": part.url, "detail": part.detail or "auto"}
    return {"type": "input_text", "text": part.text}


def _tool(tool: Json) -> dict[str, Any]:
    """A tool of the chat protocol, flattened; one that is flat already stays."""
    kind = tool.get("type", "function")
    inner = tool.get(kind)
    if not isinstance(inner, Mapping):
        return dict(tool)
    grammar = upstream.member(inner.get("format"), "grammar")
    if isinstance(grammar, Mapping):
        inner = {**inner, "format": {"type": "grammar", **grammar}}
    return {"type": kind, **inner}


def _tool_choice(request: ModelRequest) -> Any:
    choice = request.tool_choice
    if not isinstance(choice, Mapping):
        return choice
    flat = _tool(choice)
    tools = flat.get("tools")
    return flat if tools is None else {**flat, "tools": [_tool(tool) for tool in tools if isinstance(tool, Mapping)]}
