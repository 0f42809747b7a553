"""Errors as HTTP answers: one table from error classes to statuses, one shape, and the members of each dialect.

Every error has `detail`, `error`, `code` and `request_id`. The OpenAI routes differ in one member: their clients
read `error` as an object. So do those of agents' tools, which speak JSON-RPC.
"""

import copy
import math
import re
from collections.abc import Sequence
from typing import Any, Literal, NotRequired

import orjson
import structlog
from starlette.responses import Response
from starlette.types import Scope
from typing_extensions import TypedDict

from mnemoir.core.clock import to_text
from mnemoir.core.errors import (
    Cancelled,
    Conflict,
    Forbidden,
    InvalidRequest,
    IssuerUnavailable,
    MnemoirError,
    NotFound,
    NotSupported,
    Overloaded,
    ProviderError,
    ProviderNotConfigured,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
    QuotaExceeded,
    RateLimited,
    StorageUnavailable,
    TooLarge,
    Unauthorized,
)
from mnemoir.server.door.request import visit_of
from mnemoir.wire.openai_chat import write_error
from mnemoir.wire.openai_shapes import OpenAIErrorBody

Surface = Literal["rest", "openai", "ollama", "mcp"]
_log = structlog.get_logger(__name__)
_FOLDERS = re.compile(r"""(?<![\w./\\])(?:/|[A-Za-z]:[/\\])(?:[^\s'"/\\]+[/\\])*(?=[^\s'"/\\])""")


class Misfit(TypedDict):
    """One invalid place of a request: its path, the reason and the violated rule, in FastAPI's shape."""

    loc: list[str | int]
    msg: str
    type: str


class ErrorAnswer(TypedDict):
    """The error and what to do next. `detail` repeats `error`, or lists each invalid place of the request.

    `bucket` is the kind of requests of which there were too many. Of a quota that is used up there are `what` it is
    about, how much is `used`, its `limit`, and when it `resets_at`, null where only deleting helps.
    """

    detail: str | Sequence[Misfit]
    error: str
    code: str
    request_id: str
    bucket: NotRequired[str]
    what: NotRequired[str]
    used: NotRequired[int]
    limit: NotRequired[int]
    resets_at: NotRequired[str | None]


class OpenAIErrorAnswer(TypedDict):
    """An error on the routes of OpenAI's protocols, whose clients read `error` as an object."""

    detail: str | Sequence[Misfit]
    error: OpenAIErrorBody
    code: str
    request_id: str
    bucket: NotRequired[str]
    what: NotRequired[str]
    used: NotRequired[int]
    limit: NotRequired[int]
    resets_at: NotRequired[str | None]


class RpcError(TypedDict):
    """The error as clients of JSON-RPC read it."""

    code: int
    message: str


class RpcErrorAnswer(TypedDict):
    """An error on the route of agents' tools, for a message of which no id is known."""

    jsonrpc: Literal["2.0"]
    id: None
    error: RpcError
    detail: str | Sequence[Misfit]
    code: str
    request_id: str
    bucket: NotRequired[str]


# the first class that matches decides
_STATUS: tuple[tuple[type[MnemoirError], int], ...] = (
    (NotFound, 404),
    (Conflict, 409),
    (TooLarge, 413),
    (NotSupported, 501),
    (InvalidRequest, 400),
    (Unauthorized, 401),
    (IssuerUnavailable, 503),
    (Forbidden, 403),
    (Overloaded, 503),
    (Cancelled, 499),
    (StorageUnavailable, 503),
    (ProviderNotConfigured, 503),
    (ProviderTimeout, 504),
    (ProviderError, 502),
)
_BY_CODE = {
    "validation_error": 422,
    "check_failed": 422,
    "personal_data": 422,
    "changed_meanwhile": 412,
    "unsupported_encoding": 415,
    "wrong_kind": 415,
    "method_not_allowed": 405,
    "llm_rate_limited": 429,
    "rate_limited": 429,
}
_OPENAI_PATHS = ("/v1/", "/api/page/", "/chat/completions", "/completions", "/embeddings", "/models")
_MCP_PATH = "/mcp"
_OLLAMA_PATHS = frozenset({"/api/chat", "/api/generate", "/api/embed", "/api/embeddings"})
_RPC_REFUSED, _RPC_FAILED = -32600, -32603
_RPC_CODES = {"invalid_json": -32700, "repeated_parameter": -32700}
_LONGEST_WAIT_S = 3600
_STOPPED_S = 5  # the time of a restart
# the statuses that clients of a model's server act upon: key, credit, permission, model's name, retry, size
_KEPT_REFUSALS = frozenset({402, 403, 404, 408, 409, 413, 415, 422})


class Invalid(InvalidRequest):
    """A request that does not match its schema; `problems` lists each invalid place."""

    code = "validation_error"

    def __init__(self, problems: Sequence[Misfit]) -> None:
        self.problems = problems
        super().__init__(_summary(problems))


class MethodNotAllowed(InvalidRequest):
    """The path is known, the method is not; `allowed` are those that are."""

    code = "method_not_allowed"

    def __init__(self, method: str, allowed: Sequence[str]) -> None:
        self.allowed = ", ".join(allowed)
        super().__init__(f"{method} is not offered here. Use {self.allowed}.")


def surface_of(path: str) -> Surface:
    """The protocol whose clients call this path."""
    if path.startswith(_OPENAI_PATHS):
        return "openai"
    if path == _MCP_PATH:
        return "mcp"
    return "ollama" if path in _OLLAMA_PATHS else "rest"


def status_of(exc: MnemoirError, surface: Surface = "rest") -> int:
    """The status for an error.

    On the chat routes this server stands in for the model's server, so a refusal by that keeps its class and meaning;
    on the other routes it is a failure of the gateway, not of the caller.
    """
    if surface != "rest":
        if exc.code == "validation_error" or (isinstance(exc, NotSupported) and exc.field):
            return 400  # the status of the OpenAI and Ollama servers for a member they cannot accept
        if isinstance(exc, ProviderRefused):
            return _status_of_refusal(exc)
        if isinstance(exc, ProviderUnavailable) and exc.status == 503:
            return 503
    by_code = _BY_CODE.get(exc.code)
    if by_code is not None:
        return by_code
    return next((status for kind, status in _STATUS if isinstance(exc, kind)), 500)


def outward(exc: MnemoirError) -> MnemoirError:
    """The error as clients may see it: files of the server by their names, without the folders they are in."""
    if not isinstance(exc, StorageUnavailable):
        return exc
    told = copy.copy(exc)
    told.message = _FOLDERS.sub("", exc.message)
    return told


def error_body(exc: MnemoirError, surface: Surface, request_id: str) -> bytes:
    """The JSON of an error."""
    exc = outward(exc)
    detail = _problems(exc) or exc.message
    told = _own_members(exc)
    if surface == "openai":
        error = write_error(exc)["error"]
        openai: OpenAIErrorAnswer = {"detail": detail, "error": error, "code": exc.code, "request_id": request_id}
        return orjson.dumps(openai | told)
    if surface == "mcp":
        rpc: RpcErrorAnswer = {
            "jsonrpc": "2.0",
            "id": None,
            "error": {"code": _rpc_code(exc), "message": exc.message},
            "detail": detail,
            "code": exc.code,
            "request_id": request_id,
        }
        return orjson.dumps(rpc | told)
    body: ErrorAnswer = {"detail": detail, "error": exc.message, "code": exc.code, "request_id": request_id}
    return orjson.dumps(body | told)


def _rpc_code(exc: MnemoirError) -> int:
    """The code by which JSON-RPC names the kind of an error."""
    return _RPC_CODES.get(exc.code, _RPC_REFUSED if status_of(exc) < 500 else _RPC_FAILED)


def error_headers(exc: MnemoirError) -> dict[str, str]:
    """Headers that belong to the error itself."""
    wait_s = getattr(exc, "retry_after_s", None)
    if wait_s is not None and math.isfinite(wait_s):
        return {"retry-after": str(min(max(math.ceil(wait_s), 0), _LONGEST_WAIT_S))}
    if isinstance(exc, Unauthorized):
        return {"www-authenticate": "Bearer"}
    return {"allow": exc.allowed} if isinstance(exc, MethodNotAllowed) else {}


def failure(scope: Scope, exc: MnemoirError) -> Response:
    """The answer to the request of `scope` that failed with `exc`."""
    surface, visit = surface_of(scope["path"]), visit_of(scope)
    if isinstance(exc, StorageUnavailable):
        _log.warning("storage unavailable", cause=exc.message, request_id=visit.request_id)
    run = {"x-workflow-run-id": visit.run_id} if visit.run_id else {}
    return Response(
        error_body(exc, surface, visit.request_id),
        status_code=status_of(exc, surface),
        headers=error_headers(exc) | run,
        media_type="application/json",
    )


def internal_error() -> MnemoirError:
    """The error sent to a client for an internal fault; it reveals nothing else about the fault."""
    return MnemoirError("The server failed to answer; its log says why under this request's id.")


def stopping() -> MnemoirError:
    """The error for a request that was still being answered when the server stopped."""
    return Overloaded("The server is stopping. Ask again in a moment.", retry_after_s=_STOPPED_S)


def _status_of_refusal(exc: ProviderRefused) -> int:
    if exc.code == "llm_rate_limited":
        return 429
    if exc.status in _KEPT_REFUSALS:
        return exc.status
    if exc.status is not None and exc.status < 400:  # it leads elsewhere, which is not the caller's fault
        return 502
    return 401 if exc.code == "llm_auth_failed" else 400


def _own_members(exc: MnemoirError) -> dict[str, Any]:
    """The JSON members that only errors of this class have."""
    if isinstance(exc, RateLimited):
        return {"bucket": exc.bucket}
    if isinstance(exc, QuotaExceeded):
        resets_at = None if exc.resets_at is None else to_text(exc.resets_at)
        return {"what": exc.what, "used": exc.used, "limit": exc.limit, "resets_at": resets_at}
    return {}


def _problems(exc: MnemoirError) -> Sequence[Misfit]:
    if isinstance(exc, Invalid):
        return exc.problems
    if isinstance(exc, InvalidRequest) and exc.code == "validation_error":
        return [{"loc": [exc.field or "request"], "msg": exc.message, "type": "value_error"}]
    return []


def _summary(problems: Sequence[Misfit]) -> str:
    first = problems[0]
    # the first step of a place is "body" or "query", which does not help a reader
    place = ".".join(str(step) for step in first["loc"][1:]) or str(first["loc"][0])
    rest = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{place}: {first['msg']}{rest}"
