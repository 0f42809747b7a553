"""One visit: what is known of a request from its first moment, kept in the ASGI scope."""

from dataclasses import dataclass, field
from time import perf_counter
from urllib.parse import parse_qsl

from starlette.types import Scope

from mnemoir.core.ids import new_request_id

_KEY = "mnemoir.visit"
_ROUTE = "mnemoir.route"
_HEADERS = "mnemoir.headers"


@dataclass(slots=True, kw_only=True)
class Visit:
    """`started` is on the clock of perf_counter; `left` tells that the client went before it had its answer.

    `run_id` is that of the workflow run it led to, "" for none.
    """

    request_id: str = field(default_factory=new_request_id)
    started: float = field(default_factory=perf_counter)
    left: bool = False
    run_id: str = ""


def begin_visit(scope: Scope) -> Visit:
    """A new visit, kept in the scope."""
    visit = Visit()
    scope[_KEY] = visit
    return visit


def visit_of(scope: Scope) -> Visit:
    """The visit this scope belongs to."""
    visit = scope.get(_KEY)
    return visit if isinstance(visit, Visit) else begin_visit(scope)


def note_route(scope: Scope, route: str) -> None:
    """Remember which route took the request, by its template."""
    scope[_ROUTE] = route


def route_of(scope: Scope) -> str:
    """The template of the route that took the request, as routers note it; `unmatched` for none."""
    return str(scope.get(_ROUTE) or getattr(scope.get("route"), "path", None) or "unmatched")


def header(scope: Scope, name: bytes) -> str | None:
    """The first header of that (lower case) name, trimmed; None when there is none."""
    headers = scope.get(_HEADERS)
    if headers is None:  # a chat asks for ten of them
        headers = scope[_HEADERS] = dict(reversed(scope["headers"]))
    value = headers.get(name)
    return None if value is None else str(value.decode("latin-1").strip())


def query(scope: Scope, name: str) -> str | None:
    """The last query parameter of that name; None when there is none."""
    sent = scope["query_string"]
    if not sent:
        return None
    pairs = parse_qsl(sent.decode("latin-1"), keep_blank_values=True)
    return next((value for key, value in reversed(pairs) if key == name), None)
