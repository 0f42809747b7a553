"""Example values for the shapes of the OpenAPI description, with words that a reader can send as they are."""

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

_DEEPEST = 6  # shapes may hold themselves
_TIME = "2026-11-21T09:30:00Z"
# by the name of a member, where its type says too little
_NAMED: Mapping[str, Any] = {
    "user": "mira",
    "user_id": "mira",
    "query": "outdoor activities",
    "messages": [{"role": "user", "content": "I love hiking in the mountains."}],
    "memory": "Loves hiking in the mountains",
    "text": "Loves hiking in the mountains",
    "content": "I love hiking in the mountains.",
    "model": "mnemoir",
    "prompt": "Once upon a time",
    "input": "hiking in the mountains",
    "role": "user",
    "name": "garden",
    "title": "Hiking",
    "at": _TIME,
}
# a request needs none of these, but one without them shows nothing
_WORTH_SENDING = {"ChatCompletionBody": {"model": "mnemoir", "user": "mira", "memoryEnabled": True}}


def example_of(schema: Mapping[str, Any], schemas: Mapping[str, Any], *, is_request: bool = False) -> Any:
    """A value of the shape. Of a request it has the members that are needed, of an answer all of them."""
    return _Examples(schemas, is_request).value(schema, "", 0)


class _Examples:
    def __init__(self, schemas: Mapping[str, Any], is_request: bool) -> None:
        self._schemas = schemas
        self._is_request = is_request

    def value(self, schema: Mapping[str, Any], name: str, depth: int) -> Any:
        if "$ref" in schema:
            named = schema["$ref"].rpartition("/")[2]
            return self._object(self._schemas.get(named, {}), name, depth, _WORTH_SENDING.get(named, {}))
        for choice in ("anyOf", "oneOf"):
            if choice in schema:
                return self.value(_first_that_is_something(schema[choice]), name, depth)
        if "const" in schema or "enum" in schema:
            return schema.get("const", schema.get("enum", [None])[0])
        if name in _NAMED and (depth > 0 or self._is_request) and _is_of(_NAMED[name], schema):
            return _NAMED[name]
        return self._of_type(schema, name, depth)

    def _of_type(self, schema: Mapping[str, Any], name: str, depth: int) -> Any:
        match schema.get("type"):
            case "object":
                return self._object(schema, name, depth, {})
            case "array":
                item = self.value(schema.get("items", {}), name.removesuffix("s"), depth + 1)
                return [] if depth >= _DEEPEST else [item] * schema.get("minItems", 1)
            case "string":
                return _text(schema, name)
            case "integer":
                return max(schema.get("minimum", 0), 1)
            case "number":
                return 0.5
            case "boolean":
                return True
        return None

    def _object(self, schema: Mapping[str, Any], name: str, depth: int, worth: Json) -> Any:
        if "properties" not in schema and schema.get("type") != "object":
            return self.value(schema, name, depth)
        members, required = schema.get("properties", {}), schema.get("required", ())
        shown = [key for key in members if not self._is_request or key in required]
        if depth >= _DEEPEST:
            return {}
        return {key: self.value(members[key], key, depth + 1) for key in shown} | worth


def _first_that_is_something(choices: list[Json]) -> Json:
    return next((choice for choice in choices if choice.get("type") != "null"), {})


def _is_of(value: Any, schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == ("array" if isinstance(value, list) else "string")


def _text(schema: Mapping[str, Any], name: str) -> str:
    if schema.get("format") == "date":
        return _TIME[:10]
    if schema.get("format") == "date-time" or name.endswith(("_at", "_to", "_from", "_until")):
        return _TIME
    return name.removesuffix("_id") or "text"
