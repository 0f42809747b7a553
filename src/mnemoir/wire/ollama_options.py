"""What Ollama's chat and generate share: options, tool calls, the closing counts, errors and the stream.

The two routes differ in where a piece of text stands: `message.content` or `response`. Everything else is here.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from mnemoir.core.clock import from_epoch, to_text
from mnemoir.core.errors import InvalidRequest, MnemoirError, ProviderInvalidOutput
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
from mnemoir.core.messages import Extra, JsonSchema, ModelRequest, Route, Sampling, ToolCall
from mnemoir.wire import members, upstream
from mnemoir.wire.extras import OWN_MEMBERS, asked_extra, members_for, merged, unread
from mnemoir.wire.json_output import ANY_OBJECT, is_closed
from mnemoir.wire.members import Json
from mnemoir.wire.ndjson import NdjsonReader

ROUTE: Route = "ollama-chat"
"""What `/api/chat` and `/api/generate` both have: unknown members of either go to the chat route of an Ollama."""
SHARED = OWN_MEMBERS | {"model", "stream", "options", "format", "think", "images"}
_BESIDE_OPTIONS = ("think", "stream")
_OPTIONS = frozenset({"temperature", "top_p", "num_predict", "stop", "seed", "presence_penalty", "frequency_penalty"})
_OF_MESSAGES = frozenset({"role", "content", "thinking", "tool_calls", "images"})
_OF_ANSWERS = frozenset(
    {"model", "created_at", "message", "response", "thinking", "done", "done_reason", "error"}
    | {"total_duration", "load_duration", "prompt_eval_count", "prompt_eval_duration", "eval_count", "eval_duration"}
)


# --- requests


def read_stream(body: Json) -> bool:
    """Whether to stream; Ollama's default is yes. Some clients send the word as a string."""
    value = body.get("stream")
    return value.lower() == "true" if isinstance(value, str) else members.boolean(body, "stream", default=True)


def read_extra(body: Json, known: frozenset[str], route: Route = ROUTE) -> Extra | None:
    """The members of a request that are not used; `options` among them holds the options that are not.

    A `num_predict` that sets no limit (-1, -2) is no number of tokens, so it is one of those.
    """
    extra = asked_extra(body, known | SHARED, route)
    given = members.as_object(body.get("options") or {}, "options")
    limit = given.get("num_predict")
    read = _OPTIONS - {"num_predict"} if isinstance(limit, int | float) and limit <= 0 else _OPTIONS
    options = asked_extra(given, read, route, "options.")
    if options is None:
        return extra
    return Extra(route=route, members={**members_for(extra, route), "options": options.members})


def read_sampling(body: Json) -> Sampling:
    """`options`, as far as Mnemoir knows them."""
    options = members.as_object(body.get("options") or {}, "options")
    limit = members.integer(options, "num_predict", at="options.")
    return Sampling(
        temperature=members.number(options, "temperature", at="options."),
        top_p=members.number(options, "top_p", at="options."),
        max_tokens=limit if limit is not None and limit > 0 else None,  # -1 and -2 mean no limit
        stop=members.texts(options, "stop", at="options."),
        seed=members.integer(options, "seed", at="options."),
        presence_penalty=members.number(options, "presence_penalty", at="options."),
        frequency_penalty=members.number(options, "frequency_penalty", at="options."),
    )


def write_model(request: ModelRequest) -> dict[str, Any]:
    """The name of the model; an empty one is sent only where a config tree says so."""
    named = request.model if request.options is None else request.model is not None
    return {"model": request.model} if named else {}


def write_options(request: ModelRequest) -> dict[str, Any]:
    """`options`, `format`, `think` and the client's own members, as far as the request sets them.

    Of a config tree's request the given options, and below them what a client was allowed to add.
    """
    route: Route = request.extra.route if request.raw and request.extra is not None else ROUTE
    extra = members_for(request.extra, route)
    of_client = merged(extra, _written(request))
    return of_client if request.options is None else merged(of_client, _exactly(request.options))


def _written(request: ModelRequest) -> dict[str, Any]:
    sampling = request.sampling
    options = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "num_predict": sampling.max_tokens,
        "stop": list(sampling.stop) or None,
        "seed": sampling.seed,
        "presence_penalty": sampling.presence_penalty,
        "frequency_penalty": sampling.frequency_penalty,
    }
    given = {name: value for name, value in options.items() if value is not None}
    body: dict[str, Any] = {"options": given} if given else {}
    if request.output is not None:
        body["format"] = "json" if request.output == ANY_OBJECT else dict(request.output.schema)
    if request.think is not None:
        body["think"] = request.think
    elif request.reasoning_effort is not None:
        # Ollama has no such steps, and a model that cannot think refuses all but false
        body["think"] = False if request.reasoning_effort in ("minimal", "none") else request.reasoning_effort
    return body


def _exactly(given: Json) -> dict[str, Any]:
    """`think` stands beside the options, and so does `stream`, which the route writes as it was called."""
    beside = {"think": given["think"]} if "think" in given else {}
    return {"options": {name: value for name, value in given.items() if name not in _BESIDE_OPTIONS}, **beside}


def read_format(body: Json) -> JsonSchema | None:
    """`format`: nothing, `json`, or a schema."""
    value = body.get("format")
    if value is None or value == "":
        return None
    if value == "json":
        return ANY_OBJECT
    schema = members.as_object(value, "format")
    return JsonSchema(name="answer", schema=schema, strict=True if is_closed(schema) else None)


def read_effort(body: Json) -> str | None:
    """The level that `think` asks for; None where it is a plain yes or no, which `read_think` gives."""
    value = body.get("think")
    return None if value is None or isinstance(value, bool) else members.as_text(value, "think")


def read_think(body: Json) -> bool | None:
    """Whether to think; None where `think` is missing or a level."""
    value = body.get("think")
    return value if isinstance(value, bool) else None


# --- tool calls


def read_tool_calls(value: object, field: str) -> tuple[ToolCall, ...]:
    """Whole calls; Ollama's arguments are an object, ours text. A call without an id gets one by its place."""
    calls: list[ToolCall] = []
    for body, at in members.objects(value or [], field):
        function = members.as_object(body.get("function"), f"{at}.function")
        arguments = function.get("arguments") or {}
        if not isinstance(arguments, str):
            arguments = orjson.dumps(members.as_object(arguments, f"{at}.function.arguments")).decode()
        name = members.as_text(function.get("name"), f"{at}.function.name")
        call_id = members.text(body, "id", at=f"{at}.") or f"call_{len(calls)}"
        calls.append(ToolCall(id=call_id, name=name, arguments=arguments))
    return tuple(calls)


def write_tool_calls(calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
    """Whole calls; arguments that are no JSON object, which only a confused model writes, go under `arguments`."""
    return [
        {"id": call.id, "function": {"index": n, "name": call.name, "arguments": _arguments(call.arguments)}}
        for n, call in enumerate(calls)
    ]


def _arguments(text: str) -> dict[str, Any]:
    try:
        value = orjson.loads(text or "{}")
    except orjson.JSONDecodeError:
        value = text
    return value if isinstance(value, dict) else {"arguments": value}


# --- replies


def head(*, model: str, reply_id: str, created: int) -> dict[str, Any]:
    """What every object of an answer carries; `created` is in seconds since 1970."""
    moment = from_epoch(created)
    return {"model": model, "created_at": to_text(moment) if moment else "", "request_id": reply_id}


def closing(
    reason: FinishReason, usage: Usage, *, until_first_ns: int = 0, after_first_ns: int = 0
) -> dict[str, Any]:
    """The members that end an answer. Ollama says `stop` after tool calls."""
    return {
        "done": True,
        "done_reason": "stop" if reason == "tool_calls" else reason,
        "total_duration": until_first_ns + after_first_ns,
        "load_duration": 0,
        "prompt_eval_count": usage.input_tokens,
        "prompt_eval_duration": until_first_ns,
        "eval_count": usage.output_tokens,
        "eval_duration": after_first_ns,
    }


def write_error(exc: MnemoirError) -> dict[str, Any]:
    """An error as Ollama's clients read it."""
    return {"error": exc.message}


def read_usage(body: Json) -> Usage:
    """The counts of a closing object."""
    return Usage(
        input_tokens=upstream.count(body.get("prompt_eval_count")),
        output_tokens=upstream.count(body.get("eval_count")),
    )


def read_reply_body(body: Json, *, text: object, thinking: object, tool_calls: object) -> Reply:
    """A whole answer from its parts. Raises the error the body holds, or ProviderInvalidOutput."""
    if body.get("error"):
        raise upstream.error_in_body(body)
    if body.get("done") is not True:
        raise upstream.ended_early()
    calls = read_upstream_calls(tool_calls)
    said = upstream.text_or_none(text, "content")
    thought = upstream.text_or_none(thinking, "thinking") or ""
    if said is None and not calls and not thought:
        raise upstream.unusable("no content")
    reason = upstream.finish_reason(body.get("done_reason"), has_calls=bool(calls))
    return Reply(
        text=said or "",
        reason=reason,
        tool_calls=calls,
        thinking=thought,
        usage=read_usage(body),
        passed=passed_of(body),
    )


def passed_of(body: Json) -> Passed | None:
    """The members of an answer, or of a line of it, that are not read."""
    message = body.get("message")
    answer = unread(body, _OF_ANSWERS)
    within = unread(message, _OF_MESSAGES) if isinstance(message, Mapping) else None
    return None if answer is None and within is None else Passed(route=ROUTE, answer=answer, message=within)


def with_passed(line: dict[str, Any], passed: Passed | None) -> dict[str, Any]:
    """A line of our answer with the members that its model's server sent and that are not read."""
    if passed is None or passed.route != ROUTE:
        return line
    if passed.message and "message" in line:
        line["message"] |= passed.message
    return {**(passed.answer or {}), **line}


def read_upstream_calls(value: object) -> tuple[ToolCall, ...]:
    """Tool calls of an answer, where a wrong shape is the server's fault."""
    try:
        return read_tool_calls(value, "tool_calls")
    except InvalidRequest as exc:
        raise upstream.unusable(f"an unusable tool call: {exc.message}") from exc


# --- streams


class LineWriter:
    """Our answer as JSON lines. `around` wraps a value of `text`, `thinking` or `tool_calls` in the route's shape.

    Pieces of tool calls are gathered and sent whole before the end, as Ollama does. Durations are measured from the
    making of the writer.
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
        """All of the batch in one write; b"" when nothing in it is for the client."""
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
        """A piece of nothing, to keep proxies from closing a silent connection."""
        return self._before_text + b'""' + self._after_text

    def _other(self, event: Event, out: list[bytes]) -> None:
        if isinstance(event, Text | Refusal):
            out.append(self._line({"text": event.text}))
        elif isinstance(event, Thinking):
            out.append(self._line({"thinking": event.text}))
        elif isinstance(event, Passed):
            self._waiting = event
        elif isinstance(event, ToolCallPart):
            self._gather(event)
        elif isinstance(event, Usage):
            self._usage += event
        elif isinstance(event, Finished):
            if self._calls:
                out.append(self._line({"tool_calls": write_tool_calls(list(self._calls.values()))}))
            out.append(self._line({}, **self._end(event.reason)))

    def _gather(self, part: ToolCallPart) -> None:
        call = self._calls.get(part.index, ToolCall(id=f"call_{part.index}", name="", arguments=""))
        self._calls[part.index] = ToolCall(
            id=part.id or call.id, name=part.name or call.name, arguments=call.arguments + part.arguments
        )

    def _line(self, value: Json, **end: Any) -> bytes:
        line = {**self._head, **self._around(value), "done": False, **end}
        waiting, self._waiting = self._waiting, None
        return orjson.dumps(with_passed(line, waiting)) + b"\n"

    def _end(self, reason: FinishReason) -> dict[str, Any]:
        now = time.perf_counter_ns()
        first = self._first_ns or now
        return closing(reason, self._usage, until_first_ns=first - self._made_ns, after_first_ns=now - first)


class LineReader:
    """A model's answer from its JSON lines; `finished` once Finished was given.

    `parts` takes (text, thinking, tool calls) out of one object, wherever the route keeps them. A line that is not
    JSON, or has another shape, is an error; a `tolerant` reader passes over it instead, and counts it in
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
        """The body has ended: what was still held back. Raises ProviderUnavailable for an answer cut short."""
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
            events.append(ToolCallPart(index=n, id=call_id, name=call.name, arguments=call.arguments))
            self._call_count += 1
