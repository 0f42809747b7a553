"""The client's side of OpenAI's Responses API: the request, and the answer whole and streamed.

`store: false` keeps the user's text out of the provider's store. The constant policy, which is the system messages
before all other messages, is sent in `instructions`, so that prompt caches hold; later ones stay in their place. An
output list starts with the model's first step, often a `reasoning` item: only items of known types are read.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from mnemoir.core.events import (
    Finished,
    FinishReason,
    ModelEvent,
    Refusal,
    Reply,
    Text,
    Thinking,
    ToolCallPart,
    Usage,
    as_events,
)
from mnemoir.core.ids import new_call_id
from mnemoir.core.messages import ImagePart, Message, ModelRequest, OpaquePart, Part, Route, TextPart, ToolCall
from mnemoir.wire import upstream
from mnemoir.wire.answers import answer_reader
from mnemoir.wire.answers.error_shapes import raise_error_in_place, raise_error_of
from mnemoir.wire.json_output import ANY_OBJECT, named_schema
from mnemoir.wire.members import Json, members_for, merged_members
from mnemoir.wire.openai_messages import effort_of, is_reasoning_model
from mnemoir.wire.pictures import unpassable
from mnemoir.wire.stream_readers import NamedEvent

ROUTE: Route = "openai-responses"
_INSTRUCTING = ("system", "developer", "systemMes")
_CALLS: Mapping[object, str] = {"function_call": "arguments", "custom_tool_call": "input"}
"""Items that call a tool, with the member that holds the arguments."""


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
    elif request.output is not None and not request.output.is_local_form:
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
        yield {"type": kind, "call_id": call.id, "name": call.name, _CALLS[kind]: call.arguments}


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


# --- whole replies


def read_reply(body: Json) -> Reply:
    """The answer. A filter's stop is an empty text with the reason `content_filter`.

    Raises the error the body holds, or ProviderInvalidOutput when it holds no answer at all.
    """
    status = body.get("status")
    raise_error_of(body)
    if status in ("failed", "cancelled"):
        raise upstream.error_in_body(f"The response ended with the status {status}.")
    output = body.get("output")
    if not isinstance(status, str) or not isinstance(output, list):
        raise_error_in_place(body)
        raise upstream.unusable("no status or no output")
    messages = [item for item in output if upstream.member(item, "type") == "message"]
    contents = [part for item in messages for part in _contents(item)]
    text = "".join(_text_of(part) for part in contents if upstream.member(part, "type") == "output_text")
    calls = tuple(_call(item) for item in output if upstream.member(item, "type") in _CALLS)
    refusal = "".join(_refusal_of(part) for part in contents if upstream.member(part, "type") == "refusal")
    reason = _reason(body, has_calls=bool(calls))
    if not messages and not calls and reason == "stop":
        raise upstream.unusable("no message in its output")
    thinking = "".join(_summary(item) for item in output if upstream.member(item, "type") == "reasoning")
    if reason == "content_filter":
        return Reply(text="", reason=reason, thinking=thinking, usage=_usage(body))
    return Reply(text=text, reason=reason, tool_calls=calls, thinking=thinking, refusal=refusal, usage=_usage(body))


def _contents(item: object) -> Sequence[object]:
    content = upstream.member(item, "content")
    return content if isinstance(content, list) else ()


def _text_of(part: object) -> str:
    return upstream.text_or_none(upstream.member(part, "text"), "a part") or ""


def _refusal_of(part: object) -> str:
    return upstream.text_or_none(upstream.member(part, "refusal"), "a refusal") or ""


def _summary(item: object) -> str:
    summary = upstream.member(item, "summary")
    return "\n".join(_text_of(part) for part in summary) if isinstance(summary, list) else ""


def _call(item: object) -> ToolCall:
    name, call_id = upstream.member(item, "name"), upstream.member(item, "call_id")
    if not isinstance(name, str) or not isinstance(call_id, str | None):
        raise upstream.unusable("a function call without a name, or with an id that is not text")
    kind = upstream.member(item, "type")
    arguments = upstream.text_or_none(upstream.member(item, _CALLS[kind]), "call arguments")
    return ToolCall(
        id=call_id or new_call_id(), name=name, arguments=arguments or "", custom=kind == "custom_tool_call"
    )


def _reason(body: Json, *, has_calls: bool) -> FinishReason:
    if body.get("status") == "completed":
        return "tool_calls" if has_calls else "stop"
    why = upstream.member(body.get("incomplete_details"), "reason")
    return "content_filter" if why == "content_filter" else "length"  # incomplete, for any other reason


def _usage(body: Json) -> Usage:
    usage = body.get("usage")
    details = upstream.member(usage, "input_tokens_details")
    return Usage(
        input_tokens=upstream.count(upstream.member(usage, "input_tokens")),
        output_tokens=upstream.count(upstream.member(usage, "output_tokens")),
        cached_tokens=upstream.count(upstream.member(details, "cached_tokens")),
        reasoning_tokens=upstream.count(
            upstream.member(upstream.member(usage, "output_tokens_details"), "reasoning_tokens")
        ),
    )


# --- streams


class AnswerReader(answer_reader.AnswerReader):
    """Reads an answer, whole or streamed."""

    def __init__(self, media_type: str = "") -> None:
        super().__init__(media_type)
        self._has_said = self._refusal_begun = False
        self._calls: dict[object, tuple[int, str]] = {}  # output_index → index and id of the call
        self._argued: set[int] = set()  # calls whose arguments came in pieces

    def read_frame(self, body: dict[str, Any], events: list[ModelEvent]) -> None:
        """See the base class."""
        kind = body.get("type")
        if kind == "response.output_text.delta":
            text = upstream.text_or_none(body.get("delta"), "a delta")
            if text:
                self._has_said = True
                events.append(Text(text))
        elif isinstance(kind, str) and kind in _EVENTS:
            events += _EVENTS[kind](self, body)
        elif kind is None:
            raise_error_in_place(body)

    def read_named(self, event: NamedEvent, events: list[ModelEvent]) -> None:
        """See the base class. The name of an event stands within it, too, and an error without one is told by it."""
        said = upstream.error_value(event.data) if event.name == b"error" else None
        if said is not None and upstream.member(said, "type") != "error":
            raise upstream.error_in_body(said)
        self._take_frames((event.data,), events)

    def read_whole(self, body: dict[str, Any]) -> Reply:
        """See the base class."""
        return read_reply(body)

    def read_done(self, events: list[ModelEvent]) -> None:
        """See the base class: the protocol has no such end."""

    def read_end(self, events: list[ModelEvent]) -> None:
        """See the base class."""
        raise upstream.ended_early()

    def _thinking(self, event: Json) -> Iterator[ModelEvent]:
        text = upstream.text_or_none(event.get("delta"), "a delta")
        if text:
            yield Thinking(text)

    def _refusal(self, event: Json) -> Iterator[ModelEvent]:
        """Read a whole refusal, which servers that send no pieces send at its end."""
        text = upstream.text_or_none(event.get("delta"), "a delta")
        if event.get("type") == "response.refusal.done" and not self._refusal_begun:
            text = _refusal_of(event)
        if text:
            self._refusal_begun = self._has_said = True
            yield Refusal(text)

    def _item_start(self, event: Json) -> Iterator[ModelEvent]:
        item = event.get("item")
        if upstream.member(item, "type") in _CALLS:
            call = _call(item)
            index, call_id = self._calls.setdefault(event.get("output_index"), (len(self._calls), call.id))
            yield ToolCallPart(index=index, id=call_id, name=call.name, custom=call.custom)

    def _arguments(self, event: Json) -> Iterator[ModelEvent]:
        index, _ = self._calls.get(event.get("output_index"), (None, ""))
        text = upstream.text_or_none(event.get("delta"), "a delta")
        if index is not None and text:
            self._argued.add(index)
            custom = event.get("type") == "response.custom_tool_call_input.delta"
            yield ToolCallPart(index=index, arguments=text, custom=custom)

    def _item_end(self, event: Json) -> Iterator[ModelEvent]:
        """Read a finished call, which servers that send no pieces send whole."""
        if upstream.member(event.get("item"), "type") not in _CALLS:
            return
        if event.get("output_index") not in self._calls:
            yield from self._item_start(event)
        index, _ = self._calls[event.get("output_index")]
        call = _call(event.get("item"))
        if index not in self._argued and call.arguments:
            yield ToolCallPart(index=index, arguments=call.arguments, custom=call.custom)

    def _response_end(self, event: Json) -> Iterator[ModelEvent]:
        response = event.get("response")
        if not isinstance(response, Mapping):
            raise upstream.unusable("no response in its last event")
        self.finished = True
        if not self._has_said and not self._calls and response.get("output"):
            yield from as_events(read_reply(response))  # of a server that sends no pieces
            return
        yield _usage(response)
        yield Finished(reason=_reason(response, has_calls=bool(self._calls)))

    def _failure(self, event: Json) -> Iterator[ModelEvent]:
        raise upstream.error_in_body(upstream.member(event.get("response"), "error") or event)

    def _error(self, event: Json) -> Iterator[ModelEvent]:
        """Read an error; `type` is that of the event here, so only code and message describe the error."""
        raise upstream.error_in_body(
            event.get("error") or {name: event.get(name) for name in ("code", "message") if event.get(name)}
        )


_EVENTS: Mapping[object, Callable[[AnswerReader, Json], Iterator[ModelEvent]]] = {
    "response.reasoning_summary_text.delta": AnswerReader._thinking,
    "response.reasoning_text.delta": AnswerReader._thinking,
    "response.refusal.delta": AnswerReader._refusal,
    "response.refusal.done": AnswerReader._refusal,
    "response.output_item.added": AnswerReader._item_start,
    "response.output_item.done": AnswerReader._item_end,
    "response.function_call_arguments.delta": AnswerReader._arguments,
    "response.custom_tool_call_input.delta": AnswerReader._arguments,
    "response.completed": AnswerReader._response_end,
    "response.incomplete": AnswerReader._response_end,
    "response.failed": AnswerReader._failure,
    "error": AnswerReader._error,
}
