"""Ollama's streamed answers: JSON lines, written and read.

Chat and generate differ in the member that holds a piece of text; `around` writes it, `parts` reads it.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from mnemoir.core.errors import MnemoirError, ProviderInvalidOutput
from mnemoir.core.events import (
    Event,
    Finished,
    FinishReason,
    ModelEvent,
    Passed,
    Refusal,
    Text,
    Thinking,
    ToolCallPart,
    Usage,
)
from mnemoir.core.messages import ToolCall
from mnemoir.wire import upstream
from mnemoir.wire.members import Json
from mnemoir.wire.ollama_options import closing, head, passed_of, read_usage, with_passed_members, write_error
from mnemoir.wire.ollama_tool_calls import read_upstream_calls, write_answered_calls
from mnemoir.wire.stream_readers import NdjsonReader


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
            name=part.name or call.name,
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


class LineReader:
    """Reads a model's answer from its JSON lines; `finished` is True once Finished was returned.

    `parts` reads (text, thinking, tool calls) from one object, by the members of the route. A line that is not
    JSON, or has another shape, is an error; a `tolerant` reader skips it instead, and counts it in
    `passed_over`.
    """

    def __init__(
        self, parts: Callable[[Mapping[str, Any]], tuple[object, object, object]], *, tolerant: bool = False
    ) -> None:
        self.finished = False
        self.passed_over = 0
        self._tolerant = tolerant
        self._lines = NdjsonReader()
        self._parts = parts
        self._call_count = 0

    def feed(self, data: bytes) -> list[ModelEvent]:
        """The events that `data` completes. Raises ProviderError for a line that is an error."""
        return self._events(self._lines.feed(data))

    def end(self) -> list[ModelEvent]:
        """The events held back until the end of the body. Raises ProviderUnavailable for an answer cut short."""
        events = self._events(self._lines.end())
        if not self.finished:
            raise upstream.ended_early()
        return events

    def _events(self, lines: Sequence[bytes]) -> list[ModelEvent]:
        events: list[ModelEvent] = []
        for line in lines:
            if not self.finished:
                self._read(line, events)
        return events

    def _read(self, line: bytes, events: list[ModelEvent]) -> None:
        try:
            self._line(upstream.decode(line), events)
        except ProviderInvalidOutput:
            if not self._tolerant:
                raise
            self.passed_over += 1

    def _line(self, body: dict[str, Any], events: list[ModelEvent]) -> None:
        if body.get("error"):
            raise upstream.error_in_body(body)
        text, thinking, calls = self._parts(body)
        passed = passed_of(body)
        if passed is not None:
            events.append(passed)
        if thinking:
            events.append(Thinking(upstream.text_or_none(thinking, "thinking") or ""))
        if text:
            events.append(Text(upstream.text_or_none(text, "content") or ""))
        if calls:
            self._tool_calls(calls, events)
        if body.get("done") is True:
            reason = upstream.finish_reason(body.get("done_reason"), has_calls=self._call_count > 0)
            events += (read_usage(body), Finished(reason=reason))
            self.finished = True

    def _tool_calls(self, value: object, events: list[ModelEvent]) -> None:
        for call in read_upstream_calls(value):
            n = self._call_count
            call_id = f"call_{n}" if call.id.startswith("call_") and call.id[5:].isdigit() else call.id
            events.append(
                ToolCallPart(index=n, id=call_id, name=call.name, arguments=call.arguments, extra=call.extra)
            )
            self._call_count += 1
