"""HTTP requests to an ASGI application in the same process, without a socket."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from starlette.types import ASGIApp, Message, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class AsgiAnswer:
    """The application's complete response; header names are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


async def call_asgi(
    app: ASGIApp, method: str, target: str, *, headers: Mapping[str, str] | None = None, body: bytes = b""
) -> AsgiAnswer:
    """Request `target` (path and query, percent-encoded) from `app`. Raises what the application raises."""
    exchange = _Exchange(body)
    await app(_request_scope(method, target, headers or {}, body), exchange.receive, exchange.send)
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
        "client": ("127.0.0.1", 0),
        "server": ("localhost", 0),
    }
