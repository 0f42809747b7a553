"""The real table of routes of a server, read off the application itself, so that a new route is covered by itself.

All routes, with those that are in no description, and the pages and files of the web UI.
"""

import re
from collections.abc import Iterator
from typing import Any, TypeVar
from urllib.parse import urlencode

from mnemoir.server.door.routing import Routing
from mnemoir.server.door.says import Says
from mnemoir.server.door.ui import ABOUT, PAGES, _read
from tests.server.server_kit import Server

CHANGING = ("POST", "PUT", "PATCH", "DELETE")
Layer = TypeVar("Layer")
_LAYERS = ("_app", "rest")


def every_route(server: Server) -> list[tuple[str, str]]:
    """Method and address of each route, names filled in with `mira`."""
    found = [("GET", path) for path in (*sorted(PAGES), ABOUT, "/ui", *ui_files(server))]
    found += [
        (method, re.sub(r"\{[^}]+\}", "mira", route.path_format))
        for route in layer_of(server, Routing).table.routes
        for method in sorted(route.methods or ())
    ]
    assert len(found) > 80
    return list(dict.fromkeys(found))


def ui_files(server: Server) -> list[str]:
    """The addresses of the files that the pages load."""
    return [f"/{name}" for name in sorted(_read(layer_of(server, Routing).ui._static).keys() - {"index.html"})]


def changing_routes(server: Server) -> list[tuple[str, str]]:
    """Those that may change something."""
    return [route for route in every_route(server) if route[0] in CHANGING]


def known_query(says: Says, **query: str) -> str:
    """What of a query the route knows, as it is sent."""
    return urlencode({name: value for name, value in query.items() if name in (says.query or ())})


def known_body(says: Says, body: dict[str, Any]) -> dict[str, Any] | None:
    """A body for all routes, without the members that an exact one would refuse; None for one that takes no body."""
    if not says.exact or says.reads_body:
        return body
    return {name: value for name, value in body.items() if name in says.members} or None


def layer_of(server: Server, kind: type[Layer]) -> Layer:
    """The layer of that class, from the outermost inwards."""
    return next(layer for layer in _layers(server.app) if isinstance(layer, kind))


def _layers(app: object) -> Iterator[object]:
    while app is not None:
        yield app
        app = next((inner for name in _LAYERS if (inner := getattr(app, name, None)) is not None), None)
