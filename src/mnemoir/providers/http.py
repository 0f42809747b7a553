"""HTTP calls to other programs, and to an ASGI application in the same process, without a socket."""

import asyncio
import errno
import socket
from base64 import b64encode
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from typing import Any
from urllib.parse import unquote

import aiohttp
import orjson
from aiohttp.abc import ResolveResult
from aiohttp.resolver import ThreadedResolver
from starlette.types import ASGIApp, Message, Scope
from yarl import URL

from mnemoir import __version__
from mnemoir.core.errors import Forbidden, InvalidRequest, MnemoirError, NotFound, Unauthorized
from mnemoir.core.network import is_off_limits
from mnemoir.core.proxies import Proxies

NO_PROXIES = Proxies()
READ_BYTES = 64 * 1024  # of an answer that wait to be read, before its server has to wait
LONGEST_FIELD = 64 * 1024  # of an answer's head: rules about content and cookies may be long
_MOST_AT_ONCE = 1024 * 1024
_ERRORS: Mapping[int, type[MnemoirError]] = {401: Unauthorized, 403: Forbidden, 404: NotFound}


class _CarefulResolver(ThreadedResolver):
    """Resolves no name to an address that no model has, whatever the name resolved to before."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Raises OSError for such a name."""
        found = await super().resolve(host, port, family)
        if any(is_off_limits(one["host"]) for one in found):
            raise OSError(errno.EACCES, "its name leads to a link-local address")
        return found


@dataclass(slots=True)
class Way:
    """The way of one request over a session of `new_session`."""

    is_new: bool = False  # True once a connection was opened for it


_way: ContextVar[Way | None] = ContextVar("way", default=None)


def note_way() -> Way:
    """A new Way, in which the next request of this task notes whether its connection is new."""
    way = Way()
    _way.set(way)
    return way


class _NotingConnector(aiohttp.TCPConnector):
    """Notes which requests opened a connection. aiohttp's own tracing tells it too, and costs a request 25 µs."""

    def __init__(self, request_class: type[aiohttp.ClientRequest], resolver: ThreadedResolver | None) -> None:
        super().__init__(limit=0, keepalive_timeout=30, ttl_dns_cache=10, resolver=resolver)
        self.request_class = request_class

    async def _create_connection(self, *args: Any, **named: Any) -> Any:  # types that aiohttp does not export
        if (way := _way.get()) is not None:
            way.is_new = True
        return await super()._create_connection(*args, **named)


def new_session(proxies: Proxies = NO_PROXIES, *, is_careful: bool = False) -> aiohttp.ClientSession:
    """A new session for calls to models; create it inside the event loop that will use it.

    Each server is asked through one of the `proxies`, or directly, as is chosen once for each. It takes nothing else
    from the environment: aiohttp's `trust_env` reads netrc and costs two changes of thread a request. It keeps no
    cookies and does not limit connections (the server limits its requests; a second queue here would only hide that
    limit). It asks for no compression, which costs more time than a local network saves and delays small events. One
    that `is_careful` is for addresses that a person typed in: it connects to no name that leads to a link-local
    address; those written as numbers are their caller's to check.
    """
    resolver = _CarefulResolver() if is_careful else None
    request_class = aiohttp.ClientRequest if proxies.are_none else _request_through(proxies, is_typed=is_careful)
    return aiohttp.ClientSession(
        connector=_NotingConnector(request_class, resolver),
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
        timeout=aiohttp.ClientTimeout(total=None),  # each call sets its own
        headers={"User-Agent": f"mnemoir/{__version__}", "Accept-Encoding": "identity"},
        read_bufsize=READ_BYTES,
        max_line_size=LONGEST_FIELD,
        max_field_size=LONGEST_FIELD,
        request_class=request_class,
    )


def request_class_of(session: aiohttp.ClientSession) -> type[aiohttp.ClientRequest] | None:
    """The class of the requests of a session of `new_session`, which chooses their way; None for another session."""
    connector = session.connector
    return connector.request_class if isinstance(connector, _NotingConnector) else None


def _request_through(proxies: Proxies, *, is_typed: bool) -> type[aiohttp.ClientRequest]:
    """The class of requests that go through the proxy of their address."""

    @lru_cache(maxsize=1024)  # addresses; a person may type in any number
    def way_to(origin: URL) -> Mapping[str, Any]:
        found = proxies.proxy_of(origin.scheme, origin.host or "", origin.port, is_typed=is_typed)
        if found is None:
            return {}
        proxy = URL(found)
        if proxy.user is None:
            return {"proxy": proxy}
        pair = f"{proxy.user}:{proxy.password or ''}".encode()
        own = {"Proxy-Authorization": f"Basic {b64encode(pair).decode()}"}
        return {"proxy": proxy.with_user(None), "proxy_headers": own}  # errors quote the address

    class ProxiedRequest(aiohttp.ClientRequest):
        def __init__(self, method: str, url: URL, **more: Any) -> None:
            way = way_to(url.origin())
            super().__init__(method, url, **{**more, **way})
            if not self.is_ssl():  # no tunnel is asked for first, whose request would have these headers
                self.headers.update(way.get("proxy_headers", {}))

    return ProxiedRequest


async def most_of(answer: aiohttp.ClientResponse, most_bytes: int) -> bytes | None:
    """The whole body of a response; None when it is larger than `most_bytes`, and reading stops there."""
    body = bytearray()
    async for piece in answer.content.iter_any():
        body += piece
        if len(body) > most_bytes:
            return None
    return bytes(body)


def in_turns(body: bytes) -> bytes | BytesIO:
    """The body to send; above 1 MiB it becomes a stream, so that other calls get their turn between its pieces."""
    return body if len(body) <= _MOST_AT_ONCE else BytesIO(body)


@dataclass(frozen=True, slots=True, kw_only=True)
class AsgiAnswer:
    """The application's complete response; header names are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


async def call_asgi(
    app: ASGIApp,
    method: str,
    target: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
    client: tuple[str, int] | None = None,
) -> AsgiAnswer:
    """Request `target` (path and query, percent-encoded) from `app`. Raises what the application raises.

    `client` is the address on whose behalf it is asked; None for this program's own.
    """
    exchange = _Exchange(body)
    scope = _request_scope(method, target, headers or {}, body)
    scope["client"] = client
    await app(scope, exchange.receive, exchange.send)
    return AsgiAnswer(status=exchange.status, headers=exchange.headers, body=b"".join(exchange.pieces))


class _Exchange:
    def __init__(self, body: bytes) -> None:
        self._to_send: list[bytes] = [body]
        self.status = 500
        self.headers: dict[str, str] = {}
        self.pieces: list[bytes] = []

    async def receive(self) -> Message:
        if self._to_send:
            return {"type": "http.request", "body": self._to_send.pop(), "more_body": False}
        await asyncio.get_running_loop().create_future()  # never ends: this client does not disconnect
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {
                name.decode("latin-1").lower(): value.decode("latin-1") for name, value in message["headers"]
            }
        elif message["type"] == "http.response.body":
            self.pieces.append(message.get("body", b""))


def _request_scope(method: str, target: str, headers: Mapping[str, str], body: bytes) -> Scope:
    path, _, query = target.partition("?")
    sent: dict[str, Any] = {"host": "localhost", "content-length": str(len(body)), **headers}
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode("ascii"),
        "query_string": query.encode("ascii"),
        "root_path": "",
        "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in sent.items()],
        "server": ("localhost", 0),
    }


def own_answer(status: int, body: bytes) -> Any:
    """The JSON of an answer of our own routes; None for an empty one. Raises the MnemoirError that it tells."""
    if status == 204:
        return None
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        answer = {"error": body[:200].decode("utf-8", "replace")}
    if status < 400:
        return answer
    fields = answer if isinstance(answer, dict) else {}
    if isinstance(fields.get("error"), dict):  # the error shape of chat routes
        fields = {**fields["error"], "error": fields["error"].get("message")}
    message = str(fields.get("error") or f"The server answered {status}.")
    kind = _ERRORS.get(status, InvalidRequest if status < 500 else MnemoirError)
    raise kind(message, code=str(fields.get("code") or "internal_error"))
