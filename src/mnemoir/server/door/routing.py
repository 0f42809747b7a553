"""The front: takes each request through the door, in the order that the first page of this folder says.

No redirect is ever sent: some clients do not follow one, and a redirect may drop a body. Slashes are collapsed in
the path as sent, so that an encoded one (`a%2Fb`) stays part of its name: a plain one ends it. A chat runs outside
the layers of the REST application, which would cost it more than all layers of this server.
"""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

from starlette.convertors import StringConvertor, register_url_convertor
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mnemoir.access.audit import Audit
from mnemoir.core.errors import MnemoirError, NotFound
from mnemoir.core.scope import acting
from mnemoir.server.door.access import Guard, principal_of
from mnemoir.server.door.auditing import REFUSED, Audited, RefusalsCounted, is_counted
from mnemoir.server.door.client_address import Proxies
from mnemoir.server.door.clients import Clients, ToolsSeen
from mnemoir.server.door.conditions import KnownMembers, check_conditions, check_last_name, note_sent_path
from mnemoir.server.door.errors import MethodNotAllowed, failure
from mnemoir.server.door.options import ServerOptions
from mnemoir.server.door.request import note_route, route_of
from mnemoir.server.door.says import DirectRoute
from mnemoir.server.door.scopes import acted_in, projects_of
from mnemoir.server.door.table import Found, Table, note_found
from mnemoir.server.door.turns import Turns
from mnemoir.server.door.ui import ABOUT, Ui

_SLASHES = re.compile(rb"/{2,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """The front of a server. `direct` has the applications of the direct routes, `rest` is that of all others.

    HEAD is answered as GET without a body.
    """

    options: ServerOptions
    guard: Guard
    turns: Turns
    audit: Audit
    proxies: Proxies
    ui: Ui
    table: Table
    direct: Mapping[DirectRoute, ASGIApp]
    rest: ASGIApp
    clients: Clients
    root_path: bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._make_plain(scope)
        if scope["method"] != "HEAD":
            await self._answer(scope, receive, send)
            return
        # a copy: the HTTP server below reads the method from its own scope to leave the body out
        asked = {**scope, "method": "GET"}
        head = _HeadAlone(receive, send)
        await self._answer(asked, head.receive, head.send)
        await head.end()
        note_route(scope, route_of(asked))

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        app, send = await self._app_for(scope, send)
        try:
            await app(scope, receive, send)
        finally:
            if self.audit.is_on and acting.get().users_read:
                self.audit.has_read()

    async def _app_for(self, scope: Scope, send: Send) -> tuple[ASGIApp, Send]:
        """The application for this request, and the `send` for its answer."""
        answer: ASGIApp | None
        answer, send = self.guard.answer_browser(scope, send)
        if answer is not None:
            return self.guard.refuse_crowd(scope) or answer, send
        found = self.table.find(scope)
        if not found.path and (page := await self.ui.template(scope["path"])):
            found = Found(methods=("GET",), path=page)
        note_found(scope, found)
        answer = await self._page(scope, found) or await self._guard_refusal(scope)
        answer = answer or _no_route(scope, found) or _refusal_of_conditions(scope, found)
        # without a turn: while it waited, its connection would take room
        answer = self.guard.refuse_crowd(scope) or answer
        if answer is None:
            if key := principal_of(scope).key:
                await self.turns.take(key)
            answer = self._written_down(scope, found, self._app_of(scope, found))
        return answer, send

    async def _page(self, scope: Scope, found: Found) -> Response | None:
        """The page or file of the web UI that a GET asks for, or the page that says that there is none; else None."""
        path = scope["path"]
        if scope["method"] != "GET" or (found.route is not None and path != "/"):
            return None
        if path != ABOUT and path.startswith(("/api/", "/v1/")):
            return None
        answer = await self.ui.answer(scope)
        return await self.ui.no_such_page(scope) if answer is None and not found.path else answer

    async def _guard_refusal(self, scope: Scope) -> Response | None:
        """The response by which the guard refuses the request, counted in the audit log; None where it does not."""
        await self.guard.look_up(scope)
        await self.guard.check_token(scope)
        refusal = self.guard.refuse(scope)
        refusal = await self.guard.refuse_one_too_many(scope) or refusal
        if refusal is not None and self.audit.is_on and is_counted(scope, refusal.status_code):
            self.audit.note_refusal(refusal.status_code, REFUSED, self._address_of(scope))
        return refusal

    def _app_of(self, scope: Scope, found: Found) -> ASGIApp:
        """The application that answers by the route that was found."""
        if isinstance(found.route, DirectRoute):
            note_route(scope, found.path)
            return self.direct[found.route]
        app = self.rest if found.says.right == "open" else ToolsSeen(self.rest, self.clients)
        return KnownMembers(app, found, self.options.max_body_bytes) if found.says.exact else app

    def _written_down(self, scope: Scope, found: Found, app: ASGIApp) -> ASGIApp:
        """The application, within the audit log where its route is an act, or decides about rights."""
        if not self.audit.is_on or not principal_of(scope).key:
            return app
        if found.says.act is None:
            gives_rights = found.says.right == "manage" and scope["method"] != "GET"
            is_counted_here = gives_rights or "tenant" in (found.says.query or ())
            return RefusalsCounted(app, self.audit, address=self._address_of(scope)) if is_counted_here else app
        projects = projects_of(scope, self.options)
        address, tenant = self._address_of(scope), acted_in(scope)
        return Audited(app, self.audit, found.says.act, address=address, tenant=tenant, projects=projects)

    def _address_of(self, scope: Scope) -> str:
        return str(self.proxies.client_of(scope) or "")

    def _make_plain(self, scope: Scope) -> None:
        """Remove doubled slashes, a final slash and the server's mount prefix from the path."""
        sent = (scope.get("raw_path") or quote(scope["path"]).encode("ascii")).partition(b"?")[0]
        note_sent_path(scope, sent)
        raw = self._plain(sent)
        scope["raw_path"] = raw
        scope["path"] = unquote(raw.decode("ascii", "replace")) if b"%" in raw else raw.decode("ascii", "replace")
        scope["root_path"] = ""

    def _plain(self, raw: bytes) -> bytes:
        if b"//" in raw:
            raw = _SLASHES.sub(b"/", raw)
        if self.root_path and (raw == self.root_path or raw.startswith(self.root_path + b"/")):
            raw = raw[len(self.root_path) :]
        return raw.rstrip(b"/") or b"/"


def _no_route(scope: Scope, found: Found) -> Response | None:
    """The answer where no route takes the request: the methods of its path to OPTIONS, else an error; else None."""
    if found.route is not None:
        return None
    if not found.methods:
        return failure(scope, NotFound("There is no such route. GET /docs lists all of them."))
    note_route(scope, found.path)
    if scope["path"].startswith("/api/"):  # of a page it is the page
        try:
            check_last_name(scope)
        except MnemoirError as exc:
            return failure(scope, exc)
    allowed = [*found.methods, *(["HEAD"] if "GET" in found.methods else []), "OPTIONS"]
    if scope["method"] == "OPTIONS":
        return Response(b"{}", headers={"allow": ", ".join(allowed)}, media_type="application/json")
    return failure(scope, MethodNotAllowed(scope["method"], allowed))


def _refusal_of_conditions(scope: Scope, found: Found) -> Response | None:
    """The refusal of a request with a condition that its route does not know, or whose name is missing; else None."""
    try:
        check_conditions(scope, found)
    except MnemoirError as exc:
        note_route(scope, found.path)
        return failure(scope, exc)
    return None


class _HeadAlone:
    """An answer to HEAD: without its body. With the head the client is gone, for what would go on without an end."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._has_head = asyncio.Event()
        self._has_ended = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.body":
            message = {**message, "body": b""}
            self._has_ended = not message.get("more_body")
        await self._send(message)
        if message["type"] == "http.response.start":
            self._has_head.set()

    async def receive(self) -> Message:
        received = asyncio.ensure_future(self._receive())
        has_head = asyncio.ensure_future(self._has_head.wait())
        try:
            await asyncio.wait((received, has_head), return_when=asyncio.FIRST_COMPLETED)
            return received.result() if received.done() else {"type": "http.disconnect"}
        finally:
            received.cancel()
            has_head.cancel()

    async def end(self) -> None:
        """End the answer where the application did not."""
        if self._has_head.is_set() and not self._has_ended:
            await self.send({"type": "http.response.body"})


def register_names(key: str, *taken: str) -> None:
    """Register `key` so that `{name:key}` in a path matches any name but those `taken` by routes beside it.

    So no method for a name ever reaches the path of such a route, and `%73earch` still matches the name `search`.
    """
    names = rf"(?!(?:{'|'.join(taken)})(?:/|$))[^/]+"
    register_url_convertor(key, type("Names", (StringConvertor,), {"regex": names})())
