"""The answers of OpenAI's Responses API, whole and streamed.

Servers send a text in pieces, whole at the end of its part, of its item or of the response, or all of that. Whatever
was not told yet is told when it comes whole.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
)
from mnemoir.core.messages import ToolCall
from mnemoir.wire import upstream
from mnemoir.wire.answers import answer_reader
from mnemoir.wire.answers.call_ids import CallIds, read_call_id
from mnemoir.wire.answers.end_reasons import read_reason
from mnemoir.wire.answers.error_shapes import raise_error_in_place, raise_error_of
from mnemoir.wire.answers.told_texts import ToldTexts
from mnemoir.wire.members import Json
from mnemoir.wire.stream_readers import NamedEvent

CALLS: Mapping[object, str] = {"function_call": "arguments", "custom_tool_call": "input"}
"""Items that call a tool, with the member that holds the arguments."""

_Speech = type[Text] | type[Refusal] | type[Thinking]
_Place = tuple[object, str, int]
"""An item, `content` or `summary` within it, and the number of the part."""

_PARTS: Mapping[object, tuple[_Speech, str]] = {
    "output_text": (Text, "text"),
    "text": (Text, "text"),
    "refusal": (Refusal, "refusal"),
    "reasoning_text": (Thinking, "text"),
    "summary_text": (Thinking, "text"),
}
"""Parts of items, with what they become and the member that holds the text."""


# --- whole


def read_reply(body: Json) -> Reply:
    """The answer. Raises the error the body holds, or ProviderInvalidOutput when it holds no answer at all."""
    raise_error_of(body)
    output = body.get("output")
    if not isinstance(body.get("status"), str) or not isinstance(output, list):
        raise_error_in_place(body)
        raise upstream.unusable("no status or no output")
    said, ids = _said_in(output), CallIds()
    reason = _reason(body, has_calls=bool(said.calls))
    if not said.is_answer and reason == "stop":
        raise upstream.unusable("no message in its output")
    return Reply(
        text=said.of(Text),
        reason=reason,
        tool_calls=tuple(call.with_id(ids.take(call.given_id)) for call in said.calls),
        thinking=said.of(Thinking),
        refusal=said.of(Refusal),
        usage=_usage(body),
    )


@dataclass(slots=True, kw_only=True, eq=False)
class _Called:
    """A call of an item; `given_id` is the server's, `index` the one in the stream."""

    name: str
    arguments: str
    custom: bool
    given_id: str | None
    index: int = 0

    def with_id(self, call_id: str) -> ToolCall:
        return ToolCall(id=call_id, name=self.name, arguments=self.arguments, custom=self.custom)


@dataclass(slots=True)
class _Said:
    """What an output says: pieces of each kind with their places within the item, and calls."""

    pieces: list[tuple[_Speech, _Place, str]] = field(default_factory=list)
    calls: list[_Called] = field(default_factory=list)
    has_message: bool = False

    @property
    def is_answer(self) -> bool:
        """True for a message, even an empty one, and for calls."""
        return self.has_message or bool(self.calls)

    def of(self, kind: _Speech) -> str:
        """The text of one kind; each part of a summary begins a line."""
        return "".join(_begin_of(place) + text for of, place, text in self.pieces if of is kind)


def _begin_of(place: _Place) -> str:
    _, name, n = place
    return "\n" if name == "summary" and n else ""


def _said_in(output: Sequence[object]) -> _Said:
    said = _Said()
    for item in output:
        kind = upstream.member(item, "type")
        if kind in CALLS:
            said.calls.append(_read_call(item))
        elif kind in ("message", "reasoning"):
            said.has_message = said.has_message or kind == "message"
            for name in ("summary", "content"):
                parts = upstream.member(item, name)
                for n, part in enumerate(parts if isinstance(parts, list) else ()):
                    said.pieces += ((kind_of_text, (None, name, n), text) for kind_of_text, text in _read_part(part))
    return said


def _read_part(part: object) -> Iterator[tuple[_Speech, str]]:
    found = _PARTS.get(upstream.member(part, "type"))
    text = upstream.text_or_none(upstream.member(part, found[1]), "a part") if found else None
    if found and text:
        yield found[0], text


def _read_call(item: object) -> _Called:
    name, kind = upstream.member(item, "name"), upstream.member(item, "type")
    if not isinstance(name, str) or not name:
        raise upstream.unusable("a function call without a name")
    arguments = upstream.text_or_none(upstream.member(item, CALLS[kind]), "call arguments")
    return _Called(
        name=name,
        arguments=arguments or "",
        custom=kind == "custom_tool_call",
        given_id=read_call_id(upstream.member(item, "call_id")),
    )


def _reason(body: Json, *, has_calls: bool) -> FinishReason:
    """The reason of the end. Raises FailedAnswer for a response that failed, was cancelled or is still made."""
    status = body.get("status")
    if status == "incomplete":
        why = read_reason(upstream.member(body.get("incomplete_details"), "reason"))
        return "length" if why in (None, "stop") else why
    reason = read_reason(status or "completed")
    if reason is None:
        raise upstream.ended_early()
    return "tool_calls" if has_calls and reason == "stop" else reason


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
        self._told = ToldTexts()
        self._has_message = False
        self._ids = CallIds()
        self._calls: list[_Called] = []
        self._calls_by_item: dict[object, _Called] = {}
        self._nameless: set[object] = set()  # items with arguments of a call that has not begun

    def read_frame(self, body: dict[str, Any], events: list[ModelEvent]) -> None:
        """See the base class."""
        kind = body.get("type")
        if kind == "response.output_text.delta":
            text = upstream.text_or_none(body.get("delta"), "a delta")
            if text:
                self._has_message = True
                self._told.add(Text, _place_of(body, "content"), text)
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

    # --- texts

    def _piece(self, event: Json) -> Iterator[ModelEvent]:
        text = upstream.text_or_none(event.get("delta"), "a delta")
        if text:
            kind, name = _PIECES[event["type"]]
            place = _place_of(event, name)
            if not self._told.knows(kind, place):
                text = _begin_of(place) + text
            self._has_message = self._has_message or kind is not Thinking
            self._told.add(kind, place, text)
            yield kind(text)

    def _whole_piece(self, event: Json) -> Iterator[ModelEvent]:
        """Read the end of a text, or of a part, which holds all of it."""
        name, part_type = _WHOLES[event["type"]]
        part = event.get("part") if part_type is None else {**event, "type": part_type}
        yield from self._rest(_place_of(event, name), _read_part(part))

    def _rest(self, place: _Place, said: Iterable[tuple[_Speech, str]]) -> Iterator[ModelEvent]:
        for kind, text in said:
            self._has_message = self._has_message or kind is not Thinking
            rest = self._told.rest(kind, place, _begin_of(place) + text)
            yield from (kind(rest),) if rest else ()

    # --- items

    def _item_start(self, event: Json) -> Iterator[ModelEvent]:
        kind = upstream.member(event.get("item"), "type")
        self._has_message = self._has_message or kind == "message"
        if kind in CALLS:
            yield self._begin(_item_of(event), _read_call(event.get("item")))

    def _item_end(self, event: Json) -> Iterator[ModelEvent]:
        """Read a finished item, which servers that send no pieces send whole."""
        item = _item_of(event)
        said = _said_in((event.get("item"),))
        self._has_message = self._has_message or said.has_message
        for kind, (_, name, n), text in said.pieces:
            yield from self._rest((item, name, n), ((kind, text),))
        for called in said.calls:
            yield from self._call_end(self._find(item, called.given_id), item, called)

    def _arguments(self, event: Json) -> Iterator[ModelEvent]:
        """Read a piece of arguments, or all of them at their end."""
        item = _item_of(event)
        call = self._calls_by_item.get(item)
        if call is None:
            self._nameless.add(item)
            return
        kind = "custom_tool_call" if call.custom else "function_call"
        piece = upstream.text_or_none(event.get("delta"), "a delta")
        whole = upstream.text_or_none(event.get(CALLS[kind]), "call arguments")
        if whole is not None:
            piece = self._told.rest(("arguments", call.index), None, whole)
        elif piece:
            self._told.add(("arguments", call.index), None, piece)
        if piece:
            yield ToolCallPart(index=call.index, arguments=piece, custom=call.custom)

    def _begin(self, item: object, called: _Called) -> ToolCallPart:
        called.index = len(self._calls)
        self._calls.append(called)
        self._calls_by_item[item] = called
        self._nameless.discard(item)
        call_id = self._ids.take(called.given_id)
        return ToolCallPart(index=called.index, id=call_id, name=called.name, custom=called.custom)

    def _find(self, item: object, given_id: str | None) -> _Called | None:
        """The call of an item; where items have no places, that of the id."""
        if item is not None and item in self._calls_by_item:
            return self._calls_by_item[item]
        by_id = (call for call in self._calls if given_id is not None and call.given_id == given_id)
        return next(by_id, None) if item is None else None

    def _call_end(self, call: _Called | None, item: object, called: _Called) -> Iterator[ModelEvent]:
        """Tell what is new of a whole call."""
        if call is None:
            call = called
            yield self._begin(item, called)
        rest = self._told.rest(("arguments", call.index), None, called.arguments)
        if rest:
            yield ToolCallPart(index=call.index, arguments=rest, custom=call.custom)

    # --- ends

    def _response_end(self, event: Json) -> Iterator[ModelEvent]:
        """Read the end of the response, which holds all of it, and of some servers nothing."""
        response = event.get("response")
        if not isinstance(response, Mapping):
            raise upstream.unusable("no response in its last event")
        raise_error_of(response)
        response = {"status": event["type"].removeprefix("response."), **response}
        output = response.get("output")
        said = _said_in(output if isinstance(output, list) else ())
        self._has_message = self._has_message or said.has_message
        for kind in (Thinking, Text, Refusal):
            rest = self._told.rest_of_all(kind, said.of(kind))
            yield from (kind(rest),) if rest else ()
        yield from self._calls_of(said.calls)
        reason = _reason(response, has_calls=bool(self._calls))
        if self._nameless:
            raise upstream.unusable("a function call without a name")
        if not self._has_message and not self._calls and reason == "stop":
            raise upstream.unusable("no message in its output")
        self.finished = True
        yield _usage(response)
        yield Finished(reason=reason)

    def _calls_of(self, whole: Sequence[_Called]) -> Iterator[ModelEvent]:
        """Tell what is new of all calls. One that has begun is known by its id, or without an id by its name."""
        open_calls = list(self._calls)
        for called in whole:
            call = next((one for one in open_calls if one.given_id and one.given_id == called.given_id), None)
            if call is None:
                unnamed = (one for one in open_calls if None in (one.given_id, called.given_id))
                call = next((one for one in unnamed if one.name == called.name), None)
            if call is not None:
                open_calls.remove(call)
            yield from self._call_end(call, called, called)

    def _failure(self, event: Json) -> Iterator[ModelEvent]:
        response = event.get("response")
        raise_error_of(response)
        raise upstream.error_in_body(event)

    def _error(self, event: Json) -> Iterator[ModelEvent]:
        """Read an error; `type` is that of the event here, so only code and message describe the error."""
        raise upstream.error_in_body(
            event.get("error") or {name: event.get(name) for name in ("code", "message") if event.get(name)}
        )


def _item_of(event: Json) -> object:
    """The place of an item, or its id; None where the server tells neither."""
    index = event.get("output_index")
    if isinstance(index, int):
        return index
    item_id = event.get("item_id") or upstream.member(event.get("item"), "id")
    return item_id if isinstance(item_id, str) else None


def _place_of(event: Json, name: str) -> _Place:
    index = event.get(f"{name}_index")
    return _item_of(event), name, index if isinstance(index, int) else 0


_PIECES: Mapping[str, tuple[_Speech, str]] = {
    "response.output_text.delta": (Text, "content"),
    "response.refusal.delta": (Refusal, "content"),
    "response.reasoning_text.delta": (Thinking, "content"),
    "response.reasoning.delta": (Thinking, "content"),
    "response.reasoning_summary_text.delta": (Thinking, "summary"),
}
"""Pieces of texts: what they become, and where they stand in their item."""
_WHOLES: Mapping[str, tuple[str, str | None]] = {
    "response.output_text.done": ("content", "output_text"),
    "response.refusal.done": ("content", "refusal"),
    "response.reasoning_text.done": ("content", "reasoning_text"),
    "response.reasoning.done": ("content", "reasoning_text"),
    "response.reasoning_summary_text.done": ("summary", "summary_text"),
    "response.content_part.done": ("content", None),
    "response.reasoning_summary_part.done": ("summary", None),
}
"""Whole texts: where they stand in their item, and the type of their part, None where they are in a part."""

_EVENTS: Mapping[object, Callable[[AnswerReader, Json], Iterator[ModelEvent]]] = {
    **dict.fromkeys(_PIECES, AnswerReader._piece),
    **dict.fromkeys(_WHOLES, AnswerReader._whole_piece),
    "response.output_item.added": AnswerReader._item_start,
    "response.output_item.done": AnswerReader._item_end,
    "response.function_call_arguments.delta": AnswerReader._arguments,
    "response.function_call_arguments.done": AnswerReader._arguments,
    "response.custom_tool_call_input.delta": AnswerReader._arguments,
    "response.custom_tool_call_input.done": AnswerReader._arguments,
    "response.completed": AnswerReader._response_end,
    "response.incomplete": AnswerReader._response_end,
    "response.cancelled": AnswerReader._response_end,
    "response.done": AnswerReader._response_end,
    "response.failed": AnswerReader._failure,
    "error": AnswerReader._error,
}
