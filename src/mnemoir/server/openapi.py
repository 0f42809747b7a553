"""The OpenAPI description: FastAPI's, with the bodies that routes read themselves and the routes it does not know."""

from collections.abc import Iterable, Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from starlette.routing import Route

_PROJECT = {
    "name": "project",
    "in": "query",
    "required": False,
    "schema": {"type": "string"},
    "description": "or header X-Etienne-Project",
}
_OF_PROJECTS = ("/api/memories", "/api/events", "/api/export", "/api/import", "/api/conversations")


def describe(
    app: FastAPI, bodies: Iterable[type[BaseModel]], chat_routes: Mapping[str, Iterable[str]], root_path: str
) -> dict[str, Any]:
    """The whole description. `chat_routes` gives the methods of each path that FastAPI does not route."""
    schema = get_openapi(
        title=app.title,
        version=app.version,
        description=app.description,
        routes=app.routes,
        servers=[{"url": root_path}] if root_path else None,
    )
    _, found = models_json_schema(
        [(model, "validation") for model in bodies], ref_template="#/components/schemas/{model}"
    )
    components = schema.setdefault("components", {}).setdefault("schemas", {})
    components.update(found.get("$defs", {}))
    for path, operations in schema["paths"].items():
        if path.startswith(_OF_PROJECTS):
            for operation in operations.values():
                operation.setdefault("parameters", []).append(_PROJECT)
    for path, methods in chat_routes.items():
        schema["paths"][path] = {
            method.lower(): {"tags": ["models and chat"], "summary": _summary(path), "responses": _ANSWERS}
            for method in methods
        }
    return schema


def plain_routes(routes: Iterable[Any]) -> dict[str, list[str]]:
    """Path and methods of Starlette's own routes, HEAD left out."""
    return {
        route.path_format: sorted((route.methods or set()) - {"HEAD"}) for route in routes if type(route) is Route
    }


_ANSWERS = {"200": {"description": "As the protocol says"}, "default": {"description": "An error, with its code"}}


def _summary(path: str) -> str:
    return (
        "As OpenAI's servers have it"
        if not path.startswith("/api/") and path != "/"
        else "As Ollama's servers have it"
    )
