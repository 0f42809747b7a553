"""Structured output: answers of a fixed shape, `response_format` or `format` in the dialects."""

from collections.abc import Mapping
from typing import Any

from mnemoir.core.errors import InvalidRequest
from mnemoir.core.messages import Extra, JsonSchema
from mnemoir.wire import members
from mnemoir.wire.members import members_for

ANY_OBJECT = JsonSchema(name="json_object", schema={"type": "object"})
"""Any JSON object: OpenAI's `json_object`, Ollama's `json`."""
_LOCAL = ("grammar", "regex")
_WITH_SCHEMA = ("json_object", "json_schema")


def read_response_format(value: object, field: str) -> JsonSchema | None:
    """Read OpenAI's `response_format` of a chat request."""
    if value is None:
        return None
    body = members.as_object(value, field)
    kind = members.text(body, "type", at=f"{field}.")
    if kind in (None, "text"):
        return None
    if kind in _LOCAL or (
        kind in _WITH_SCHEMA and body.get("json_schema") is None and body.get("schema") is not None
    ):
        schema = members.as_object(body.get("schema") or {}, f"{field}.schema")
        extra = Extra(route="openai-chat", members=body)
        return JsonSchema(name="answer", schema=schema, extra=extra, is_local_form=True)
    if kind == "json_object":
        return ANY_OBJECT
    if kind != "json_schema":
        known = "text, json_object, json_schema, grammar or regex"
        raise InvalidRequest(f"{field}.type must be {known}.", field=f"{field}.type")
    given = members.as_object(body.get("json_schema"), f"{field}.json_schema")
    at = f"{field}.json_schema."
    return JsonSchema(
        name=members.text(given, "name", at=at) or "answer",
        schema=members.as_object(given.get("schema") or {}, f"{at}schema"),
        strict=members.boolean(given, "strict", at=at) if given.get("strict") is not None else None,
        description=members.text(given, "description", at=at),
        extra=Extra(route="openai-chat", members=body),
    )


def write_response_format(output: JsonSchema) -> Mapping[str, Any]:
    """The `response_format` of a chat request to a model: as the client wrote it, where it came by this protocol."""
    if as_sent := members_for(output.extra, "openai-chat"):
        return as_sent
    if output == ANY_OBJECT:
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": named_schema(output)}


def named_schema(output: JsonSchema) -> dict[str, Any]:
    """The name and the schema, with `strict` and the description where they were given."""
    named: dict[str, Any] = {"name": output.name, "schema": dict(output.schema)}
    if output.strict is not None:
        named["strict"] = output.strict
    return named if output.description is None else {**named, "description": output.description}


def is_closed(schema: Mapping[str, Any]) -> bool:
    """True when strict mode accepts the schema: every object closed, every property required.

    Ollama's `format` always binds the model, so it becomes `strict` at OpenAI's servers where they accept it. Walks
    without recursion, because a client chooses the depth of nesting. Source: OpenAI's guide to structured outputs.
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
