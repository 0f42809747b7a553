"""Paths as they were sent: an encoded slash (`a%2Fb`) is part of a name, a plain one ends it."""

from urllib.parse import unquote

from fastapi.routing import APIRoute
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.routing import Match
from starlette.types import Scope


class RouteAsSent(APIRoute):
    """Matches the path as it was sent, and decodes what it names."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, found = super().matches({**scope, "path": scope["raw_path"].decode("ascii", "replace")})
        named = found.get("path_params", {})
        return match, {**found, "path_params": {name: unquote(value) for name, value in named.items()}}


def register_names(key: str, *taken: str) -> None:
    """Let `{name:key}` in a path stand for any name but those `taken` by routes beside it.

    So no method of a name ever reaches what a route is called, and `%73earch` still names a thing called `search`.
    """
    names = rf"(?!(?:{'|'.join(taken)})(?:/|$))[^/]+"
    register_url_convertor(key, type("Names", (StringConvertor,), {"regex": names})())
