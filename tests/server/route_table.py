"""The real table of routes of a server, read off the application itself, so that a new route is covered by itself.

All routes, with those that are in no description, and the pages and files of the web UI.
"""

import re
from collections.abc import Iterator
from typing import TypeVar

from mnemoir.server.door.routing import Routing
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


def layer_of(server: Server, kind: type[Layer]) -> Layer:
    """The layer of that class, from the outermost inwards."""
    return next(layer for layer in _layers(server.app) if isinstance(layer, kind))


def _layers(app: object) -> Iterator[object]:
    while app is not None:
        yield app
        app = next((inner for name in _LAYERS if (inner := getattr(app, name, None)) is not None), None)
