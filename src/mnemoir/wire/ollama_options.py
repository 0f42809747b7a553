"""Shared parts of Ollama's chat and generate: options, the closing counts, whole answers and errors.

The two routes differ in the member that holds a piece of text: `message.content` or `response`.
"""

import re
from collections.abc import Mapping
from typing import Any

from mnemoir.core.clock import from_epoch, to_text
from mnemoir.core.errors import MnemoirError
from mnemoir.core.events import FinishReason, Note, Passed, Refusal, Reply, Text, Thinking, Usage
from mnemoir.core.messages import Extra, JsonSchema, Loading, ModelRequest, Route, Sampling
from mnemoir.wire import members, upstream
from mnemoir.wire.answers.call_ids import CallIds
from mnemoir.wire.answers.end_reasons import finish_reason, is_end, is_unknown, read_reason
from mnemoir.wire.answers.error_shapes import is_error, raise_error_in_place, raise_words_beside
from mnemoir.wire.content_parts import read_content
from mnemoir.wire.json_output import ANY_OBJECT, is_closed
from mnemoir.wire.members import OWN_MEMBERS, Json, asked_extra, members_for, merged_members, unread, within
from mnemoir.wire.ollama_tool_calls import read_upstream_calls

Parts = tuple[object, object, object]
"""What an answer, or a line of it, holds: the text, the thinking and the tool calls, not yet checked."""

ROUTE: Route = "ollama-chat"
"""The route of both `/api/chat` and `/api/generate`: unknown members of either go to the chat route of an Ollama."""
SHARED = OWN_MEMBERS | {"model", "stream", "options", "format", "think", "images"}
_BESIDE_OPTIONS = ("think", "stream")
_OPTIONS = frozenset({"temperature", "top_p", "num_predict", "stop", "seed", "presence_penalty", "frequency_penalty"})
_OF_MESSAGES = frozenset({"role", "content", "thinking", "tool_calls"})
_DURATIONS = ("total_duration", "load_duration", "prompt_eval_duration", "eval_duration")
_OF_ANSWERS = frozenset(
    {"model", "created_at", "message", "response", "thinking", "done", "done_reason", "error"}
    | {"prompt_eval_count", "eval_count", *_DURATIONS}
)
_NO_TIME = re.compile(r"[+-]?(0|((0+(\.0*)?|\.0+)(ns|us|µs|μs|ms|s|m|h))+)")  # durations as Go writes them
NAMES: Mapping[str, str] = {
    "max_tokens": "options.num_predict",
    **{name: f"options.{name}" for name in sorted(_OPTIONS - {"num_predict"})},
    "reasoning_effort": "think",
    "response_format": "format",
    "messages.content.image_url": "messages.images",
}
"""Members of requests: their names in OpenAI's chat protocol, and in this protocol."""


# --- requests


def read_stream(body: Json) -> bool:
    """True when the answer is to be streamed, Ollama's default. Some clients send the value as a string."""
    value = body.get("stream")
    return value.lower() == "true" if isinstance(value, str) else members.boolean(body, "stream", default=True)


def read_extra(body: Json, known: frozenset[str], route: Route = ROUTE) -> Extra | None:
    """The members of a request that Mnemoir does not use; `options` among them holds the unused options.

    A `num_predict` that sets no limit (-1, -2) is no number of tokens, so it is one of these.
    """
    extra = asked_extra(body, known | SHARED, route)
    given = members.as_object(body.get("options") or {}, "options")
    limit = given.get("num_predict")
    read = _OPTIONS - {"num_predict"} if isinstance(limit, int | float) and limit <= 0 else _OPTIONS
    options = asked_extra(given, read, route, "options.")
    return within(extra, "options", options)


def read_sampling(body: Json) -> Sampling:
    """Read the `options` that Mnemoir uses."""
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


def read_loading(body: Json) -> Loading:
    """The action of a request without a question: a `keep_alive` of zero unloads the model, any other loads it."""
    value = body.get("keep_alive")
    if isinstance(value, str):
        return "unload" if _NO_TIME.fullmatch(value) else "load"
    return "unload" if value == 0 and not isinstance(value, bool) else "load"


def write_model(request: ModelRequest) -> dict[str, Any]:
    """The name of the model; an empty one is sent only where a config tree sets it."""
    named = request.model if request.options is None else request.model is not None
    return {"model": request.model} if named else {}


def write_options(request: ModelRequest) -> dict[str, Any]:
    """`options`, `format`, `think` and the client's own members, as far as the request sets them.

    For a config tree's request: its options, which override the members that a client was allowed to add.
    """
    route: Route = request.extra.route if request.raw and request.extra is not None else ROUTE
    extra = members_for(request.extra, route)
    of_client = merged_members(extra, _write_members(request))
    return of_client if request.options is None else merged_members(of_client, _exactly(request.options))


def _write_members(request: ModelRequest) -> dict[str, Any]:
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
    if request.output is not None and (request.output.schema or not request.output.is_local_form):
        body["format"] = "json" if request.output == ANY_OBJECT else dict(request.output.schema)
    if request.think is not None:
        body["think"] = request.think
    elif request.reasoning_effort is not None:
        # Ollama has no such levels, and a model that cannot think refuses all values but false
        body["think"] = False if request.reasoning_effort in ("minimal", "none") else request.reasoning_effort
    return body


def _exactly(given: Json) -> dict[str, Any]:
    """`options` as given, and `think` beside them; `stream` is beside them too, written by the route itself."""
    beside = {"think": given["think"]} if "think" in given else {}
    return {"options": {name: value for name, value in given.items() if name not in _BESIDE_OPTIONS}, **beside}


def read_format(body: Json) -> JsonSchema | None:
    """Read `format`: nothing, `json`, or a schema."""
    value = body.get("format")
    if value is None or value == "":
        return None
    if value == "json":
        return ANY_OBJECT
    schema = members.as_object(value, "format")
    return JsonSchema(name="answer", schema=schema, strict=True if is_closed(schema) else None)


def read_effort(body: Json) -> str | None:
    """The level in `think`; None where it is a boolean, which `read_think` returns."""
    value = body.get("think")
    return None if value is None or isinstance(value, bool) else members.as_text(value, "think")


def read_think(body: Json) -> bool | None:
    """The boolean `think`; None where it is missing or a level."""
    value = body.get("think")
    return value if isinstance(value, bool) else None


# --- replies


def head(*, model: str, reply_id: str, created: int) -> dict[str, Any]:
    """The members of every object of an answer; `created` is in seconds since 1970."""
    moment = from_epoch(created)
    return {"model": model, "created_at": to_text(moment) if moment else "", "request_id": reply_id}


def closing(reason: FinishReason, usage: Usage, *, took_ns: int, until_first_ns: int = 0) -> dict[str, Any]:
    """The members that end an answer: those of the Ollama behind it unchanged, else the values measured here.

    An answer that came all at once has no separate time until its first word: the whole duration then counts as
    generation, because clients divide by that. Ollama gives `stop` after tool calls.
    """
    reading_ns = until_first_ns if until_first_ns < took_ns else 0
    measured = {
        "done": True,
        "done_reason": "stop" if reason == "tool_calls" else reason,
        "total_duration": took_ns,
        "load_duration": 0,
        "prompt_eval_count": usage.input_tokens,
        "prompt_eval_duration": reading_ns,
        "eval_count": usage.output_tokens,
        "eval_duration": took_ns - reading_ns,
    }
    return measured if usage.extra is None else {**measured, **members_for(usage.extra, ROUTE)}


def write_error(exc: MnemoirError) -> dict[str, Any]:
    """An error as Ollama's clients read it."""
    return {"error": exc.message}


def read_usage(body: Json) -> Usage:
    """The counts of a closing object; its other members about the end, such as durations, are kept unchanged."""
    ending = {name: body[name] for name in _DURATIONS if name in body}
    if is_unknown(body.get("done_reason")):  # such as `load`
        ending["done_reason"] = body["done_reason"]
    return Usage(
        input_tokens=upstream.count(body.get("prompt_eval_count")),
        output_tokens=upstream.count(body.get("eval_count")),
        extra=Extra(route=ROUTE, members=ending) if ending else None,
    )


def raise_no_question(reason: object) -> None:
    """Raise ProviderInvalidOutput for a reason by which a server says that it was asked nothing."""
    if reason in ("load", "unload"):
        raise upstream.unusable(
            f"the reason {reason!r} and no words, as if it had been asked to {reason} the model and nothing else"
        )


def read_reply_body(body: Json, parts: Parts | None, *, is_loading: bool = False) -> Reply:
    """A whole answer from its parts; one that says nothing of `done` is whole.

    With `is_loading` the request had no question. Raises the error the body holds, or ProviderInvalidOutput.
    """
    if is_error(body.get("error")):
        raise upstream.error_in_body(body)
    if parts is None:
        raise_error_in_place(body)
    if body.get("done", True) is not True and not is_end(body.get("done_reason")):
        raise upstream.ended_early()
    if parts is None and read_reason(body.get("done_reason")) is None:
        raise upstream.no_answer("no message", body)
    text, thinking, tool_calls = parts or (None, None, None)
    calls = read_upstream_calls(tool_calls, CallIds())
    said = list(read_content(text))
    thought = upstream.text_or_none(thinking or None, "thinking") or ""
    if not (said or thought or calls or is_loading):
        raise_no_question(body.get("done_reason"))
    if not (said or thought or calls):
        raise_words_beside(body, body.get("message"))
    reason = finish_reason(body.get("done_reason"), has_calls=bool(calls))
    return Reply(
        text="".join(event.text for event in said if isinstance(event, Text)),
        reason=reason,
        tool_calls=calls,
        thinking="".join((thought, *(event.text for event in said if isinstance(event, Thinking)))),
        refusal="".join(event.text for event in said if isinstance(event, Refusal)),
        usage=read_usage(body),
        passed=passed_of(body),
        notes=tuple(event.text for event in said if isinstance(event, Note)),
    )


def passed_of(body: Json) -> Passed | None:
    """The members of an answer, or of a line of it, that Mnemoir does not read."""
    message = body.get("message")
    answer = unread(body, _OF_ANSWERS)
    within = unread(message, _OF_MESSAGES) if isinstance(message, Mapping) else None
    return None if answer is None and within is None else Passed(route=ROUTE, answer=answer, message=within)


def with_passed_members(line: dict[str, Any], passed: Passed | None) -> dict[str, Any]:
    """A line of an answer with the unread members sent by the model's server."""
    if passed is None or passed.route != ROUTE:
        return line
    if passed.message and "message" in line:
        line["message"] |= passed.message
    return {**(passed.answer or {}), **line}
