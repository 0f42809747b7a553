"""The ASGI application: the layers around the routes, and the routes."""

import asyncio
import re
from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Scope

from mnemoir import __version__
from mnemoir.app.parts import Parts
from mnemoir.core.errors import MnemoirError, NotFound
from mnemoir.ports.run_store import MOST_FOLLOWERS
from mnemoir.server import (
    conversations,
    discussions,
    keys,
    memories,
    model,
    reference,
    runs,
    sign_in,
    status,
    subjects,
    usage,
    workflow_files,
    workflow_trials,
)
from mnemoir.server.chat import ChatRoute
from mnemoir.server.door.access import Guard
from mnemoir.server.door.client_address import Proxies
from mnemoir.server.door.clients import Clients, ToolsSeen
from mnemoir.server.door.entry import Metrics, Record
from mnemoir.server.door.errors import Invalid, broken, failure
from mnemoir.server.door.options import ServerOptions
from mnemoir.server.door.routing import Routing, not_this_method
from mnemoir.server.door.shares import Shares
from mnemoir.server.door.turns import Turns
from mnemoir.server.door.ui import Ui
from mnemoir.server.door.under_way import Places, UnderWay
from mnemoir.server.live_answers import LiveAnswers
from mnemoir.server.memories import later
from mnemoir.server.memories.routes import LocalMemoryRoutes
from mnemoir.server.openapi import describe, plain_routes
from mnemoir.server.protocols import dialects, embeddings, model_lists
from mnemoir.server.protocols.embeddings import EmbeddingRoute
from mnemoir.server.rest import Site, problems_of

_described: dict[str, dict[str, Any]] = {}  # by root path: all servers of a process have the same routes
_ROUTERS = (
    *(
        *status.ROUTERS,
        *keys.ROUTERS,
        *sign_in.ROUTERS,
        *subjects.ROUTERS,
        *model.ROUTERS,
        *reference.ROUTERS,
        *memories.ROUTERS,
        *runs.ROUTERS,
    ),
    *(workflow_files.router, workflow_trials.router, usage.router),
    *(*discussions.ROUTERS, *conversations.ROUTERS),
)


def create_app(parts: Parts, options: ServerOptions) -> ASGIApp:
    """The whole server over running parts. The caller, which opened the parts, starts and closes them."""
    parts.upkeep.background.handle(
        later.KIND, later.add_later(parts.memory.facts, parts.chats.times.write, parts.chats.quotas)
    )
    metrics = Metrics() if options.metrics else None
    shared_counts = parts.access.shared_counts
    if metrics is not None and shared_counts is not None:
        metrics.watch_redis(lambda: shared_counts.is_up)
    guard = Guard(
        options,
        parts.access.api_keys,
        parts.access.sessions,
        parts.access.keyless_clients,
        parts.access.tokens,
        has_issuers=parts.settings.auth.has_issuers,
        shared_counts=shared_counts,
    )
    site = Site(
        parts=parts,
        options=options,
        guard=guard,
        metrics=metrics,
        places=Places(Shares(options.most_active_chats, guard.has_several_keys), metrics),
        feeds=Shares(MOST_FOLLOWERS, guard.has_several_keys),
        turns=Turns(guard.has_several_keys),
        under_way=UnderWay(options.max_body_bytes),
        live_answers=LiveAnswers(options.resume_s),
        clients=Clients(),
        settings_change=asyncio.Lock(),
    )
    posts = _posts(site)
    if parts.serves_its_own_memory:
        parts.chats.memory_service.attach(LocalMemoryRoutes(site))
    deletes = dict.fromkeys(("/api/chat", "/api/generate"), site.under_way)
    rest = _rest(site, posts)
    routing = Routing(
        guard=guard,
        turns=site.turns,
        audit=parts.access.audit,
        proxies=Proxies(options.trusted_proxies),
        ui=Ui(options, guard),
        posts=posts,
        deletes=deletes,
        rest=ToolsSeen(rest, site.clients),
        is_route=lambda scope: scope["path"] in posts or any(_routes_of(rest, scope)),
        root_path=options.root_path.encode("ascii", "ignore"),
    )
    return Record(routing, metrics)


def _posts(site: Site) -> dict[str, ASGIApp]:
    openai, embed = ChatRoute(site, dialects.OPENAI_CHAT), EmbeddingRoute(site, embeddings.OPENAI)
    completions = ChatRoute(site, dialects.OPENAI_COMPLETIONS)
    return {
        "/v1/chat/completions": openai,
        "/chat/completions": openai,
        "/api/page/chat/completions": openai,
        "/v1/completions": completions,
        "/completions": completions,
        "/api/chat": ChatRoute(site, dialects.OLLAMA_CHAT),
        "/api/generate": ChatRoute(site, dialects.OLLAMA_GENERATE),
        "/v1/embeddings": embed,
        "/embeddings": embed,
        "/api/embed": EmbeddingRoute(site, embeddings.OLLAMA),
        "/api/embeddings": EmbeddingRoute(site, embeddings.OLLAMA_PROMPT),
    }


def _rest(site: Site, posts: Mapping[str, ASGIApp]) -> FastAPI:
    app = FastAPI(
        title="Mnemoir",
        version=__version__,
        description="Memory for LLM applications.",
        openapi_url=None,
        redirect_slashes=False,
        # FastAPI reports to any OpenTelemetry exporter that is configured; Mnemoir reports to none
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.state.site = site
    for router in _ROUTERS:
        # not include_router: it hides the routes from the search for the methods of a path
        app.router.routes.extend(router.routes)
    app.router.routes.extend(model_lists.routes())
    for route in app.routes:
        _end_at_the_end(route)
    # routes are matched one by one, and each chat with memory requests these two
    app.router.routes.sort(
        key=lambda route: getattr(route, "path", "") not in ("/api/memories/search", "/api/memories")
    )
    app.add_exception_handler(MnemoirError, _on_ours)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(Exception, _on_fault)
    chat_routes = {path: ["POST"] for path in posts} | plain_routes(app.routes)

    def openapi() -> dict[str, Any]:
        root_path = site.options.root_path
        if root_path not in _described:
            _described[root_path] = describe(app, chat_routes, root_path)
        return _described[root_path]

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's documented way to extend it
    return app


def _end_at_the_end(route: BaseRoute) -> None:
    """Let no path match the route that has a line feed behind it: the guard knows it for another path.

    Starlette's patterns end in `$`, which matches before a final line feed, too. All applications of a process share
    most of their routes: what an earlier one has ended stays as it is.
    """
    assert isinstance(route, Route)
    if route.path_regex.pattern.endswith("$"):
        route.path_regex = re.compile(rf"{route.path_regex.pattern.removesuffix('$')}\Z")


async def _on_ours(request: Request, exc: Exception) -> Response:
    assert isinstance(exc, MnemoirError)
    return failure(request.scope, exc)


async def _on_invalid(request: Request, exc: Exception) -> Response:
    assert isinstance(exc, RequestValidationError)
    return failure(request.scope, Invalid(problems_of(exc.errors())))


async def _on_http(request: Request, exc: Exception) -> Response:
    """Answer Starlette's own errors: no such route, or none for this method."""
    assert isinstance(exc, HTTPException)
    if exc.status_code == 405:
        return not_this_method(request.scope, _methods_of(request))
    return failure(request.scope, NotFound("There is no such route. GET /docs lists all of them."))


async def _on_fault(request: Request, exc: Exception) -> Response:
    # the layer around it, Record, writes the log line
    return failure(request.scope, broken())


def _methods_of(request: Request) -> list[str]:
    """Every method that some route offers on this path."""
    found: set[str] = set()
    for route in _routes_of(request.app, request.scope):
        found |= set(getattr(route, "methods", None) or ())
    return sorted(found - {"HEAD", "OPTIONS"})


def _routes_of(app: FastAPI, scope: Scope) -> Iterator[BaseRoute]:
    """The routes of the path of `scope`, whatever the method."""
    return (route for route in app.routes if route.matches(scope)[0] is not Match.NONE)
