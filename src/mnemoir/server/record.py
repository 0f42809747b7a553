"""The outermost layer: every request gets an id, an answer, a log line and, when switched on, a measurement.

The log line holds the route, not the path, and no query: both may hold personal data.
"""

import traceback
from collections.abc import Iterable
from time import perf_counter

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mnemoir.core.events import Usage
from mnemoir.server.errors import broken, failure
from mnemoir.server.request import ClientLeft, Visit, begin_visit, route_of

_log = structlog.get_logger(__name__)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_KNOWN_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_CLIENT_LEFT = 499  # as nginx logs it
_ALWAYS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
)


class Metrics:
    """The server's metrics. Labels hold routes, methods and statuses; never a project, a user or a text."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "mnemoir_requests", "Requests answered", ["method", "route", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "mnemoir_request_seconds", "Time to the end of the answer", ["route"], registry=self._registry
        )
        self._memories = Counter("mnemoir_memory_operations", "Memory routes", ["operation"], registry=self._registry)
        self._tokens = Counter("mnemoir_model_tokens", "Tokens of models", ["use", "kind"], registry=self._registry)
        self._chats = Gauge("mnemoir_active_chats", "Chats being answered", registry=self._registry)

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

    def text(self) -> bytes:
        """All metrics, in Prometheus' text format."""
        return generate_latest(self._registry)


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
        status = 0

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *_headers(visit)]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except ClientLeft:
            visit.left = True
        except Exception as exc:  # noqa: BLE001 - the last resort: the client gets an answer, the log the reason
            log_fault(exc, request_id=visit.request_id)
            if not status:
                await failure(scope, broken())(scope, receive, noting)
        self._note(scope, visit, _CLIENT_LEFT if visit.left else status)

    def _note(self, scope: Scope, visit: Visit, status: int) -> None:
        took_s = perf_counter() - visit.started
        route = route_of(scope)
        if self._metrics is not None:
            self._metrics.request(scope["method"], route, status, took_s)
        _log.info(
            "request",
            method=scope["method"],
            route=route,
            status=status,
            took_ms=round(took_s * 1e3, 1),
            request_id=visit.request_id,
        )


def _headers(visit: Visit) -> Iterable[tuple[bytes, bytes]]:
    return ((b"x-request-id", visit.request_id.encode("ascii")), *_ALWAYS)


def log_fault(exc: Exception, **known: str) -> None:
    """Log the place of a fault; its text only at debug level, for it may quote what a person said."""
    frames = traceback.extract_tb(exc.__traceback__)
    where = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames[-8:]]
    _log.error("request failed", kind=type(exc).__name__, where=where, **known)
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
