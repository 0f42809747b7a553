"""Answers of a fixed shape: what the dialects call structured output, `response_format` or `format`."""

from collections.abc import Mapping
from typing import Any

from mnemoir.core.errors import InvalidRequest
from mnemoir.core.messages import JsonSchema
from mnemoir.wire import members

ANY_OBJECT = JsonSchema(name="json_object", schema={"type": "object"})
"""Any JSON object: OpenAI's `json_object`, Ollama's `json`."""


def read_response_format(value: object, field: str) -> JsonSchema | None:
    """OpenAI's `response_format` of a chat request."""
    if value is None:
        return None
    body = members.as_object(value, field)
    kind = members.text(body, "type", at=f"{field}.")
    if kind in (None, "text"):
        return None
    if kind == "json_object":
        return ANY_OBJECT
    if kind != "json_schema":
        raise InvalidRequest(f"{field}.type must be text, json_object or json_schema.", field=f"{field}.type")
    given = members.as_object(body.get("json_schema"), f"{field}.json_schema")
    name = members.text(given, "name", at=f"{field}.json_schema.") or "answer"
    return JsonSchema(name=name, schema=members.as_object(given.get("schema") or {}, f"{field}.json_schema.schema"))


def write_response_format(output: JsonSchema) -> dict[str, Any]:
    """The same, for a chat request of ours."""
    if output == ANY_OBJECT:
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": named_schema(output)}


def named_schema(output: JsonSchema) -> dict[str, Any]:
    """Name, schema, and `strict` where the schema is fit for it."""
    return {"name": output.name, "strict": is_closed(output.schema), "schema": dict(output.schema)}


def is_closed(schema: Mapping[str, Any]) -> bool:
    """Whether strict mode takes the schema: every object closed, every property required.

    A schema that is not would be refused with `strict`, so a client's own loose schema goes out without it. Walks
    without recursion, because a client decides how deep it nests. Source: OpenAI's guide to structured outputs.
    """
    waiting: list[object] = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, Mapping):
            properties = node.get("properties")
            if node.get("type") != "object" and not isinstance(properties, Mapping):
                waiting += node.values()
                continue
            if not _is_closed_object(node, properties or {}):
                return False
            waiting += (properties or {}).values()
    return True


def _is_closed_object(node: Mapping[str, Any], properties: Mapping[str, Any]) -> bool:
    required = node.get("required", [])
    if node.get("additionalProperties") is not False or not isinstance(required, list):
        return False
    return isinstance(properties, Mapping) and all(name in required for name in properties)
