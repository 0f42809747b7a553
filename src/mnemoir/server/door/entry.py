"""The entry of requests: connections with limits, and the outermost layer, which records every request.

Limits apply to the number of connections, to the time for a request to arrive and to the size of its head.
uvicorn's own protocol waits for ever for a request that trickles in and keeps any number of idle connections; with
either, a few clients can block the server for all others.

Every request gets an id, an answer, a log line and, when switched on, a measurement. The log line holds the route,
not the path, and no query: both may hold personal data.
"""

import asyncio
import re
import sys
from asyncio.events import TimerHandle
from collections.abc import Callable, Iterable, MutableMapping, Sequence
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from mnemoir.core import first_use
from mnemoir.core.errors import InvalidRequest, MnemoirError, Overloaded, TooLarge, places_of
from mnemoir.core.events import Usage
from mnemoir.core.ids import new_request_id
from mnemoir.server.door.crowd import Crowd, end_watches, note_connection
from mnemoir.server.door.errors import error_body, failure, internal_error, stopping
from mnemoir.server.door.lingering import LingeringTransport
from mnemoir.server.door.request import ASSETS, ClientLeft, Visit, begin_visit, route_of

if TYPE_CHECKING:
    import prometheus_client
else:
    prometheus_client = first_use.module("prometheus_client")

_log = structlog.get_logger(__name__)
MOST_HEAD_BYTES = 64 * 1024
_HEAD_TOO_LARGE = TooLarge(f"The request's head is larger than {MOST_HEAD_BYTES} bytes.")
_FIELD_BYTES = len(b": \r\n")
_SINGLE = frozenset({b"host", b"origin", b"sec-fetch-site", b"sec-fetch-mode", b"sec-fetch-dest"})  # of browsers
_REFUSED_WAIT_S = 5.0  # for the request of a connection that will be refused for lack of room
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_KNOWN_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_SERVER = "mnemoir.server"
_CLIENT_LEFT = 499  # as nginx logs it
_ALWAYS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
)
_NOT_KEPT = ((b"cache-control", b"no-store"),)


class BoundedConnection(HttpToolsProtocol):
    """A connection with the limits that `connection_class` sets on a subclass."""

    crowd: Crowd
    deadline_s: float

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._deadline: TimerHandle | None = None
        self._head_bytes = 0
        self._read_bytes = self._carried_bytes = 0  # of the last read, and of the one that the last request ended in
        self._in_head = True
        self._is_over = False  # nothing that still comes is read
        self.watchers: set[Callable[[], None]] | None = set()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._lingering = LingeringTransport(transport, self._is_unread)
        self.transport = cast(asyncio.Transport, self._lingering)
        self.crowd.came(self, self.loop.time())
        self._start_deadline(self.deadline_s)

    def give_way(self) -> None:
        """Close the connection, as its head has not come, and newer ones need the place."""
        if self._in_head and self._head_bytes:
            told = Overloaded("Too many connections whose requests have not come. Try again in a moment.")
            self.transport.write(_whole(503, told))
        self._lingering.close_now()  # a client that still sends would keep the descriptor until the deadline

    def connection_lost(self, exc: Exception | None) -> None:
        self.crowd.note_end(self)
        self._stop_deadline()
        super().connection_lost(exc)
        end_watches(self)

    def data_received(self, data: bytes) -> None:
        if self._is_over or self._lingering.is_lingering:
            return
        self._read_bytes = len(data)
        if self._in_head:
            self._head_bytes += len(data)
        super().data_received(data)
        if self._in_head and self._head_bytes > MOST_HEAD_BYTES and not self.transport.is_closing():
            self._refuse(431, _HEAD_TOO_LARGE)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._deadline is None:
            self._start_deadline(self.deadline_s)

    def on_headers_complete(self) -> None:
        self._in_head = False
        if ambiguity := _ambiguity(self.url, self.headers):
            self.app = _refusal(400, InvalidRequest(ambiguity, code="invalid_http"))
        came = self._head_bytes + self._carried_bytes
        if came > MOST_HEAD_BYTES and _head_bytes(self.url, self.headers) > MOST_HEAD_BYTES:
            self.app = _refusal(431, _HEAD_TOO_LARGE)  # it came in one piece, maybe with a request around it
        if not self.crowd.has_sent_head(self):
            self.app = _NO_ROOM
            self._stop_deadline()
            self._start_deadline(min(self.deadline_s, _REFUSED_WAIT_S))
        note_connection(cast(MutableMapping[str, Any], self.scope), self, self.crowd)
        super().on_headers_complete()
        self.headers = []  # fields behind the body are no headers: they may come too late to be obeyed
        if self.scope["http_version"] == "1.0" and self.cycle is not None:
            cast(Any, self.cycle).send = _unframed_send(self.cycle)  # its task begins later

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._stop_deadline()
        self._in_head, self._head_bytes, self._carried_bytes = True, 0, self._read_bytes

    def send_400_response(self, msg: str) -> None:
        if len(self.url or b"") >= MOST_HEAD_BYTES:  # which the parser of addresses refuses
            self._refuse(431, _HEAD_TOO_LARGE)
            return
        self._refuse(400, InvalidRequest(msg.rstrip(".") + ".", code="invalid_http"))

    def _start_deadline(self, seconds: float) -> None:
        self._deadline = self.loop.call_later(seconds, self._on_deadline)

    def _stop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _on_deadline(self) -> None:
        """Close a connection whose request has not arrived in time, with an error where part of it has."""
        self._deadline = None
        if self.transport.is_closing():
            self._lingering.close_now()
            return
        if self._head_bytes:
            self._refuse(408, InvalidRequest("The request took too long to arrive.", code="request_timeout"))
            return
        self.transport.close()

    def _is_unread(self) -> bool:
        """True while a request is on its way; the deadline ends that, and runs until the request has come."""
        return self._deadline is not None and (self._head_bytes > 0 or not self._in_head)

    def _refuse(self, status: int, exc: MnemoirError) -> None:
        """Answer what came last with an error, behind the answers to the requests before it, and close."""
        cycle = self.cycle
        if cycle is not None and (self.pipeline or not (cycle.more_body or cycle.response_complete)):
            if cycle.more_body:  # it is what came last, and waits for its turn
                self.pipeline[0] = cycle, cast(Any, _refusal(status, exc))
            cycle.keep_alive = False  # its answer ends the connection
            self._is_over = True
            self._stop_deadline()
            return
        if cycle is None or not (cycle.more_body and cycle.response_started):
            self.transport.write(_whole(status, exc))
        self.transport.close()


def _ambiguity(target: bytes, headers: Sequence[tuple[bytes, bytes]]) -> str:
    """Why two readers of a request's head may understand it in two ways; "" where they may not."""
    if b"#" in target:  # what is behind it is read by nobody, conditions as well
        return "The address holds a '#', and what follows it would be ignored. Encode it as %23."
    single = [(name, value) for name, value in headers if name in _SINGLE]
    if len(single) != len(dict(single)):
        name = next(name for (name, _), (other, _) in pairwise(sorted(single)) if name == other)
        return f"The request has several {name.decode('ascii').title()} headers. Send one."
    hosts = [value.strip().lower() for name, value in single if name == b"host"]
    scheme, is_absolute, rest = target.partition(b"://")
    if is_absolute and not scheme.startswith(b"/"):
        if not hosts:
            return "The address names a host, and the header Host is missing. Send it."
        port = {b"http": b":80", b"https": b":443"}.get(scheme.lower(), b"")
        named = re.split(rb"[/?]", rest.lower(), maxsplit=1)[0]
        if named.removesuffix(port) != hosts[0].removesuffix(port):
            return "The address and the header Host name two hosts. Send one."
    return ""


def _head_bytes(target: bytes, headers: Sequence[tuple[bytes, bytes]]) -> int:
    return len(target) + sum(len(name) + len(value) + _FIELD_BYTES for name, value in headers)


def _unframed_send(cycle: RequestResponseCycle) -> Send:
    """The `send` of an answer to HTTP/1.0, which knows no pieces: one without a length ends with the connection."""
    send, is_unframed = cycle.send, False

    async def send_unframed(message: Any) -> None:
        nonlocal is_unframed
        if message["type"] == "http.response.start":
            names = [name.lower() for name, _ in message.get("headers", ())]
            is_unframed = b"content-length" not in names
            if is_unframed:  # as if a length had been told, without telling one
                cycle.chunked_encoding, cycle.expected_content_length, cycle.keep_alive = False, sys.maxsize, False
        elif is_unframed and not message.get("more_body", False):
            cycle.expected_content_length = len(message.get("body", b""))
        await send(message)

    return send_unframed


def connection_class(most_connections: int, deadline_s: float) -> type[BoundedConnection]:
    """The protocol class with these limits, in the form that uvicorn takes."""
    return type("Connection", (BoundedConnection,), {"crowd": Crowd(most_connections), "deadline_s": deadline_s})


def _refusal(status: int, exc: MnemoirError, *more: tuple[bytes, bytes]) -> ASGIApp:
    """An ASGI application that answers with an error and ends the connection."""

    async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
        request_id = new_request_id()
        body = error_body(exc, "rest", request_id)
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
            (b"x-request-id", request_id.encode("ascii")),
            (b"connection", b"close"),
            *more,
        ]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return refuse


_NO_ROOM = _refusal(503, Overloaded("Too many connections. Try again in a moment."), (b"retry-after", b"1"))


def _whole(status: int, exc: MnemoirError) -> bytes:
    """The bytes of an error response sent without the application, which has received no request."""
    names = {
        400: "Bad Request",
        408: "Request Timeout",
        431: "Request Header Fields Too Large",
        503: "Service Unavailable",
    }
    request_id = new_request_id()
    body = error_body(exc, "rest", request_id)
    return (
        f"HTTP/1.1 {status} {names[status]}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
        f"x-request-id: {request_id}\r\nconnection: close\r\n\r\n"
    ).encode("ascii") + body


class Metrics:
    """The server's metrics. Labels hold routes, methods and statuses; never a project, a user or a text."""

    def __init__(self) -> None:
        self._registry = prometheus_client.CollectorRegistry()
        self._requests = prometheus_client.Counter(
            "mnemoir_requests", "Requests answered", ["method", "route", "status"], registry=self._registry
        )
        self._seconds = prometheus_client.Histogram(
            "mnemoir_request_seconds", "Time to the end of the answer", ["route"], registry=self._registry
        )
        self._memories = prometheus_client.Counter(
            "mnemoir_memory_operations", "Memory routes", ["operation"], registry=self._registry
        )
        self._tokens = prometheus_client.Counter(
            "mnemoir_model_tokens", "Tokens of models", ["use", "kind"], registry=self._registry
        )
        self._chats = prometheus_client.Gauge("mnemoir_active_chats", "Chats being answered", registry=self._registry)

    def request(self, method: str, route: str, status: int, took_s: float) -> None:
        """Count one finished request."""
        known = method if method in _KNOWN_METHODS else "other"
        self._requests.labels(known, route, str(status)).inc()
        self._seconds.labels(route).observe(took_s)

    def memory_operation(self, operation: str) -> None:
        """Count one completed `add`, `search`, `list` or `delete`."""
        self._memories.labels(operation).inc()

    def usage(self, use: str, usage: Usage) -> None:
        """Count the tokens a model used, by the purpose (`chat` or `add`)."""
        self._tokens.labels(use, "input").inc(usage.input_tokens)
        self._tokens.labels(use, "output").inc(usage.output_tokens)
        self._tokens.labels(use, "cached").inc(usage.cached_tokens)

    def active_chats(self, count: int) -> None:
        """Set the number of chats being answered now."""
        self._chats.set(count)

    def watch_redis(self, is_up: Callable[[], bool]) -> None:
        """Tell whether the Redis that servers share answers."""
        up = prometheus_client.Gauge(
            "mnemoir_redis_up", "Whether the Redis that servers share answers", registry=self._registry
        )
        up.set_function(is_up)

    def text(self) -> bytes:
        """All metrics, in Prometheus' text format."""
        return prometheus_client.generate_latest(self._registry)


def server_of(scope: Scope) -> ASGIApp:
    """The whole server that a request came to, for requests that it makes of itself."""
    server: ASGIApp = scope[_SERVER]
    return server


class Record:
    """ASGI layer around the whole application; it answers every exception raised below it."""

    def __init__(self, app: ASGIApp, metrics: Metrics | None) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await _not_http(scope["type"], receive, send)
            return
        visit = begin_visit(scope)
        scope[_SERVER] = self
        status = 0

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                sent = message.get("headers", ())
                message["headers"] = [*sent, *_caching(sent), *_headers(visit)]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except ClientLeft:
            visit.left = True
        except asyncio.CancelledError:
            if not status:
                await failure(scope, stopping())(scope, receive, noting)
        except Exception as exc:  # noqa: BLE001 - the last resort: the client gets an answer, the log the reason
            log_fault(exc, request_id=visit.request_id)
            if not status:
                await failure(scope, internal_error())(scope, receive, noting)
        self._note(scope, visit, _CLIENT_LEFT if visit.left else status)

    def _note(self, scope: Scope, visit: Visit, status: int) -> None:
        took_s = perf_counter() - visit.started
        route = route_of(scope)
        if self._metrics is not None:
            self._metrics.request(scope["method"], route, status, took_s)
        log = _log.debug if route == ASSETS else _log.info  # a page has dozens of them
        log(
            "request",
            method=scope["method"],
            route=route,
            status=status,
            took_ms=round(took_s * 1e3, 1),
            request_id=visit.request_id,
        )


def _caching(sent: Iterable[tuple[bytes, bytes]]) -> Iterable[tuple[bytes, bytes]]:
    """Nobody keeps a copy of an answer that does not say otherwise: it outlasts sign-ins, and what was deleted."""
    return () if b"cache-control" in dict(sent) else _NOT_KEPT


def _headers(visit: Visit) -> Iterable[tuple[bytes, bytes]]:
    return ((b"x-request-id", visit.request_id.encode("ascii")), *visit.headers, *_ALWAYS)


def log_fault(exc: Exception, **known: str) -> None:
    """Log the place of a fault; its text only at debug level, for it may quote what a person said."""
    _log.error("request failed", kind=type(exc).__name__, where=places_of(exc), **known)
    _log.debug("request failed", error=str(exc), **known)


async def _not_http(kind: str, receive: Receive, send: Send) -> None:
    """Refuse WebSockets; do nothing at startup and shutdown, since the caller opens and closes the parts."""
    if kind == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
        return
    while kind == "lifespan":
        event = (await receive())["type"]
        await send({"type": f"{event}.complete"})
        if event == "lifespan.shutdown":
            return
