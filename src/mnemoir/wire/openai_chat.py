"""OpenAI's chat completions: requests, read and written; their answers are in `openai_chat_answers`.

Older clients send `functions` and `function_call`, the protocol's former names of tools, keep calls as
`function_call` of an assistant message, and answer them with messages of the role `function`. Current model servers
require tools. So a request is translated before it is read, and its answer is translated when it is written. The old
protocol has one call in an answer: further ones are left out.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from mnemoir.core.errors import NotSupported
from mnemoir.core.messages import AS_THE_SERVER_LIKES, ChatRequest, ModelRequest, Sampling, has_sampling
from mnemoir.wire import members
from mnemoir.wire.json_output import read_response_format, write_response_format
from mnemoir.wire.members import OWN_MEMBERS, Json, asked_extra, members_for, merged_members, within
from mnemoir.wire.openai_chat_answers import (
    FUNCTION_CALL,
    AnswerReader,
    FunctionStreamWriter,
    StreamWriter,
    read_reply,
    write_function_reply,
    write_reply,
)
from mnemoir.wire.openai_messages import (
    ROUTE,
    effort_of,
    is_reasoning_model,
    read_messages,
    read_plain_messages,
    write_messages,
)
from mnemoir.wire.openai_stream import write_error

__all__ = [
    "AnswerReader",
    "FunctionStreamWriter",
    "StreamWriter",
    "read_reply",
    "read_request",
    "write_error",
    "write_function_reply",
    "write_reply",
    "write_request",
]

MOST_CHOICES = 8
SAMPLING = frozenset(
    {"temperature", "top_p", "max_tokens", "max_completion_tokens", "stop", "seed", "n"}
    | {"presence_penalty", "frequency_penalty"}
)
"""Members that control sampling."""

_OF_REQUESTS = (
    OWN_MEMBERS
    | SAMPLING
    | {"model", "messages", "stream", "stream_options", "tools", "tool_choice", "response_format", "reasoning_effort"}
)
_OF_STREAM_OPTIONS = frozenset({"include_usage"})
_FUNCTIONS = "functions"
_FUNCTION_NAMES: Mapping[str, str] = {"tools": _FUNCTIONS, "tool_choice": FUNCTION_CALL}
"""Members of tools, with their names in requests of clients of functions."""


def read_request(body: Json) -> ChatRequest:
    """Read a client's request. Raises InvalidRequest naming the field; unknown members are kept in `extra`."""
    plain = read_plain_messages(members.as_object(body, "body").get("messages"))
    body, function_calls, dropped = with_tools(body, has_plain_messages=plain is not None)
    options = members.as_object(body.get("stream_options") or {}, "stream_options")
    of_options = asked_extra(options, _OF_STREAM_OPTIONS, ROUTE, "stream_options.")
    extra = within(asked_extra(body, _OF_REQUESTS, ROUTE), "stream_options", of_options)
    choice = body.get("tool_choice")
    if not isinstance(choice, str | dict | None):
        members.refuse("tool_choice", "a string or an object", choice)
    if "tools" in body and not body["tools"] and choice is not None:
        dropped = dropped if choice in ("auto", "none") else (*dropped, "tool_choice")  # which mean the same then
        choice = None
    request = ModelRequest(
        messages=read_messages(body.get("messages")) if plain is None else plain,
        model=members.text(body, "model") or "",
        sampling=read_sampling(body),
        tools=tuple(tool for tool, _ in members.objects(body.get("tools") or [], "tools")),
        tool_choice=choice,
        output=read_response_format(body["response_format"], "response_format")
        if "response_format" in body
        else None,
        reasoning_effort=members.text(body, "reasoning_effort"),
        choices=read_choices(body),
        extra=extra,
        dropped=dropped,
    )
    return ChatRequest(
        request=request,
        stream=members.boolean(body, "stream"),
        include_usage=members.boolean(options, "include_usage", at="stream_options."),
        memory=body.get("memoryEnabled") is True,
        user=members.own_name(body, "user"),
        function_calls=function_calls,
        names=_names(body, function_calls),
    )


def _names(body: Json, function_calls: bool) -> dict[str, str]:
    """Members with an older or newer name, mapped to the name that the client used."""
    names = {"max_tokens": "max_completion_tokens"} if body.get("max_completion_tokens") is not None else {}
    return {**names, **_FUNCTION_NAMES} if function_calls else names


def read_choices(body: Json) -> int:
    """The number of answers wanted. Raises InvalidRequest for none, and NotSupported for more than MOST_CHOICES."""
    wanted = members.integer(body, "n", least=1) or 1
    if wanted > MOST_CHOICES:
        raise NotSupported(f"n must be at most {MOST_CHOICES}, it is {wanted}.", field="n")
    return wanted


def read_sampling(body: Json) -> Sampling:
    """The sampling members a client set; the newer name of the limit takes precedence over the older one."""
    if SAMPLING.isdisjoint(body):
        return AS_THE_SERVER_LIKES
    limit = _read_limit(body, "max_completion_tokens")
    return Sampling(
        limit_name="max_completion_tokens" if limit else None,
        temperature=members.number(body, "temperature"),
        top_p=members.number(body, "top_p"),
        max_tokens=limit or (None if body.get("max_completion_tokens") else _read_limit(body, "max_tokens")),
        stop=members.texts(body, "stop"),
        seed=members.integer(body, "seed"),
        presence_penalty=members.number(body, "presence_penalty"),
        frequency_penalty=members.number(body, "frequency_penalty"),
    )


def _read_limit(body: Json, name: str) -> int | None:
    """A limit of tokens; None where there is none, as -1 says. Raises InvalidRequest naming the field."""
    return None if body.get(name) == -1 else members.integer(body, name, least=1)


def with_tools(body: Json, *, has_plain_messages: bool = False) -> tuple[Json, bool, tuple[str, ...]]:
    """A request with tools; True if its answer must use functions; and the names of members that were dropped.

    The same body where no translation is needed. Where a request has tools, its functions are dropped and the
    answer uses tools. Raises InvalidRequest naming the field.
    """
    sent = body.get("messages")
    if not has_plain_messages and isinstance(sent, list) and any(map(_is_of_functions, sent)):
        body = {**body, "messages": list(_with_tool_messages(sent))}
    given = {name: body[name] for name in (_FUNCTIONS, FUNCTION_CALL) if body.get(name)}
    if not given:
        return body, False, ()
    body = {name: value for name, value in body.items() if name not in given}
    if body.get("tools"):
        return body, False, tuple(given)
    functions = [one for one, _ in members.objects(given.get(_FUNCTIONS, []), _FUNCTIONS)]
    tools = [{"type": "function", "function": one} for one in functions]
    translated: dict[str, Any] = {"tools": tools} if tools else {}
    if FUNCTION_CALL in given:
        translated["tool_choice"] = _tool_choice(given[FUNCTION_CALL])
    return {**translated, **body}, True, ()


def _tool_choice(value: object) -> object:
    if isinstance(value, str):
        return value
    name = members.as_text(members.as_object(value, FUNCTION_CALL).get("name"), f"{FUNCTION_CALL}.name")
    return {"type": "function", "function": {"name": name}}


def _is_of_functions(message: object) -> bool:
    return isinstance(message, dict) and (message.get("role") == "function" or bool(message.get(FUNCTION_CALL)))


def _with_tool_messages(sent: list[Any]) -> Iterator[Any]:
    """The messages with tool calls and answers. A call's id is made from its place; an answer gets its call's id."""
    open_calls: dict[str, str] = {}  # function → the id of its newest call without an answer
    for n, message in enumerate(sent):
        if not _is_of_functions(message):
            yield message
        elif message.get("role") == "function":
            name = members.text(message, "name", at=f"messages[{n}].") or ""
            rest = {member: value for member, value in message.items() if member != "name"}
            yield {**rest, "role": "tool", "tool_call_id": open_calls.pop(name, f"call_{n}")}
        else:
            called = members.as_object(message[FUNCTION_CALL], f"messages[{n}].{FUNCTION_CALL}")
            rest = {member: value for member, value in message.items() if member != FUNCTION_CALL}
            open_calls[members.text(called, "name", at=f"messages[{n}].{FUNCTION_CALL}.") or ""] = f"call_{n}"
            call = {"id": f"call_{n}", "type": "function", "function": called}
            yield rest if message.get("tool_calls") else {**rest, "tool_calls": [call]}


def write_request(request: ModelRequest, *, stream: bool) -> dict[str, Any]:
    """The request to a model's server; without a model the member is left out.

    Of a config tree's request only its options, the messages, the model, the tools, and the members that a client was
    allowed to add are written.
    """
    body: dict[str, Any] = {"model": request.model} if _names_model(request) else {}
    body["messages"] = write_messages(request.messages)
    body |= write_sampling(request.sampling, reasoning=is_reasoning_model(request.model))
    body |= _write_tools(request)
    if request.output is not None:
        body["response_format"] = write_response_format(request.output)
    effort = effort_of(request)
    if effort is not None:
        body["reasoning_effort"] = effort
    if request.choices > 1:
        body["n"] = request.choices
    if request.options is not None:
        body |= request.options
    elif stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return body if request.extra is None else merged_members(members_for(request.extra, ROUTE), body)


def _names_model(request: ModelRequest) -> bool:
    """True when the model's name is sent: an empty one only where a config tree sets it."""
    return bool(request.model) if request.options is None else request.model is not None


def _write_tools(request: ModelRequest) -> dict[str, Any]:
    body: dict[str, Any] = {"tools": list(request.tools)} if request.tools else {}
    return body if request.tool_choice is None else {**body, "tool_choice": request.tool_choice}


def write_sampling(sampling: Sampling, *, reasoning: bool = False) -> dict[str, Any]:
    """Sampling members. The limit has the name that a client gave it, if it gave the newer one.

    Else it is `max_tokens`, which older servers know. Reasoning models know only the newer name and no temperature.
    """
    if not has_sampling(sampling):  # the case of nearly all chats
        return {}
    given: dict[str, Any] = {
        "max_completion_tokens" if reasoning else sampling.limit_name or "max_tokens": sampling.max_tokens,
        "stop": list(sampling.stop) or None,
        "seed": sampling.seed,
        "presence_penalty": sampling.presence_penalty,
        "frequency_penalty": sampling.frequency_penalty,
    }
    if not reasoning:
        given |= {"temperature": sampling.temperature, "top_p": sampling.top_p}
    return {name: value for name, value in given.items() if value is not None}
