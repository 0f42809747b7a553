"""Functions, as OpenAI's chat protocol named tools before there were tools: read as tools, and written back.

Older clients send `functions` and `function_call`, keep calls as `function_call` of an assistant message, and answer
them with messages of the role `function`. Model servers of today want tools. So a request is translated before it is
read, and its answer is translated when it is written. The old protocol has one call in an answer: further ones are
left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mnemoir.core.events import Event, ToolCallPart
from mnemoir.wire import members
from mnemoir.wire.members import Json

_FUNCTIONS, _CHOICE = "functions", "function_call"
FUNCTION_NAMES: Mapping[str, str] = {"tools": _FUNCTIONS, "tool_choice": _CHOICE}
"""What a client of functions calls the members that tools have."""


def with_tools(body: Json) -> tuple[Json, bool, tuple[str, ...]]:
    """A request of tools, whether its answer must speak of functions, and the names of members that were dropped.

    The very same body where nothing is to be translated. Where a request has tools, its functions are dropped and the
    answer speaks of tools. Raises InvalidRequest naming the field.
    """
    sent = body.get("messages")
    if isinstance(sent, list) and any(map(_is_of_functions, sent)):
        body = {**body, "messages": list(_with_tool_messages(sent))}
    given = {name: body[name] for name in (_FUNCTIONS, _CHOICE) if body.get(name)}
    if not given:
        return body, False, ()
    body = {name: value for name, value in body.items() if name not in given}
    if body.get("tools"):
        return body, False, tuple(given)
    functions = [one for one, _ in members.objects(given.get(_FUNCTIONS, []), _FUNCTIONS)]
    tools = [{"type": "function", "function": one} for one in functions]
    translated: dict[str, Any] = {"tools": tools} if tools else {}
    if _CHOICE in given:
        translated["tool_choice"] = _tool_choice(given[_CHOICE])
    return {**translated, **body}, True, ()


def without_further_calls(batch: Sequence[Event]) -> Sequence[Event]:
    """The events without the calls behind the first one, so that what is kept is what the client sees."""
    return [event for event in batch if not (isinstance(event, ToolCallPart) and event.index)]


def of_function_call(choice: Json) -> Json:
    """A choice of an answer, or of a piece of a streamed one, with the first tool call as its function call."""
    choice = _with_reason(choice)
    part = next((name for name in ("message", "delta") if isinstance(choice.get(name), Mapping)), None)
    if part is None or "tool_calls" not in choice[part]:
        return choice
    said = {name: value for name, value in choice[part].items() if name != "tool_calls"}
    calls = choice[part]["tool_calls"]
    first = next((call for call in calls or () if isinstance(call, Mapping) and not call.get("index")), None)
    if first is not None and isinstance(first.get("function"), Mapping):
        said[_CHOICE] = first["function"]
    return {**choice, part: said}


def _with_reason(choice: Json) -> Json:
    return {**choice, "finish_reason": _CHOICE} if choice.get("finish_reason") == "tool_calls" else choice


def _tool_choice(value: object) -> object:
    if isinstance(value, str):
        return value
    name = members.as_text(members.as_object(value, _CHOICE).get("name"), f"{_CHOICE}.name")
    return {"type": "function", "function": {"name": name}}


def _is_of_functions(message: object) -> bool:
    return isinstance(message, dict) and (message.get("role") == "function" or bool(message.get(_CHOICE)))


def _with_tool_messages(sent: list[Any]) -> Iterator[Any]:
    """The messages with tool calls and their answers. A call gets its id by its place, an answer that of its call."""
    open_calls: dict[str, str] = {}  # function → the id of its newest call without an answer
    for n, message in enumerate(sent):
        if not _is_of_functions(message):
            yield message
        elif message.get("role") == "function":
            name = members.text(message, "name", at=f"messages[{n}].") or ""
            rest = {member: value for member, value in message.items() if member != "name"}
            yield {**rest, "role": "tool", "tool_call_id": open_calls.pop(name, f"call_{n}")}
        else:
            called = members.as_object(message[_CHOICE], f"messages[{n}].{_CHOICE}")
            rest = {member: value for member, value in message.items() if member != _CHOICE}
            open_calls[members.text(called, "name", at=f"messages[{n}].{_CHOICE}.") or ""] = f"call_{n}"
            call = {"id": f"call_{n}", "type": "function", "function": called}
            yield rest if message.get("tool_calls") else {**rest, "tool_calls": [call]}
