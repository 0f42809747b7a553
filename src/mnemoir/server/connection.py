"""Connections with limits: on their number, on the time for a request to arrive and on the size of its head.

uvicorn's own protocol waits for ever for a request that trickles in and keeps any number of idle connections; with
either, a few clients can block the server for all others.
"""

import asyncio
from asyncio.events import TimerHandle
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from mnemoir.core.errors import InvalidRequest, MnemoirError, Overloaded, TooLarge
from mnemoir.core.ids import new_request_id
from mnemoir.server.errors import error_body

MOST_HEAD_BYTES = 64 * 1024
_REFUSED_WAIT_S = 5.0  # for the request of a connection that will be refused for lack of room


class BoundedConnection(HttpToolsProtocol):
    """A connection with the limits that `bounded` sets on a subclass."""

    most_connections: int
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
        self._in_head = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        over = len(self.connections) - self.most_connections
        if over > max(self.most_connections // 4, 8):
            transport.abort()  # no room even for a refusal
            return
        if over > 0:
            self.app = _no_room
        self._start_deadline(self.deadline_s if over <= 0 else min(self.deadline_s, _REFUSED_WAIT_S))

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_deadline()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._in_head:
            self._head_bytes += len(data)
        super().data_received(data)
        if self._in_head and self._head_bytes > MOST_HEAD_BYTES and not self.transport.is_closing():
            self._refuse(431, TooLarge(f"The request's head is larger than {MOST_HEAD_BYTES} bytes."))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._deadline is None:
            self._start_deadline(self.deadline_s)

    def on_headers_complete(self) -> None:
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._stop_deadline()
        self._in_head, self._head_bytes = True, 0

    def send_400_response(self, msg: str) -> None:
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
            return
        being_answered = self.cycle is not None and self.cycle.response_started
        if self._head_bytes and not being_answered:
            self._refuse(408, InvalidRequest("The request took too long to arrive.", code="request_timeout"))
            return
        self.transport.close()

    def _refuse(self, status: int, exc: MnemoirError) -> None:
        self.transport.write(_whole(status, exc))
        self.transport.close()


def bounded(most_connections: int, deadline_s: float) -> type[BoundedConnection]:
    """The protocol class with these limits, in the form that uvicorn takes."""
    return type("Connection", (BoundedConnection,), {"most_connections": most_connections, "deadline_s": deadline_s})


async def _no_room(scope: Scope, receive: Receive, send: Send) -> None:
    request_id = new_request_id()
    body = error_body(Overloaded("Too many connections. Try again in a moment."), "rest", request_id)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"retry-after", b"1"),
        (b"x-request-id", request_id.encode("ascii")),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": body})


_: ASGIApp = _no_room


def _whole(status: int, exc: MnemoirError) -> bytes:
    """The bytes of an error response sent without the application, which has received no request."""
    names = {400: "Bad Request", 408: "Request Timeout", 431: "Request Header Fields Too Large"}
    request_id = new_request_id()
    body = error_body(exc, "rest", request_id)
    return (
        f"HTTP/1.1 {status} {names[status]}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
        f"x-request-id: {request_id}\r\nconnection: close\r\n\r\n"
    ).encode("ascii") + body
