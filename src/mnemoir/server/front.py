"""The front of the router: chat routes by one look into a table, everything else to the REST application.

A chat passes through here once per message; the REST application's layers would cost it more than all of our own.
"""

from collections.abc import Mapping

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mnemoir.server.errors import MethodNotAllowed, failure
from mnemoir.server.visit import note_route


class Front:
    """`posts` maps a path to what answers POST there, `deletes` some of them to what answers DELETE."""

    def __init__(self, posts: Mapping[str, ASGIApp], deletes: Mapping[str, ASGIApp], otherwise: ASGIApp) -> None:
        self._posts = posts
        self._deletes = deletes
        self._otherwise = otherwise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._posts.get(scope["path"])
        if app is None:
            await self._otherwise(scope, receive, send)
            return
        note_route(scope, scope["path"])
        if scope["method"] == "POST":
            await app(scope, receive, send)
            return
        delete = self._deletes.get(scope["path"])
        if delete is not None and scope["method"] == "DELETE":
            await delete(scope, receive, send)
            return
        await not_this_method(scope, ["POST"] if delete is None else ["POST", "DELETE"])(scope, receive, send)


def not_this_method(scope: Scope, methods: list[str]) -> Response:
    """The answer where `scope`'s method is not one of `methods`: the choice to OPTIONS, an error to all others."""
    heads = ["HEAD"] if "GET" in methods else []
    allowed = [*methods, *heads, "OPTIONS"]
    if scope["method"] == "OPTIONS":
        return Response(b"{}", headers={"allow": ", ".join(allowed)}, media_type="application/json")
    return failure(scope, MethodNotAllowed(scope["method"], allowed))
