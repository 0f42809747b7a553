"""Paths made plain before routing: with and without a final slash, with doubled slashes, below a prefix.

No redirect is ever sent: some clients do not follow one, and a redirect may drop a body. Slashes are collapsed in
the path as sent, so that an encoded one (`a%2Fb`) stays part of its name.
"""

import re
from urllib.parse import quote, unquote

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mnemoir.server.visit import note_route, route_of

_SLASHES = re.compile(rb"/{2,}")
_ENDS_IN_SLASH = "mnemoir.ends_in_slash"


def ends_in_slash(scope: Scope) -> bool:
    """Whether the path as sent had a final slash: behind it, an empty name may have been meant."""
    return bool(scope.get(_ENDS_IN_SLASH))


class PlainPaths:
    """Also answers HEAD as GET without a body."""

    def __init__(self, app: ASGIApp, root_path: str) -> None:
        self._app = app
        self._root = root_path.encode("ascii", "ignore")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sent = (scope.get("raw_path") or quote(scope["path"]).encode("ascii")).partition(b"?")[0]
        raw = self._plain(sent)
        scope[_ENDS_IN_SLASH] = sent.endswith(b"/")
        scope["raw_path"] = raw
        scope["path"] = unquote(raw.decode("ascii", "replace")) if b"%" in raw else raw.decode("ascii", "replace")
        scope["root_path"] = ""
        if scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        # a copy: the HTTP server below reads the method from its own scope to leave the body out
        asked = {**scope, "method": "GET"}
        await self._app(asked, receive, _without_body(send))
        note_route(scope, route_of(asked))

    def _plain(self, raw: bytes) -> bytes:
        if b"//" in raw:
            raw = _SLASHES.sub(b"/", raw)
        if self._root and (raw == self._root or raw.startswith(self._root + b"/")):
            raw = raw[len(self._root) :]
        return raw.rstrip(b"/") or b"/"


def _without_body(send: Send) -> Send:
    async def head_only(message: Message) -> None:
        if message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await send(message)

    return head_only
