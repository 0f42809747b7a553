"""The OpenAPI description: FastAPI's, with the bodies that routes read themselves and the routes it does not know.

Every operation lists the one shape of errors. A member that may be left out of a body is not required and has no
default in the description: generated clients would treat it as always present.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode
from starlette.routing import Route

from mnemoir.server.door.access import OPEN_PATHS
from mnemoir.server.protocols import description
from mnemoir.server.rest import BodyOf, ProjectHere

Json = dict[str, Any]

_REF = "#/components/schemas/{model}"
_PROJECT = {
    "name": "project",
    "in": "query",
    "required": False,
    "schema": {"type": "string"},
    "description": description.PROJECT,
}
_PROJECT_OF = get_args(ProjectHere)[1].dependency
_KEYS = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "azure": {"type": "apiKey", "in": "header", "name": "api-key"},
}
_ANY_KEY: list[Json] = [{}, {"bearer": []}, {"header": []}, {"azure": []}]  # {}: a server may require none
# FastAPI's own shapes for an invalid request; this server has one shape for all errors
_NOT_OURS = ("HTTPValidationError", "ValidationError")


def describe(app: FastAPI, chat_routes: Mapping[str, Iterable[str]], root_path: str) -> Json:
    """The whole description. `chat_routes` gives the methods of each path that FastAPI does not route."""
    schema = get_openapi(
        title=app.title,
        version=app.version,
        description=app.description,
        routes=app.routes,
        servers=[{"url": root_path}] if root_path else None,
    )
    components = schema.setdefault("components", {}).setdefault("schemas", {})
    components.update(_answers([*_shapes_of(app.routes), *description.answers()]))
    components.update(_bodies([*_tell_bodies(schema["paths"], app.routes), *description.bodies()]))
    for name in _NOT_OURS:
        components.pop(name, None)
    _tell_projects(schema["paths"], app.routes)
    for path, methods in chat_routes.items():
        for method in description.methods_of(path, methods):
            schema["paths"].setdefault(path, {})[method] = description.operation(path, method)
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            _complete(operation, path)
    schema["components"]["securitySchemes"] = _KEYS
    schema["security"] = _ANY_KEY
    return schema


def plain_routes(routes: Iterable[Any]) -> dict[str, list[str]]:
    """Path and methods of Starlette's own routes, HEAD left out."""
    return {
        route.path_format: sorted((route.methods or set()) - {"HEAD"})
        for route in routes
        if type(route) is Route and route.include_in_schema
    }


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


def _tell_projects(paths: Json, routes: Iterable[Any]) -> None:
    """Add the query parameter `project` to every route that depends on the project."""
    for route in routes:
        if isinstance(route, APIRoute) and route.path_format in paths and _asks_for_project(route.dependant):
            for method in route.methods or ():
                operation = paths[route.path_format].get(method.lower(), {})
                told = operation.setdefault("parameters", [])
                if not any(parameter["name"] == "project" for parameter in told):
                    told.append(_PROJECT)


def _asks_for_project(dependant: Dependant) -> bool:
    return dependant.call is _PROJECT_OF or any(map(_asks_for_project, dependant.dependencies))


def _complete(operation: Json, path: str) -> None:
    """Complete an operation: drop defaults of null, add the shape of errors and the keys it accepts."""
    for parameter in operation.get("parameters", ()):
        if parameter["schema"].get("default", "") is None:
            parameter["schema"] = {name: told for name, told in parameter["schema"].items() if name != "default"}
    operation["responses"].pop("422", None)
    operation["responses"].setdefault("default", description.error_answer(path))
    if path in OPEN_PATHS:
        operation["security"] = []
