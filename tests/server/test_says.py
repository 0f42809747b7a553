"""What routes say of themselves: none may say too little, and what they say of their query is what is described."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator

import pytest
from fastapi.dependencies.models import Dependant
from starlette.requests import Request
from starlette.responses import Response

from mnemoir.server.answer import Answer, Done
from mnemoir.server.app import TABLE
from mnemoir.server.door.rest_routes import RestRoute, RouteAsSent
from mnemoir.server.door.says import says
from mnemoir.server.rest import Routes
from tests.narrowing import present
from tests.server.described import Description


def fresh():
    """An endpoint that says nothing yet."""

    async def endpoint(request: Request) -> Answer[Done]:
        return Answer({"success": True, "message": ""})

    return endpoint


def test_a_route_that_says_nothing_is_not_registered_and_named():
    for kind in (RestRoute, RouteAsSent):
        router = Routes(prefix="/api/toys", route_class=kind)
        for method in ("GET", "POST", "DELETE"):
            with pytest.raises(TypeError, match=re.escape(f"{method} /api/toys/{{id}} says nothing")):
                router.api_route("/{id}", methods=[method])(fresh())
            with pytest.raises(TypeError, match=f"{method} /api/plain says nothing"):
                router.add_route("/api/plain", fresh(), [method])


def test_a_route_that_deletes_or_changes_by_the_right_of_an_admin_names_its_act():
    def register(method, right, **more):
        Routes().api_route("/api/toys", methods=[method])(says(right, **more)(fresh()))

    for method, right in (("DELETE", "write"), ("DELETE", "any"), ("PUT", "admin"), ("POST", "manage")):
        with pytest.raises(TypeError, match=f"{method} /api/toys names no act"):
            register(method, right)
        register(method, right, act=None)
        register(method, right, act="toys.delete")
    for method, right in (("GET", "admin"), ("GET", "manage"), ("POST", "write"), ("POST", "server")):
        register(method, right)


def test_a_plain_route_names_its_query_and_no_route_is_about_a_parameter_that_it_has_not():
    async def plain(request: Request) -> Response:
        return Response()

    with pytest.raises(TypeError, match="GET /toys has no signature"):
        Routes().add_route("/toys", says("read")(plain), ["GET"])
    with pytest.raises(TypeError, match="no path parameter 'user_id'"):
        Routes().get("/toys/{user}")(says("read", about="user_id")(fresh()))


async def test_every_route_knows_the_query_parameters_that_are_described(server):
    described = Description(await server.get("/openapi.json"))
    told = {(path, method): operation for method, path, operation in described.operations()}
    compared = 0
    for route in TABLE.routes:
        for method in present(route.methods) - {"HEAD"} if route.include_in_schema else ():
            queries = [
                one for one in told[route.path_format, method.lower()].get("parameters", ()) if one["in"] == "query"
            ]
            lists = [one["name"] for one in queries if "array" in str(one["schema"])]
            compared += 1
            assert (sorted(present(route.says.query)), route.path) == (
                sorted(one["name"] for one in queries),
                route.path,
            )
            assert (list(route.says.lists), route.path) == (lists, route.path)
    assert compared > 150


# what is declared and not read: its only purpose is that anything else is refused
DECLARED_ALONE = {("/api/workflows/kept/{path:path}", "body")}


def test_each_parameter_that_a_route_declares_is_read():
    """One that is declared and not read would be a condition that is ignored."""
    routes = [route for route in TABLE.routes if isinstance(route, RestRoute)]
    assert {(route.path, name) for route in routes for name in unread_names(route.dependant)} == DECLARED_ALONE


def unread_names(dependant: Dependant) -> Iterator[str]:
    """The parameters of an endpoint, and of all that it depends on, whose names their bodies do not read."""
    call = dependant.call if inspect.isfunction(dependant.call) else type(dependant.call).__call__
    tree = ast.parse(textwrap.dedent(inspect.getsource(call))).body[0]
    assert isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef)
    read = {node.id for line in tree.body for node in ast.walk(line) if isinstance(node, ast.Name)}
    yield from {one.arg for one in (*tree.args.args, *tree.args.kwonlyargs)} - read - {"self"}
    for dependency in dependant.dependencies:
        yield from unread_names(dependency)
