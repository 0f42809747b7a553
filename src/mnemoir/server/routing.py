"""Routing: path normalisation, the guard, then pages of the web UI, chat routes by one table lookup, and REST.

No redirect is ever sent: some clients do not follow one, and a redirect may drop a body. Slashes are collapsed in
the path as sent, so that an encoded one (`a%2Fb`) stays part of its name: a plain one ends it. A chat is routed here
once a message; the layers of the REST application would cost it more than all layers of this server.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

from starlette.convertors import StringConvertor, register_url_convertor
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mnemoir.app.audit import Audit
from mnemoir.core.errors import InvalidRequest
from mnemoir.core.scope import acting
from mnemoir.server.access import Guard, principal_of
from mnemoir.server.auditing import REFUSED, Audited, act_of, is_counted
from mnemoir.server.client_address import Proxies
from mnemoir.server.errors import MethodNotAllowed, failure
from mnemoir.server.request import note_route, route_of
from mnemoir.server.says import RestRoute
from mnemoir.server.turns import Turns
from mnemoir.server.ui import ABOUT, Ui

_SLASHES = re.compile(rb"/{2,}")
_ENDS_IN_SLASH = "mnemoir.ends_in_slash"


def ends_in_slash(scope: Scope) -> bool:
    """True when the path as sent had a final slash: an empty name may have been meant after it."""
    return bool(scope.get(_ENDS_IN_SLASH))


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """The router. `posts` maps a path to the application for POST, `deletes` some of these paths to that for DELETE.

    All other routes are those of `rest`; `is_route` knows its paths and those of `posts`. HEAD is answered as GET
    without a body.
    """

    guard: Guard
    turns: Turns
    audit: Audit
    proxies: Proxies
    ui: Ui
    posts: Mapping[str, ASGIApp]
    deletes: Mapping[str, ASGIApp]
    rest: ASGIApp
    is_route: Callable[[Scope], bool]
    root_path: bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._make_plain(scope)
        if scope["method"] != "HEAD":
            await self._answer(scope, receive, send)
            return
        # a copy: the HTTP server below reads the method from its own scope to leave the body out
        asked = {**scope, "method": "GET"}
        await self._answer(asked, receive, _without_body(send))
        note_route(scope, route_of(asked))

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        app, send = await self._app_for(scope, send)
        try:
            await app(scope, receive, send)
        finally:
            if self.audit.is_on and acting.get().users_read:
                self.audit.has_read()

    async def _app_for(self, scope: Scope, send: Send) -> tuple[ASGIApp, Send]:
        """The application for this request, and the `send` for its answer. Pages of the UI need no key."""
        answer: ASGIApp | None
        answer, send = self.guard.answer_browser(scope, send)
        if answer is None and scope["method"] == "GET" and (scope["path"] == ABOUT or not _is_of_api(scope)):
            answer = await self.ui.answer(scope)
            if answer is None and not self.is_route(scope):
                answer = await self.ui.no_such_page(scope)
        if answer is None:
            await self.guard.check_token(scope)
            answer = await self._refused(scope)  # without a turn: while it waited, its connection would take room
        answer = self.guard.refuse_crowd(scope) or answer
        if answer is None:
            await self.turns.take(principal_of(scope).key)
            answer = self._written_down(scope, self._route(scope))
        return answer, send

    async def _refused(self, scope: Scope) -> Response | None:
        """The refusal of the guard, which the audit log counts."""
        refusal = self.guard.refuse(scope)
        refusal = await self.guard.refuse_one_too_many(scope) or refusal
        if refusal is not None and self.audit.is_on and is_counted(refusal.status_code):
            self.audit.refused(refusal.status_code, REFUSED, self._address_of(scope))
        return refusal

    def _written_down(self, scope: Scope, app: ASGIApp) -> ASGIApp:
        """The application, within the audit log where that is about the request."""
        if not self.audit.is_on or scope["path"] in self.posts or not principal_of(scope).key:
            return app
        action = act_of(scope["method"], scope["raw_path"].decode("ascii", "replace"), scope["path"])
        return Audited(app, self.audit, action, self._address_of(scope)) if action else app

    def _address_of(self, scope: Scope) -> str:
        return str(self.proxies.client_of(scope) or "")

    def _route(self, scope: Scope) -> ASGIApp:
        path, method = scope["path"], scope["method"]
        app = self.posts.get(path)
        if app is None:
            return self.rest
        note_route(scope, path)
        if method == "POST":
            return app
        delete = self.deletes.get(path)
        if delete is not None and method == "DELETE":
            return delete
        return not_this_method(scope, ["POST"] if delete is None else ["POST", "DELETE"])

    def _make_plain(self, scope: Scope) -> None:
        """Remove doubled slashes, a final slash and the server's mount prefix from the path."""
        sent = (scope.get("raw_path") or quote(scope["path"]).encode("ascii")).partition(b"?")[0]
        raw = self._plain(sent)
        scope[_ENDS_IN_SLASH] = sent.endswith(b"/")
        scope["raw_path"] = raw
        scope["path"] = unquote(raw.decode("ascii", "replace")) if b"%" in raw else raw.decode("ascii", "replace")
        scope["root_path"] = ""

    def _plain(self, raw: bytes) -> bytes:
        if b"//" in raw:
            raw = _SLASHES.sub(b"/", raw)
        if self.root_path and (raw == self.root_path or raw.startswith(self.root_path + b"/")):
            raw = raw[len(self.root_path) :]
        return raw.rstrip(b"/") or b"/"


def not_this_method(scope: Scope, methods: list[str]) -> Response:
    """The answer where `scope`'s method is not one of `methods`: the list of them to OPTIONS, else an error."""
    heads = ["HEAD"] if "GET" in methods else []
    allowed = [*methods, *heads, "OPTIONS"]
    if scope["method"] == "OPTIONS":
        return Response(b"{}", headers={"allow": ", ".join(allowed)}, media_type="application/json")
    return failure(scope, MethodNotAllowed(scope["method"], allowed))


def _is_of_api(scope: Scope) -> bool:
    """True for a path that no page of the web UI can have."""
    return str(scope["path"]).startswith(("/api/", "/v1/"))


def _without_body(send: Send) -> Send:
    async def head_only(message: Message) -> None:
        if message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await send(message)

    return head_only


class RouteAsSent(RestRoute):
    """A route that matches the path as it was sent, and decodes the names in it.

    A final slash matters to DELETE only. There it may remain from an empty name, or from `.` and `..`, which clients
    resolve before they send: the path would then name a larger part than was meant, and all of it would be deleted.
    """

    is_as_sent = True

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, found = super().matches({**scope, "path": scope["raw_path"].decode("ascii", "replace")})
        named = found.get("path_params", {})
        return match, {**found, "path_params": {name: unquote(value) for name, value in named.items()}}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request. Raises InvalidRequest for a DELETE without a name after its last slash."""
        if scope["method"] == "DELETE" and ends_in_slash(scope):
            raise InvalidRequest(
                f"DELETE {scope['path'][:200]}/ names nothing behind its last slash, so nothing was deleted."
                " Name what is to go; if it is all of this, leave the slash out.",
                code="missing_name",
            )
        await super().handle(scope, receive, send)


def register_names(key: str, *taken: str) -> None:
    """Register `key` so that `{name:key}` in a path matches any name but those `taken` by routes beside it.

    So no method for a name ever reaches the path of such a route, and `%73earch` still matches the name `search`.
    """
    names = rf"(?!(?:{'|'.join(taken)})(?:/|$))[^/]+"
    register_url_convertor(key, type("Names", (StringConvertor,), {"regex": names})())
