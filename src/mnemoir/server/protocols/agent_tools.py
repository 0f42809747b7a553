"""`POST /mcp`: memory as tools of the Model Context Protocol, for agents that call this server.

A tool is one request to a route of the REST API, which the server makes of itself on behalf of the caller: through
the whole door, with the caller's key. So its right, its rate limit, its quota and its act in the audit log are those
of that route, and are said nowhere else. A message that asks no route counts as one that reads.

The library is imported with the first message: most servers never get one, and it takes time and memory.
"""

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import orjson
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mnemoir.core.errors import InvalidRequest, MnemoirError, NotSupported, RateLimited
from mnemoir.core.scope import acting, project_name
from mnemoir.providers.http import call_asgi, own_answer
from mnemoir.server.answer import tolerant_json
from mnemoir.server.door.access import principal_of
from mnemoir.server.door.clients import ClientKind, agent_kind
from mnemoir.server.door.entry import server_of
from mnemoir.server.door.errors import failure
from mnemoir.server.door.request import MOST_AT_ONCE, header, odd_place, parse_own_json, read_body, visit_of
from mnemoir.server.door.says import DirectRoute, declare, has_right, says
from mnemoir.server.door.scopes import named_project, user_of
from mnemoir.server.site import Site

if TYPE_CHECKING:
    from mnemoir.mcp.owner import Route

PATH = "/mcp"
# what a tool's request has of the one that called it: who asks, from where, and for which project
_PASSED = (b"authorization", b"x-api-key", b"api-key", b"x-timezone")
_NOT_INSTALLED = "MCP is not installed on this server. Run there: pip install 'mnemoir[mcp]'"


@says("any", by_cookie=False, by_foreign_pages=False, counts=False, known_query=True, query=("project",))
def _make(site: Site) -> ASGIApp:
    return _Tools(site)


ROUTES = (DirectRoute(PATH, _make, methods=["POST"]),)
declare(ROUTES[0])


class _Tools:
    """The application that answers messages. Its server loads the library once."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._exchange: Any = None  # the module, which may not be installed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        own = _OwnRequests(self._site, scope)
        try:
            body = await read_body(scope, receive, self._site.options.max_body_bytes)
            message = _parse(body) if len(body) <= MOST_AT_ONCE else await asyncio.to_thread(_parse, body)
            answer = await self._reply(scope, message, own)
        except MnemoirError as exc:
            answer = failure(scope, exc)
        if not own.has_asked:
            try:
                await self._site.guard.count(scope)
            except RateLimited as exc:
                answer = failure(scope, exc)
        await answer(scope, receive, send)

    async def _reply(self, scope: Scope, message: object, own: "_OwnRequests") -> Response:
        """The answer to a message. Raises MnemoirError."""
        if self._exchange is None:
            self._exchange = await asyncio.to_thread(_load)
        exchange, site = self._exchange, self._site
        own.kind = agent_kind(scope, exchange.client_name(message))
        owner = exchange.Owner(
            server=own,
            user=user_of(scope, site.options),
            project=None if (project := named_project(scope)) is None else project_name(project),
            may=own.may,
            page=site.options.public_url or f"{scope['scheme']}://{header(scope, b'host')}{site.options.root_path}",
        )
        reply = await exchange.answer_message(owner, scope["headers"], message)
        if not own.has_asked:
            site.clients.note_agent(scope, own.kind)
        content = b"" if reply.body is None else tolerant_json(reply.body)
        return Response(content, reply.status, media_type="application/json")


def _load() -> Any:
    """The module of exchanges. Raises NotSupported where the library is not installed."""
    try:
        from mnemoir.mcp import exchange
    except ModuleNotFoundError as exc:
        raise NotSupported(_NOT_INSTALLED, code="not_installed") from exc
    exchange.prepare_tools()
    return exchange


def _parse(body: bytes) -> Any:
    """The message as JSON. Raises InvalidRequest, which names the member that is wrong."""
    try:
        return parse_own_json(body)
    except InvalidRequest as exc:
        if place := odd_place(body):
            raise InvalidRequest(f"The member `{place}` cannot be read. {exc.message}", code=exc.code) from None
        raise


class _OwnRequests:
    """Requests that the server makes of itself on behalf of the caller of another one."""

    def __init__(self, site: Site, scope: Scope) -> None:
        self._site = site
        self._scope = scope
        self.kind: ClientKind = "mcp"
        self.has_asked = False

    def may(self, route: "Route") -> bool:
        """Whether the caller has the right that a route takes."""
        asked = {"method": route.method, "path": route.path, "raw_path": route.path.encode("ascii")}
        return has_right(principal_of(self._scope), self._site.table.find(asked).says.right)

    async def ask(self, method: str, target: str, body: object = None) -> Any:
        """The parsed JSON answer. Raises MnemoirError."""
        self.has_asked = True
        act = acting.get()
        try:
            answer = await call_asgi(
                server_of(self._scope),
                method,
                target,
                headers=dict(self._headers()),
                body=b"" if body is None else orjson.dumps(body),
                client=self._scope["client"],
            )
        finally:
            acting.set(act)
        limits = [(name, value) for name, value in answer.headers.items() if name.startswith("x-ratelimit-")]
        visit_of(self._scope).headers = [(name.encode(), value.encode()) for name, value in limits]
        return own_answer(answer.status, answer.body)

    def _headers(self) -> Iterator[tuple[str, str]]:
        """Those that tell who asks, from where and for which project."""
        yield "x-mnemoir-client", self.kind
        sent = self._scope["headers"]
        yield from ((name.decode("ascii"), value.decode("latin-1")) for name, value in sent if name in _PASSED)
        if forwarded := [value for name, value in sent if name == b"x-forwarded-for"]:
            yield "x-forwarded-for", b",".join(forwarded).decode("latin-1")
