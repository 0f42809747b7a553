"""Ollama's streamed answers: JSON lines, written and read.

Chat and generate differ in the member that holds a piece of text; `around` writes it, `parts_of` reads it.
"""

import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import orjson

from mnemoir.core.errors import MnemoirError
from mnemoir.core.events import (
    Event,
    Finished,
    FinishReason,
    ModelEvent,
    Passed,
    Refusal,
    Reply,
    Text,
    Thinking,
    ToolCallPart,
    Usage,
)
from mnemoir.core.messages import ToolCall
from mnemoir.wire import upstream
from mnemoir.wire.answers.answer_reader import AnswerReader
from mnemoir.wire.answers.call_ids import CallIds
from mnemoir.wire.answers.end_reasons import finish_reason, is_end, read_reason
from mnemoir.wire.answers.error_shapes import is_error, raise_error_in_place, raise_words_beside
from mnemoir.wire.content_parts import read_content
from mnemoir.wire.members import Json
from mnemoir.wire.ollama_options import (
    Parts,
    closing,
    head,
    passed_of,
    raise_no_question,
    read_reply_body,
    read_usage,
    with_passed_members,
    write_error,
)
from mnemoir.wire.ollama_tool_calls import read_upstream_calls, write_answered_calls
from mnemoir.wire.stream_readers import NamedEvent, last_line_within


class LineWriter:
    """Writes an answer as JSON lines. `around` wraps a value of `text`, `thinking` or `tool_calls` for the route.

    Pieces of tool calls are collected and sent whole before the end, as Ollama does. Durations are measured from the
    creation of the writer.
    """

    def __init__(self, model: str, reply_id: str, created: int, around: Callable[[Json], Json]) -> None:
        self._head = head(model=model, reply_id=reply_id, created=created)
        self._around = around
        marker = "\0"
        line = orjson.dumps({**self._head, **around({"text": marker}), "done": False}) + b"\n"
        self._before_text, self._after_text = line.rsplit(orjson.dumps(marker), 1)
        self._calls: dict[int, ToolCall] = {}
        self._usage = Usage()
        self._made_ns = time.perf_counter_ns()
        self._first_ns: int | None = None
        self._waiting: Passed | None = None  # members for the next line

    def events(self, batch: Sequence[Event]) -> bytes:
        """The bytes of the whole batch; b"" when it has no event for the client.

        Raises ProviderInvalidOutput, at the end, for a tool call that Ollama's protocol cannot express.
        """
        out: list[bytes] = []
        for event in batch:
            if event.__class__ is Text and self._waiting is None:
                out += (self._before_text, orjson.dumps(event.text), self._after_text)
            else:
                self._other(event, out)
        if out and self._first_ns is None:
            self._first_ns = time.perf_counter_ns()
        return b"".join(out)

    def error(self, exc: MnemoirError) -> bytes:
        """The end of an answer that failed: no `done` follows."""
        return orjson.dumps(write_error(exc)) + b"\n"

    def heartbeat(self) -> bytes:
        """An empty piece, to keep proxies from closing a silent connection."""
        return self._before_text + b'""' + self._after_text

    def _other(self, event: Event, out: list[bytes]) -> None:
        if isinstance(event, Text | Refusal):
            out.append(self._line({"text": event.text}))
        elif isinstance(event, Thinking):
            out.append(self._line({"thinking": event.text}))
        elif isinstance(event, Passed):
            if self._waiting is not None:
                out.append(self._line({"text": ""}))
            self._waiting = event
        elif isinstance(event, ToolCallPart):
            self._gather(event)
        elif isinstance(event, Usage):
            self._usage += event
        elif isinstance(event, Finished):
            if self._calls:
                out.append(self._line({"tool_calls": write_answered_calls(list(self._calls.values()))}))
            out.append(self._line({}, **self._end(event.reason)))

    def _gather(self, part: ToolCallPart) -> None:
        call = self._calls.get(part.index, ToolCall(id=f"call_{part.index}", name="", arguments=""))
        self._calls[part.index] = ToolCall(
            id=part.id or call.id,
            name=call.name + (part.name or ""),
            arguments=call.arguments + part.arguments,
            extra=part.extra or call.extra,
        )

    def _line(self, value: Json, **end: Any) -> bytes:
        line = {**self._head, **self._around(value), "done": False, **end}
        waiting, self._waiting = self._waiting, None
        return orjson.dumps(with_passed_members(line, waiting)) + b"\n"

    def _end(self, reason: FinishReason) -> dict[str, Any]:
        now = time.perf_counter_ns()
        first = self._first_ns or now
        return closing(reason, self._usage, took_ns=now - self._made_ns, until_first_ns=first - self._made_ns)


class LineReader(AnswerReader):
    """Reads a model's answer, from its JSON lines or from one object.

    One line that says nothing of `done` is a whole answer, unless it is labelled as a stream: the last line of a
    stream says that it is.
    """

    streams_lines = True
    is_loading: ClassVar[bool] = False  # the answer to a request without a question, which loads or unloads a model

    def __init__(self, media_type: str = "") -> None:
        super().__init__(media_type)
        self._call_count = 0
        self._ids = CallIds()
        self._line_count = 0
        self._has_answer = self._has_words = False
        self._tells_done = False
        self._ending: Mapping[str, Any] | None = None  # the last line, where it has a reason and no `done`

    @property
    def is_one_object(self) -> bool:
        """See the base class."""
        return super().is_one_object or self._line_count == 1

    @classmethod
    @abstractmethod
    def parts_of(cls, body: Mapping[str, Any]) -> Parts | None:
        """The text, the thinking and the tool calls in one object; None where it has no place for any."""

    def read_frame(self, body: dict[str, Any], events: list[ModelEvent]) -> None:
        """See the base class."""
        if body.get("error") and is_error(body["error"]):
            raise upstream.error_in_body(body)
        parts = self.parts_of(body)
        calls: Sequence[ToolCall] = ()
        if parts is not None and parts[2]:  # before anything is noted: the line may be read a second time
            calls = read_upstream_calls(parts[2], self._ids)
        self._line_count += 1
        passed = passed_of(body)
        if passed is not None:
            events.append(passed)
        done = body.get("done")
        if parts is not None:
            self._has_answer = True
            self._read_parts(parts, calls, events)
            if not any(parts):
                self._check_beside(body, is_last=done is True)
        else:
            raise_error_in_place(body)
            if done is None:
                raise upstream.no_answer("no message", body)
        self._tells_done = self._tells_done or done is not None
        reason = body.get("done_reason")
        self._ending = body if reason and is_end(reason) else None
        if done is True:
            self._finish(body, events)

    @classmethod
    def read_whole(cls, body: dict[str, Any]) -> Reply:
        """See the base class."""
        return read_reply_body(body, cls.parts_of(body), is_loading=cls.is_loading)

    def _odd_frame(self, frame: bytes | NamedEvent, events: list[ModelEvent]) -> None:
        """Read the last line also where something stands behind its object; see NdjsonReader."""
        last = last_line_within(frame) if isinstance(frame, bytes) and self._form == "lines" else None
        if last is None:
            super()._odd_frame(frame, events)
        else:
            self._take_frames((last,), events)

    def read_done(self, events: list[ModelEvent]) -> None:
        """See the base class: the protocol has no such end."""

    def read_end(self, events: list[ModelEvent]) -> None:
        """See the base class."""
        if self._ending is not None:
            self._finish(self._ending, events)
            return
        if self._line_count != 1 or self._tells_done or upstream.is_stream_label(self.media_type):
            raise upstream.ended_early()
        self._finish({}, events)

    def _check_beside(self, body: Json, *, is_last: bool) -> None:
        """Raise for words beside an empty piece; the last line may repeat what was said."""
        if not (is_last and (self._has_words or self._call_count)):
            raise_words_beside(body, body.get("message"))

    def _read_parts(self, parts: Parts, calls: Sequence[ToolCall], events: list[ModelEvent]) -> None:
        text, thinking, _ = parts
        if thinking:
            self._has_words = True
            events.append(Thinking(upstream.text_or_none(thinking, "thinking") or ""))
        if text.__class__ is str:
            if text:
                self._has_words = True
                events.append(Text(text))
        elif text is not None:
            said = list(read_content(text))
            self._has_words = self._has_words or bool(said)
            events += said
        for call in calls:
            events.append(
                ToolCallPart(
                    index=self._call_count, id=call.id, name=call.name, arguments=call.arguments, extra=call.extra
                )
            )
            self._call_count += 1

    def _finish(self, body: Mapping[str, Any], events: list[ModelEvent]) -> None:
        if not self._has_answer and read_reason(body.get("done_reason")) is None:
            raise upstream.unusable("no message")
        if not (self._has_words or self._call_count or self.is_loading):
            raise_no_question(body.get("done_reason"))
        reason = finish_reason(body.get("done_reason"), has_calls=self._call_count > 0)
        events += (read_usage(body), Finished(reason=reason))
        self.finished = True
