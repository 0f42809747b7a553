"""The OpenAPI description: FastAPI's, with the bodies that routes read themselves and the routes it does not know.

Every operation tells the one shape of errors. What may be left out of a body is not required and has no default in
the description: generated clients would take it for always there.
"""

from collections.abc import Iterable, Mapping
from typing import Any, get_args

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from starlette.routing import Route

from mnemoir.server import protocol_routes
from mnemoir.server.guard import OPEN_PATHS
from mnemoir.server.rest import ProjectHere

Json = dict[str, Any]

_PROJECT = {
    "name": "project",
    "in": "query",
    "required": False,
    "schema": {"type": "string"},
    "description": "or header X-Etienne-Project",
}
_PROJECT_OF = get_args(ProjectHere)[1].dependency
_KEYS = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "azure": {"type": "apiKey", "in": "header", "name": "api-key"},
}
_ANY_KEY: list[Json] = [{}, {"bearer": []}, {"header": []}, {"azure": []}]  # {}: a server may ask for none
# FastAPI's own of a request that does not fit; this server has one shape for all errors
_NOT_OURS = ("HTTPValidationError", "ValidationError")


def describe(
    app: FastAPI, bodies: Iterable[type[BaseModel]], chat_routes: Mapping[str, Iterable[str]], root_path: str
) -> Json:
    """The whole description. `chat_routes` gives the methods of each path that FastAPI does not route."""
    schema = get_openapi(
        title=app.title,
        version=app.version,
        description=app.description,
        routes=app.routes,
        servers=[{"url": root_path}] if root_path else None,
    )
    components = schema.setdefault("components", {}).setdefault("schemas", {})
    components.update(_schemas([*bodies, *protocol_routes.models()]))
    for name in _NOT_OURS:
        components.pop(name, None)
    _tell_projects(schema["paths"], app.routes)
    for path, methods in chat_routes.items():
        for method in protocol_routes.methods_of(path, methods):
            schema["paths"].setdefault(path, {})[method] = protocol_routes.operation(path, method)
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


def _schemas(models: Iterable[type[BaseModel]]) -> Json:
    asked = [(model, "validation") for model in dict.fromkeys(models)]
    _, found = models_json_schema(asked, ref_template="#/components/schemas/{model}")  # type: ignore[arg-type]
    schemas: Json = found.get("$defs", {})
    for schema in schemas.values():
        for member in schema.get("properties", {}).values():
            member.pop("default", None)
    return schemas


def _tell_projects(paths: Json, routes: Iterable[Any]) -> None:
    """`project` may stand in the query of every route that asks which project it is about."""
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
    """Any operation: no default that is null, the shape of errors, and whether a key is asked for."""
    for parameter in operation.get("parameters", ()):
        if parameter["schema"].get("default", "") is None:
            parameter["schema"] = {name: told for name, told in parameter["schema"].items() if name != "default"}
    operation["responses"].pop("422", None)
    operation["responses"].setdefault("default", protocol_routes.error_answer(path))
    if path in OPEN_PATHS:
        operation["security"] = []
