"""Paths as they were sent: an encoded slash (`a%2Fb`) is part of a name, a plain one ends it."""

from urllib.parse import unquote

from fastapi.routing import APIRoute
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.routing import Match
from starlette.types import Receive, Scope, Send

from mnemoir.core.errors import InvalidRequest
from mnemoir.server.routing import ends_in_slash


class RouteAsSent(APIRoute):
    """Matches the path as it was sent, and decodes what it names.

    A final slash does not matter but to DELETE. There it is what is left of an empty name, or of `.` and `..`, which
    clients resolve before they send: less would be named than was meant, and more deleted.
    """

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, found = super().matches({**scope, "path": scope["raw_path"].decode("ascii", "replace")})
        named = found.get("path_params", {})
        return match, {**found, "path_params": {name: unquote(value) for name, value in named.items()}}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises InvalidRequest for a DELETE that names nothing behind its last slash."""
        if scope["method"] == "DELETE" and ends_in_slash(scope):
            raise InvalidRequest(
                f"DELETE {scope['path'][:200]}/ names nothing behind its last slash, so nothing was deleted."
                " Name what is to go; if it is all of this, leave the slash out.",
                code="missing_name",
            )
        await super().handle(scope, receive, send)


def register_names(key: str, *taken: str) -> None:
    """Let `{name:key}` in a path stand for any name but those `taken` by routes beside it.

    So no method of a name ever reaches what a route is called, and `%73earch` still names a thing called `search`.
    """
    names = rf"(?!(?:{'|'.join(taken)})(?:/|$))[^/]+"
    register_url_convertor(key, type("Names", (StringConvertor,), {"regex": names})())
