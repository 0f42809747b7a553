"""Tool calls in Ollama's format, read and written.

Their arguments are a JSON object, where OpenAI's are text. This protocol cannot express a text that is no object:
sent under an invented name, it would call the tool with a parameter that it does not have. So it is an error that
names the call.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from mnemoir.core.errors import InvalidRequest, ProviderInvalidOutput
from mnemoir.core.messages import Extra, Route, ToolCall
from mnemoir.wire import members, upstream
from mnemoir.wire.answers.call_ids import CallIds, read_call_id
from mnemoir.wire.answers.exact_numbers import check_numbers, exact_object
from mnemoir.wire.members import Json, asked_extra, members_for, merged_members, within
from mnemoir.wire.second_reading import mended_arguments

_ROUTE: Route = "ollama-chat"
_OF_CALLS = frozenset({"id", "function"})
_OF_FUNCTIONS = frozenset({"index", "name", "arguments"})


def read_tool_calls(value: object, field: str) -> tuple[ToolCall, ...]:
    """Read whole calls. A call without an id gets one by its place. Raises InvalidRequest naming the field."""
    calls: list[ToolCall] = []
    for body, at in members.objects(value or [], field):
        function = members.as_object(body.get("function"), f"{at}.function")
        call = ToolCall(
            id=members.text(body, "id", at=f"{at}.") or f"call_{len(calls)}",
            name=members.as_text(function.get("name"), f"{at}.function.name"),
            arguments=_read_arguments(function.get("arguments"), f"{at}.function.arguments"),
            extra=_extra(body, function, at),
        )
        calls.append(call)
    return tuple(calls)


def read_upstream_calls(value: object, ids: CallIds) -> tuple[ToolCall, ...]:
    """The tool calls of an answer, or of a line of it, each with an id of its own. Null stands for none.

    A wrong shape is the server's fault. Raises RoundedNumber for arguments with a number that the decoder changed.
    """
    if value and not isinstance(value, list):
        raise upstream.unusable("tool calls that are not a list")
    given = [call for call in value if call is not None] if isinstance(value, list) else []
    for call in given:
        check_numbers(upstream.member(upstream.member(call, "function"), "arguments"))
    own_ids = [read_call_id(upstream.member(call, "id")) for call in given]
    try:
        calls = read_tool_calls([_without_id(call) for call in given], "tool_calls")
    except InvalidRequest as exc:
        raise upstream.unusable(f"an unusable tool call: {exc.message.rstrip('.')}") from exc
    if not all(call.name for call in calls):
        raise upstream.unusable("a tool call without a name")
    return tuple(replace(call, id=ids.take(own)) for call, own in zip(calls, own_ids, strict=True))


def _without_id(call: object) -> object:
    """A call without its id, which may be of any type in an answer."""
    return {name: value for name, value in call.items() if name != "id"} if isinstance(call, dict) else call


def write_asked_calls(calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
    """Earlier calls, for a request to a model. Raises InvalidRequest for arguments that are no JSON object."""
    broken = next((call for call in calls if mended_arguments(call.arguments) is None), None)
    if broken is not None:
        raise InvalidRequest(
            f"A message holds a call of the tool {broken.name!r} with arguments that are not a JSON object, and "
            "Ollama's protocol takes nothing else. Correct the call, or leave it out.",
            field="messages.tool_calls",
        )
    return _write_calls(calls)


def write_answered_calls(calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
    """Calls of an answer. Raises ProviderInvalidOutput for arguments that are no JSON object."""
    broken = next((call for call in calls if mended_arguments(call.arguments) is None), None)
    if broken is not None:
        raise ProviderInvalidOutput(
            f"The model called the tool {broken.name!r} with arguments that are not a JSON object: "
            f"{upstream.excerpt(broken.arguments.encode())}. Ask again, or ask a model that is better at tools."
        )
    return _write_calls(calls)


def _write_calls(calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
    written: list[dict[str, Any]] = []
    for n, call in enumerate(calls):
        body = {
            "id": call.id,
            "function": {"index": n, "name": call.name, "arguments": _object_of(call.arguments)},
        }
        written.append(body if call.extra is None else merged_members(members_for(call.extra, _ROUTE), body))
    return written


def _object_of(arguments: str) -> dict[str, Any] | None:
    value = mended_arguments(arguments)
    return None if value is None else exact_object(arguments, value)


def _read_arguments(value: object, field: str) -> str:
    """The arguments as text; some servers and clients send them as text already."""
    if isinstance(value, str):
        if mended_arguments(value) is None:
            raise InvalidRequest(f"{field} must be an object, it is a string that holds none.", field=field)
        return value
    return members.object_text(members.as_object({} if value is None else value, field), field)


def _extra(body: Json, function: Json, at: str) -> Extra | None:
    """Members that Mnemoir does not read; those of the function are kept in its object, unchanged."""
    of_call = asked_extra(body, _OF_CALLS, _ROUTE, f"{at}.")
    of_function = asked_extra(function, _OF_FUNCTIONS, _ROUTE, f"{at}.function.")
    return within(of_call, "function", of_function)
