"""JSON Schemas of the files of a config tree, generated from their models, for editors and for a UI.

They describe files as they should be written, without the tolerance of reading (`"true"` for true), except that null
is allowed for every optional property. Unknown properties are allowed everywhere except in the `memory` of a node.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from mnemoir.workflows.config.endpoint import KINDS, ApiType, EndpointDefinition, PromptTemplate
from mnemoir.workflows.config.memory import DiscussionSettings
from mnemoir.workflows.config.routing import RoutingTable
from mnemoir.workflows.config.user import UserSettings
from mnemoir.workflows.node import Node

Schema = dict[str, Any]  # JSON

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NULL: Schema = {"type": "null"}
_PRESET: Schema = {
    "title": "preset",
    "description": "Sampler settings by the server's own names; null leaves one out.",
    "type": "object",
}


def schemas(node_types: Mapping[str, type[Node[Any]]]) -> Mapping[str, Schema]:
    """One schema for each kind of file in the tree, by the name of the kind."""
    made = {
        "users": _of("user", UserSettings),
        "endpoints": _of("endpoint", EndpointDefinition),
        "api-types": _api_type(),
        "presets": _PRESET,
        "prompt-templates": _of("prompt template", PromptTemplate),
        "routing": _of("routing table", RoutingTable),
        "discussion-settings": _of("discussion settings", DiscussionSettings),
        "workflows": _workflow(node_types),
    }
    return {name: {"$schema": _DIALECT, **schema} for name, schema in made.items()}


class _Generator(GenerateJsonSchema):
    """Generates schemas without titles of fields, which would only repeat the keys in other words."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _of(title: str, model: type[BaseModel], prefix: str = "") -> Schema:
    template = f"#/$defs/{prefix}{{model}}"
    schema = model.model_json_schema(by_alias=True, ref_template=template, schema_generator=_Generator)
    for inner in (schema, *schema.get("$defs", {}).values()):
        _allow_nulls(inner)
    return {**schema, "title": title}


def _api_type() -> Schema:
    schema = _of("API type", ApiType)
    schema["properties"]["type"]["examples"] = sorted(KINDS)
    return schema


def _allow_nulls(schema: Schema) -> None:
    """Allow null for each optional property."""
    required = schema.get("required", ())
    for key, inner in schema.get("properties", {}).items():
        if key not in required:
            schema["properties"][key] = _or_null(inner)


def _or_null(schema: Schema) -> Schema:
    kind = schema.get("type")
    if isinstance(kind, str):
        return {**schema, "type": [kind, "null"]}
    if "anyOf" in schema:
        choices = schema["anyOf"]
        return schema if _NULL in choices else {**schema, "anyOf": [*choices, _NULL]}
    if "$ref" in schema:
        others = {key: value for key, value in schema.items() if key != "$ref"}
        return {"anyOf": [{"$ref": schema["$ref"]}, _NULL], **others}
    return schema


def _workflow(node_types: Mapping[str, type[Node[Any]]]) -> Schema:
    """The schema of both formats. A node follows the branch of its type; one of an unknown type is not restricted."""
    kinds = {kind.kind: kind for kind in node_types.values()}
    definitions: Schema = {}
    for name, kind in sorted(kinds.items()):
        branch = _of(name, kind.properties_type, f"{name}.")
        definitions |= {f"{name}.{inner}": schema for inner, schema in branch.pop("$defs", {}).items()}
        definitions[name] = {**branch, "description": kind.__doc__ or name}
    definitions["node"] = _node(kinds)
    nodes: Schema = {"type": "array", "items": {"$ref": "#/$defs/node"}}
    return {
        "title": "workflow",
        "description": "A list of nodes, or an object whose `nodes` is that list; its other members are variables.",
        "type": ["array", "object"],
        "items": nodes["items"],
        "properties": {"nodes": nodes},
        "$defs": definitions,
    }


def _node(kinds: Mapping[str, type[Node[Any]]]) -> Schema:
    suggested: Schema = {"anyOf": [{"enum": sorted(kinds)}, {"type": ["string", "null"]}]}
    return {"type": "object", "properties": {"type": suggested}, "allOf": list(_branches(kinds))}


def _branches(kinds: Mapping[str, type[Node[Any]]]) -> Iterator[Schema]:
    for name, kind in sorted(kinds.items()):
        condition: Schema = {"properties": {"type": {"type": "string", "pattern": _pattern(name, *kind.aliases)}}}
        if name != "Standard":  # the type of a node without a type
            condition["required"] = ["type"]
        yield {"if": condition, "then": {"$ref": f"#/$defs/{name}"}}


def _pattern(*names: str) -> str:
    """A pattern for the names in any case, spelled out by letter, as JSON Schema has no flag for that."""
    spelled = ("".join(_either(character) for character in name) for name in names)
    return f"^({'|'.join(spelled)})$"


def _either(character: str) -> str:
    return f"[{character.upper()}{character.lower()}]" if character.isalpha() else character
