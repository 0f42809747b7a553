"""The streams of OpenAI's Responses API.

Servers send a text in pieces, whole at the end of its part, of its item or of the response, or all of that. Whatever
was not told yet is told when it comes whole. A whole text that does not go on from its pieces is an error: words are
missing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from mnemoir.core.events import Finished, ModelEvent, Note, Refusal, Reply, Text, Thinking
from mnemoir.wire import upstream
from mnemoir.wire.answers import answer_reader
from mnemoir.wire.answers.call_ids import read_arguments
from mnemoir.wire.answers.error_shapes import raise_error_in_place, raise_error_of
from mnemoir.wire.answers.openai_responses_calls import ItemCalls, Spot
from mnemoir.wire.answers.openai_responses_output import (
    CALLS,
    Place,
    Said,
    Speech,
    as_cut,
    begin_of,
    read_call,
    read_part,
    read_reply,
    reason_of,
    said_in,
    text_of,
    type_of,
    usage_of,
)
from mnemoir.wire.answers.told_texts import ToldTexts, contradiction
from mnemoir.wire.members import Json
from mnemoir.wire.stream_readers import NamedEvent

_MOST_NOTES = 32
__all__ = ["CALLS", "AnswerReader", "read_reply"]


class AnswerReader(answer_reader.AnswerReader):
    """Reads an answer, whole or streamed."""

    def __init__(self, media_type: str = "") -> None:
        super().__init__(media_type)
        self._told = ToldTexts()
        self._has_message = False
        self._has_begun = self._has_unread = False  # a message, and one of nothing but parts that are not known
        self._is_cut = False  # an item says that it is incomplete
        self._noted: set[str] = set()
        self._thought: set[str] = set()  # `content` or `summary` of items whose reasoning came in pieces
        self._calls = ItemCalls()

    def read_frame(self, body: dict[str, Any], events: list[ModelEvent]) -> None:
        """See the base class."""
        kind = body.get("type")
        if kind == "response.output_text.delta":
            text = upstream.text_or_none(body.get("delta") or body.get("text"), "a delta")
            if text:
                self._has_message = True
                self._told.add(Text, _place_of(body, "content"), text)
                events.append(Text(text))
        elif isinstance(kind, str) and kind in _EVENTS:
            events += _EVENTS[kind](self, body)
        elif kind is None:
            raise_error_in_place(body)
        else:
            raise_error_of(body)

    def read_named(self, event: NamedEvent, events: list[ModelEvent]) -> None:
        """See the base class. The name of an event stands within it, too, and an error without one is told by it."""
        if event.name == b"error" and upstream.member(upstream.error_value(event.data), "type") == "error":
            self._take_frames((event.data,), events)
        else:
            super().read_named(event, events)

    @classmethod
    def read_whole(cls, body: dict[str, Any]) -> Reply:
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
                text = begin_of(place) + text
            if kind is Thinking:
                self._thought.add(name)
            else:
                self._has_message = True
            self._told.add(kind, place, text)
            yield kind(text)

    def _whole_piece(self, event: Json) -> Iterator[ModelEvent]:
        """Read the end of a text, or of a part, which holds all of it."""
        name, part_type = _WHOLES[event["type"]]
        part = event.get("part") if part_type is None else {**event, "type": part_type}
        yield from self._rest(_place_of(event, name), read_part(part))

    def _rest(self, place: Place, said: Iterable[tuple[Speech, str]]) -> Iterator[ModelEvent]:
        for kind, text in said:
            self._has_message = self._has_message or kind is not Thinking
            is_sure = kind is not Thinking or self._told.knows(kind, place)  # a summary is made in other words
            rest = self._told.rest(kind, place, begin_of(place) + text)
            if rest is None and is_sure:
                raise contradiction("text")
            yield from (kind(rest),) if rest else ()

    # --- items

    def _item_start(self, event: Json) -> Iterator[ModelEvent]:
        kind = type_of(event.get("item"))
        self._has_begun = self._has_begun or kind == "message"
        if kind in CALLS:
            yield from self._calls.begin(_spot_of(event), read_call(event.get("item")))

    def _item_end(self, event: Json) -> Iterator[ModelEvent]:
        """Read a finished item, which servers that send no pieces send whole."""
        item = _item_of(event)
        said = said_in((event.get("item"),))
        yield from self._note(said)
        for kind, (_, name, n), text in said.pieces:
            yield from self._rest((item, name, n), ((kind, text),))
        for called in said.calls:
            yield from self._calls.read_item(_spot_of(event), called)

    def _note(self, said: Said) -> Iterator[ModelEvent]:
        self._has_message = self._has_message or said.has_message
        self._has_unread = self._has_unread or said.has_unread
        self._is_cut = self._is_cut or said.is_cut
        new = [note for note in dict.fromkeys(said.notes) if note not in self._noted]
        self._noted |= set(new[:_MOST_NOTES])
        yield from map(Note, new[:_MOST_NOTES] if len(self._noted) <= _MOST_NOTES else ())

    def _arguments(self, event: Json) -> Iterator[ModelEvent]:
        """Read a piece of arguments, or all of them at their end."""
        piece = upstream.text_or_none(event.get("delta"), "a delta")
        given = next((event[name] for name in CALLS.values() if event.get(name) is not None), None)
        yield from self._calls.read_arguments(_spot_of(event), piece or "", read_arguments(given))

    # --- ends

    def _response_end(self, event: Json) -> Iterator[ModelEvent]:
        """Read the end of the response, which holds all of it, and of some servers nothing."""
        response = event.get("response")
        if response is None:
            response = {}  # of some servers, whose answer came in pieces
        if not isinstance(response, Mapping):
            raise upstream.unusable("a response that is not an object in its last event")
        raise_error_of(response)
        response = {"status": event["type"].removeprefix("response."), **response}
        output = response.get("output")
        said = said_in(output if isinstance(output, list) else ())
        yield from self._note(said)
        for kind in (Thinking, Text, Refusal):
            rest = self._rest_of_all(said, kind)
            yield from (kind(rest),) if rest else ()
        yield from self._rest_beside(said, response.get("output_text"))
        parts = list(self._calls.read_end(said.calls))
        if self._is_cut:
            response = dict(as_cut(response, self._calls.arguments))
        reason = reason_of(response, has_calls=self._calls.has_calls)
        has_message = self._has_message or (self._has_begun and not self._has_unread)
        if not has_message and not self._calls.has_calls and reason == "stop":
            raise upstream.unusable("no message in its output")
        yield from parts
        self.finished = True
        yield usage_of(response)
        yield Finished(reason=reason)

    def _rest_of_all(self, said: Said, kind: Speech) -> str:
        rest = self._told.rest_of_all(kind, said.texts_of(kind))
        if rest is None and (kind is not Thinking or said.places_of(Thinking) <= self._thought):
            raise contradiction("text")
        return rest or ""

    def _rest_beside(self, said: Said, whole: object) -> Iterator[ModelEvent]:
        """Read the text beside the output, which is to be all of it."""
        if not isinstance(whole, str) or not whole or whole.strip() in said.of(Text):
            return
        rest = self._told.rest_of_all(Text, (whole,))
        if rest is None:
            raise contradiction("text")
        self._has_message = True
        yield from (Text(rest),) if rest else ()

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
    return text_of(event.get("item_id")) or text_of(upstream.member(event.get("item"), "id"))


def _spot_of(event: Json) -> Spot:
    """Both names of an item, for calls, whose pieces have to be told apart."""
    index = event.get("output_index")
    item_id = text_of(event.get("item_id")) or text_of(upstream.member(event.get("item"), "id"))
    return index if isinstance(index, int) else None, item_id or None


def _place_of(event: Json, name: str) -> Place:
    index = event.get(f"{name}_index")
    return _item_of(event), name, index if isinstance(index, int) else 0


_PIECES: Mapping[str, tuple[Speech, str]] = {
    "response.output_text.delta": (Text, "content"),
    "response.text.delta": (Text, "content"),
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
