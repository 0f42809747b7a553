"""The ASGI application: the layers around the routes, and the routes."""

import asyncio
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.responses import Response
from starlette.types import ASGIApp

from mnemoir import __version__
from mnemoir.app.parts import Parts
from mnemoir.core.errors import MnemoirError
from mnemoir.ports.run_store import MOST_FOLLOWERS
from mnemoir.server import (
    conversations,
    discussions,
    imports,
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
from mnemoir.server.door.access import Guard
from mnemoir.server.door.client_address import Proxies
from mnemoir.server.door.clients import Clients
from mnemoir.server.door.entry import Metrics, Record
from mnemoir.server.door.errors import Invalid, failure, internal_error
from mnemoir.server.door.options import ServerOptions
from mnemoir.server.door.routing import Routing
from mnemoir.server.door.shares import Shares
from mnemoir.server.door.table import Table, run_found
from mnemoir.server.door.turns import Turns
from mnemoir.server.door.ui import Ui
from mnemoir.server.door.under_way import Places, UnderWay
from mnemoir.server.live_answers import LiveAnswers
from mnemoir.server.memories import later
from mnemoir.server.memories.routes import LocalMemoryRoutes
from mnemoir.server.openapi import describe
from mnemoir.server.protocols import agent_tools, chat_routes, model_lists
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
    *(*discussions.ROUTERS, *conversations.ROUTERS, *imports.ROUTERS),
    *(model_lists.router, agent_tools.router),
)
_DIRECT = (*chat_routes.ROUTES, *agent_tools.ROUTES)
TABLE = Table((*_DIRECT, *(route for router in _ROUTERS for route in router.routes)))


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
        table=TABLE,
        settings_change=asyncio.Lock(),
    )
    if parts.serves_its_own_memory:
        parts.chats.memory_service.attach(LocalMemoryRoutes(site))
    routing = Routing(
        options=options,
        guard=guard,
        turns=site.turns,
        audit=parts.access.audit,
        proxies=Proxies(options.trusted_proxies),
        ui=Ui(options, guard),
        table=TABLE,
        direct={route: route.endpoint(site) for route in _DIRECT},
        rest=_rest(site),
        clients=site.clients,
        root_path=options.root_path.encode("ascii", "ignore"),
    )
    return Record(routing, metrics)


def _rest(site: Site) -> FastAPI:
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
    app.router.default = run_found  # it has no routes of its own to search: the front has found one
    app.add_exception_handler(MnemoirError, _on_ours)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(Exception, _on_fault)

    def openapi() -> dict[str, Any]:
        root_path = site.options.root_path
        if root_path not in _described:
            _described[root_path] = describe(app, TABLE.routes, root_path)
        return _described[root_path]

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's documented way to extend it
    return app


async def _on_ours(request: Request, exc: Exception) -> Response:
    assert isinstance(exc, MnemoirError)
    return failure(request.scope, exc)


async def _on_invalid(request: Request, exc: Exception) -> Response:
    assert isinstance(exc, RequestValidationError)
    return failure(request.scope, Invalid(problems_of(exc.errors())))


async def _on_fault(request: Request, exc: Exception) -> Response:
    # the layer around it, Record, writes the log line
    return failure(request.scope, internal_error())
