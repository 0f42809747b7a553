"""One message of the protocol over HTTP: it comes by itself, is answered as JSON, and nothing is kept of it.

So there are no sessions, and no client notices that the server was started again between two calls. The library's own
HTTP transport makes streams and tasks for each request, which cost more than a tool; here its server is asked
directly. A client of versions to 2025-11-25 begins with a handshake, which is answered as any other request; one of
later versions tells with each request what the handshake would have told.
"""

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import anyio
from mcp.server.connection import Connection
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    MCP_PROTOCOL_VERSION_HEADER,
    InboundLadderRejection,
    classify_inbound_request,
    find_duplicated_routing_header,
)
from mcp.shared.message import MessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp.types import CLIENT_INFO_META_KEY, INVALID_PARAMS, INVALID_REQUEST, ErrorData, JSONRPCRequest
from mcp_types import DEFAULT_NEGOTIATED_VERSION, HEADER_MISMATCH
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError

from mnemoir.mcp.owner import Owner as Owner
from mnemoir.mcp.plain_server import PlainServer, problem_of
from mnemoir.mcp.tools import tools_of

_owner: ContextVar[Owner] = ContextVar("owner")  # of the request that is being answered
_VERSION: Final = "2.0"
_VERSION_HEADER = MCP_PROTOCOL_VERSION_HEADER.encode("ascii")
_BY_ITSELF = "must be one message, which is an object. Send each message of a batch by itself."


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer over HTTP; `body` is None where only the status says that a message came."""

    status: int
    body: Mapping[str, Any] | None = None


@dataclass(slots=True, kw_only=True)
class _Exchange:
    """What the library's server sees of the one request that came; there is no way to ask the client anything."""

    request_id: str | int
    transport: TransportContext = field(
        default_factory=lambda: TransportContext(kind="streamable-http", can_send_request=False)
    )
    message_metadata: MessageMetadata = None
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)
    can_send_request: bool = False

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Raises NoBackChannelError."""
        raise NoBackChannelError(method)

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        """Drop a notice: the answer is one piece of JSON."""

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Drop a notice: the answer is one piece of JSON."""


@cache
def _tools() -> PlainServer:
    return tools_of(_owner.get)


def prepare_tools() -> None:
    """Make what all requests share; until then the first one waits for it."""
    _tools()


def client_name(message: object) -> str:
    """What the client calls itself in a message; "" where it says nothing."""
    params = message.get("params") if isinstance(message, dict) else None
    if not isinstance(params, dict):
        return ""
    meta = params.get("_meta")
    told = params.get("clientInfo") or (meta.get(CLIENT_INFO_META_KEY) if isinstance(meta, dict) else None)
    name = told.get("name") if isinstance(told, dict) else None
    return name if isinstance(name, str) else ""


async def answer_message(owner: Owner, headers: Sequence[tuple[bytes, bytes]], message: object) -> Reply:
    """Answer one message, whose headers have names in lower case. `message` is its body, read from JSON."""
    request = _request_of(message)
    if not isinstance(request, JSONRPCRequest):
        return request
    sent = (value.decode("latin-1") for name, value in headers if name == _VERSION_HEADER)
    version = next(sent, DEFAULT_NEGOTIATED_VERSION)
    if version in HANDSHAKE_PROTOCOL_VERSIONS:
        reply = await _answer(owner, request, Connection.from_envelope(version, None, None))
        return Reply(status=200, body=reply.body)
    named = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]
    if (twice := find_duplicated_routing_header(named)) is not None:
        return _refusal(HEADER_MISMATCH, f"The header {twice} is there more than once. Send it once.", request.id)
    route = classify_inbound_request({"method": request.method, "params": request.params}, headers=dict(named))
    if isinstance(route, InboundLadderRejection):
        return _failure(ErrorData(code=route.code, message=route.message, data=route.data), request.id)
    told = route.protocol_version, route.client_info, route.client_capabilities
    return await _answer(owner, request, Connection.from_envelope(*told))


async def _answer(owner: Owner, request: JSONRPCRequest, connection: Connection) -> Reply:
    mark = _owner.set(owner)
    try:
        result = await _tools().answer(_Exchange(request_id=request.id), connection, request)
    except MCPError as exc:
        return _failure(exc.error, request.id)
    except ValidationError as exc:
        return _refusal(INVALID_PARAMS, _problems(exc), request.id)
    finally:
        _owner.reset(mark)
    return Reply(status=200, body={"jsonrpc": _VERSION, "id": request.id, "result": result})


def _request_of(message: object) -> JSONRPCRequest | Reply:
    """The request that a message is, or else its answer: 202 for what waits for none, 400 for what is no message."""
    if not isinstance(message, dict):
        return _refusal(INVALID_REQUEST, f"The body {_BY_ITSELF}")
    found = message.get("id")
    known = found if isinstance(found, (str, int)) and not isinstance(found, bool) else None
    if message.get("jsonrpc") != _VERSION:
        return _refusal(INVALID_REQUEST, f'The member `jsonrpc` must be "{_VERSION}".', known)
    if "method" not in message and ("result" in message or "error" in message):
        return Reply(status=202)
    if not isinstance(message.get("method"), str):
        return _refusal(INVALID_REQUEST, "The member `method` must be a text.", known)
    if message.get("params") is not None and not isinstance(message["params"], dict):
        return _refusal(INVALID_PARAMS, "The member `params` must be an object.", known)
    if "id" not in message:
        return Reply(status=202)
    if known is None:
        return _refusal(INVALID_REQUEST, "The member `id` must be a text or a whole number.")
    return JSONRPCRequest(jsonrpc=_VERSION, id=known, method=message["method"], params=message.get("params"))


def _problems(exc: ValidationError) -> str:
    """A sentence for each wrong member of a request."""
    problems = ((".".join(map(str, error["loc"])), problem_of(error)) for error in exc.errors(include_url=False))
    return " ".join(f"The member `{place}` {problem}." for place, problem in problems)


def _refusal(code: int, sentence: str, request_id: str | int | None = None) -> Reply:
    return _failure(ErrorData(code=code, message=sentence), request_id)


def _failure(error: ErrorData, request_id: str | int | None) -> Reply:
    body = {"jsonrpc": _VERSION, "id": request_id, "error": error.model_dump(exclude_none=True)}
    return Reply(status=ERROR_CODE_HTTP_STATUS.get(error.code, 200 if request_id is not None else 400), body=body)
