"""Step 5: call the tools, one after the other.

`tool_calls` is the output of step 4, `tools` the `discovered_tools_map` of step 2. Returns a text that begins with
`Tool Results:` and has for every call its result or the reason of its refusal; without calls, `tool_calls` itself.
Only discovered tools are called. Values from the model are data: encoded in the address, or in the body.
"""

import ast
import json
from typing import Any
from urllib.parse import quote, urlencode

from mcpo_calls import ToolCall, read_calls  # type: ignore[import-not-found]
from mcpo_operations import METHODS  # type: ignore[import-not-found]
from mcpo_services import ServiceError, fetch, service_url  # type: ignore[import-not-found]

TIMEOUT_S = 900
MOST_BYTES = 8 * 1024 * 1024  # of an answer
MOST_CHARACTERS = 100_000  # of a result in the text
MOST_CALLS = 16


def Invoke(tool_calls: str, tools: str) -> str:
    calls = read_calls(tool_calls)
    if not calls:
        return tool_calls
    known = _read_tools(tools)
    results = [f"{call['name'][:128]}: {_result(call, known)}" for call in calls[:MOST_CALLS]]
    if len(calls) > MOST_CALLS:
        results.append(f"{len(calls) - MOST_CALLS} more calls were not made; {MOST_CALLS} are allowed at a time.")
    return "\n\n".join(["Tool Results:", *results])


def _read_tools(tools: str) -> dict[str, Any]:
    """The map, read as JSON or in Python's notation."""
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(tools)
        except (ValueError, SyntaxError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    return {}


def _result(call: ToolCall, known: dict[str, Any]) -> str:
    tool = known.get(call["name"])
    if not isinstance(tool, dict):
        return "refused, because there is no tool of this name"
    try:
        return _answer_of_tool(tool, dict(call["parameters"]))
    except ServiceError as exc:
        return f"failed: {exc}"


def _answer_of_tool(tool: dict[str, Any], given: dict[str, Any]) -> str:
    method = str(tool.get("method", "")).lower()
    if method not in METHODS:
        raise ServiceError(f"its method {method[:20]!r} is not one of tools")
    url = service_url(str(tool.get("service")), str(tool.get("path")))
    url, rest = _address(url, tool.get("parameters") or [], given)
    if rest and method == "get":
        raise ServiceError(f"it has no parameter {', '.join(rest)[:200]}")
    body = None if method in ("get", "delete") and not rest else json.dumps(rest).encode()
    status, answer = fetch(method.upper(), url, body=body, timeout_s=TIMEOUT_S, most_bytes=MOST_BYTES)
    text = answer.decode(errors="replace")
    if len(text) > MOST_CHARACTERS:
        text = f"{text[:MOST_CHARACTERS]} [cut after {MOST_CHARACTERS} characters]"
    return text if 200 <= status < 300 else f"failed with HTTP {status}: {text}"


def _address(url: str, parameters: list[dict[str, Any]], given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The address with the parameters of path and query in it, and the remaining parameters."""
    rest, query = dict(given), []
    for parameter in parameters:
        name = str(parameter["name"])
        meant = next((key for key in rest if _bare(key) == _bare(name)), None)
        if meant is None and parameter.get("required"):
            raise ServiceError(f"its parameter {name!r} is missing")
        if meant is None:
            continue
        if parameter["in"] == "path":
            url = url.replace("{" + name + "}", _path_step(name, rest.pop(meant)))
        else:
            query += [(name, _text(value)) for value in _each(rest.pop(meant))]
    if "{" in url:
        raise ServiceError("its path has undeclared parameters")
    return f"{url}?{urlencode(query)}" if query else url, rest


def _bare(name: str) -> str:
    """The name for comparison: models write `userId` for `user_id`."""
    return name.lower().replace("_", "")


def _path_step(name: str, value: Any) -> str:
    text = _text(value)
    if text in ("", ".", ".."):
        raise ServiceError(f"its parameter {name!r} may not be {text!r}")
    return quote(text, safe="")


def _each(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
