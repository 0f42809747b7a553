"""The OpenAPI description: FastAPI's, with the bodies that routes read themselves and the routes it does not know.

Every operation lists the one shape of errors. A member that may be left out of a body is not required and has no
default in the description: generated clients would treat it as always present.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode

from mnemoir.server.door.rest_routes import RestRoute
from mnemoir.server.door.says import DeclaredRoute, PlainRoute
from mnemoir.server.protocols import description
from mnemoir.server.rest import BodyOf

Json = dict[str, Any]

_REF = "#/components/schemas/{model}"
_PROJECT = {
    "name": "project",
    "in": "query",
    "required": False,
    "schema": {"type": "string"},
    "description": description.PROJECT,
}
_KEYS = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "azure": {"type": "apiKey", "in": "header", "name": "api-key"},
}
_ANY_KEY: list[Json] = [{}, {"bearer": []}, {"header": []}, {"azure": []}]  # {}: a server may require none
# FastAPI's own shapes for an invalid request; this server has one shape for all errors
_NOT_OURS = ("HTTPValidationError", "ValidationError")


def describe(app: FastAPI, routes: Sequence[DeclaredRoute], root_path: str) -> Json:
    """The whole description of the routes of an application, and of those beside it."""
    schema = get_openapi(
        title=app.title,
        version=app.version,
        description=app.description,
        routes=routes,
        servers=[{"url": root_path}] if root_path else None,
    )
    components = schema.setdefault("components", {}).setdefault("schemas", {})
    components.update(_answers([*_shapes_of(routes), *description.answers()]))
    components.update(_bodies([*_tell_bodies(schema["paths"], routes), *description.bodies()]))
    for name in _NOT_OURS:
        components.pop(name, None)
    _tell_projects(schema["paths"], routes)
    for route, method in _operations(routes):
        path = route.path_format
        if isinstance(route, PlainRoute):
            schema["paths"].setdefault(path, {})[method] = description.operation(path, method)
        _complete(schema["paths"][path][method], path, is_open=route.says.right == "open")
    schema["components"]["securitySchemes"] = _KEYS
    schema["security"] = _ANY_KEY
    return schema


def _operations(routes: Iterable[DeclaredRoute]) -> Iterator[tuple[DeclaredRoute, str]]:
    """Each described route with each of its methods, in lower case."""
    for route in routes:
        if route.include_in_schema:
            yield from ((route, method.lower()) for method in sorted(set(route.methods or ()) - {"HEAD"}))


class _Written(GenerateJsonSchema):
    """Schemas of answers: a dataclass has exactly its members, all of them required regardless of defaults."""

    def field_is_required(self, field: Any, total: bool) -> bool:
        return field["type"] == "dataclass-field" or super().field_is_required(field, total)

    def dataclass_schema(self, schema: Any) -> Json:
        return {**super().dataclass_schema(schema), "additionalProperties": False}

    def default_schema(self, schema: Any) -> Json:
        return self.generate_inner(schema["schema"])


def _answers(shapes: Iterable[Any]) -> Json:
    return _schemas(shapes, "serialization", _Written)


def _shapes_of(routes: Iterable[Any]) -> Iterator[Any]:
    for route in routes:
        if isinstance(route, APIRoute):
            yield from (told["model"] for told in route.responses.values() if "model" in told)
            if route.response_model is not None:
                yield route.response_model


def _bodies(shapes: Iterable[Any]) -> Json:
    schemas = _schemas(shapes, "validation", GenerateJsonSchema)
    for schema in schemas.values():
        for member in schema.get("properties", {}).values():
            member.pop("default", None)
    return schemas


def _schemas(shapes: Iterable[Any], mode: JsonSchemaMode, generator: type[GenerateJsonSchema]) -> Json:
    asked = [(place, mode, TypeAdapter(shape)) for place, shape in enumerate(dict.fromkeys(shapes))]
    _, found = TypeAdapter.json_schemas(asked, ref_template=_REF, schema_generator=generator)
    schemas: Json = found.get("$defs", {})
    return schemas


def _tell_bodies(paths: Json, routes: Iterable[Any]) -> Iterator[type]:
    """Add the body of each route that reads one itself; yield its model."""
    for route in routes:
        body = _body_of(route.dependant) if isinstance(route, APIRoute) else None
        if body is not None and route.include_in_schema:
            told = {"required": body.required, "content": {"application/json": description.schema_of(body.model)}}
            for method in route.methods:
                paths[route.path_format][method.lower()]["requestBody"] = told
            yield body.model


def _body_of(dependant: Dependant) -> BodyOf[Any] | None:
    found = (one.call for one in dependant.dependencies if isinstance(one.call, BodyOf))
    return next(found, None)


def _tell_projects(paths: Json, routes: Iterable[DeclaredRoute]) -> None:
    """Add the query parameter `project` to every route that knows it without having it in its signature."""
    for route, method in _operations(routes):
        if isinstance(route, RestRoute) and "project" in (route.says.query or ()):
            told = paths[route.path_format][method].setdefault("parameters", [])
            if not any(parameter["name"] == "project" for parameter in told):
                told.append(_PROJECT)


def _complete(operation: Json, path: str, *, is_open: bool) -> None:
    """Complete an operation: drop defaults of null, add the shape of errors and the keys it accepts."""
    for parameter in operation.get("parameters", ()):
        if parameter["schema"].get("default", "") is None:
            parameter["schema"] = {name: told for name, told in parameter["schema"].items() if name != "default"}
    operation["responses"].pop("422", None)
    operation["responses"].setdefault("default", description.error_answer(path))
    if is_open:
        operation["security"] = []
