"""The patterns of the routes' paths, which all applications of a process share."""

from dataclasses import replace

from mnemoir.server import ServerOptions, create_app
from mnemoir.server.door.routing import Routing
from tests.server.route_table import layer_of
from tests.server.server_kit import Server


def patterns(server: Server) -> list[str]:
    return [route.path_regex.pattern for route in layer_of(server, Routing).table.routes]


async def test_a_second_application_has_the_patterns_of_the_first(server):
    first = patterns(server)
    second = patterns(replace(server, app=create_app(server.parts, ServerOptions())))
    assert first == second
    assert len(first) > 150
    assert all(pattern.endswith(r"\Z") and pattern.count(r"\Z") == 1 for pattern in first)
