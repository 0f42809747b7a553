"""The patterns of the routes' paths, which all applications of a process share."""

from dataclasses import replace

from fastapi import FastAPI
from starlette.routing import Route

from mnemoir.server import ServerOptions, create_app
from tests.server.route_table import layer_of
from tests.server.server_kit import Server


def patterns(server: Server) -> list[str]:
    return [route.path_regex.pattern for route in layer_of(server, FastAPI).routes if isinstance(route, Route)]


async def test_a_second_application_has_the_patterns_of_the_first(server):
    first = patterns(server)
    second = patterns(replace(server, app=create_app(server.parts, ServerOptions())))
    assert first == second
    assert all(pattern.endswith(r"\Z") and pattern.count(r"\Z") == 1 for pattern in first)
