"""The tools in the OpenAPI description of a service: their description for a model, and their calls.

A description comes from another program: parts without the expected form are ignored.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, TypedDict

METHODS = ("get", "post", "put", "patch", "delete")
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_MOST_TOOLS = 64  # of one service
_MOST_PARAMETERS = 64  # of one tool
_MOST_SHOWN = 300  # characters of one description
_MOST_REFERENCES = 8  # followed in a chain, as they may form a circle


class Tool(TypedDict):
    """A tool: `shown` is its description for a model, `call` the data for calling it.

    `call` has `service`, `path` and `method`, and the `parameters` of path and query as `{"name", "in", "required"}`.
    """

    shown: dict[str, Any]
    call: dict[str, Any]


def tools_in(description: dict[str, Any], service: str) -> Iterator[tuple[str, Tool]]:
    """The operations with an id, as tools by that id."""
    return islice(_operations(description, service), _MOST_TOOLS)


def _operations(description: dict[str, Any], service: str) -> Iterator[tuple[str, Tool]]:
    for path, methods in _object(description.get("paths")).items():
        for method in METHODS:
            operation = _object(_object(methods).get(method))
            name = operation.get("operationId")
            if isinstance(name, str) and _NAME.fullmatch(name):
                outside = _outside(
                    description, [*_list(methods.get("parameters")), *_list(operation.get("parameters"))]
                )
                call = {
                    "service": service,
                    "path": path,
                    "method": method,
                    "parameters": list(map(_call_parameter, outside)),
                }
                yield name, {"shown": _tool(description, operation, outside), "call": call}


def _outside(description: dict[str, Any], parameters: list[Any]) -> list[dict[str, Any]]:
    """The parameters of path and query. Models set no headers."""
    found = [_resolved_object(description, parameter) for parameter in parameters]
    return [one for one in found if one.get("in") in ("path", "query") and isinstance(one.get("name"), str)]


def _call_parameter(parameter: dict[str, Any]) -> dict[str, Any]:
    return {"name": parameter["name"], "in": parameter["in"], "required": _is_required(parameter)}


def _tool(description: dict[str, Any], operation: dict[str, Any], outside: list[dict[str, Any]]) -> dict[str, Any]:
    parameters = {
        one["name"]: _shown_parameter(description, one, one.get("schema"), _is_required(one)) for one in outside
    }
    parameters |= _body(description, operation)
    said = operation.get("description") or operation.get("summary") or ""
    return {
        "description": str(said)[:_MOST_SHOWN],
        "parameters": dict(islice(parameters.items(), _MOST_PARAMETERS)),
    }


def _body(description: dict[str, Any], operation: dict[str, Any]) -> dict[str, Any]:
    """The members of a JSON body, which models give like other parameters."""
    content = _object(_resolved_object(description, operation.get("requestBody")).get("content"))
    schema = _resolved_object(description, _object(content.get("application/json")).get("schema"))
    required = _list(schema.get("required"))
    members = _object(schema.get("properties"))
    return {name: _shown_parameter(description, member, member, name in required) for name, member in members.items()}


def _shown_parameter(description: dict[str, Any], item: Any, schema: Any, required: bool) -> dict[str, Any]:
    schema = _resolved_object(description, schema)
    said = {"type": schema.get("type"), "enum": _list(schema.get("enum"))[:_MOST_PARAMETERS]}
    text = _object(item).get("description") or schema.get("description") or ""
    return {key: value for key, value in said.items() if value} | {
        "description": str(text)[:_MOST_SHOWN],
        "required": required,
    }


def _is_required(parameter: dict[str, Any]) -> bool:
    return parameter["in"] == "path" or parameter.get("required") is True


def _resolved_object(description: dict[str, Any], schema: Any) -> dict[str, Any]:
    """The object itself, or the object in the same description that it refers to."""
    found = _object(schema)
    for _ in range(_MOST_REFERENCES):
        reference = found.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            break
        found = description
        for step in reference[2:].split("/"):
            found = _object(found.get(step.replace("~1", "/").replace("~0", "~")))
    return found


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
