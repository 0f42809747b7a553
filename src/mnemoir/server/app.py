"""The ASGI application: the layers around the routes, and the routes."""

from starlette.types import ASGIApp

from mnemoir.app.parts import Parts
from mnemoir.ports.jobs import ADD_LATER
from mnemoir.ports.run_store import MOST_FOLLOWERS
from mnemoir.server import health
from mnemoir.server.door.access import Guard
from mnemoir.server.door.client_address import Proxies
from mnemoir.server.door.clients import Clients
from mnemoir.server.door.entry import Metrics, Record
from mnemoir.server.door.options import ServerOptions
from mnemoir.server.door.routing import Routing
from mnemoir.server.door.shares import Shares
from mnemoir.server.door.table import Section, Table
from mnemoir.server.door.turns import Turns
from mnemoir.server.door.ui import Ui
from mnemoir.server.door.under_way import Places, UnderWay
from mnemoir.server.first_use import LocalMemory, RestApplication, add_later
from mnemoir.server.live_answers import LiveAnswers
from mnemoir.server.protocols import agent_tools, chat_routes
from mnemoir.server.site import Site

_SECTIONS = (
    Section(
        module="mnemoir.server.status",
        paths=("ready", "metrics", "api/status", "api/clients"),
    ),
    Section(module="mnemoir.server.keys", paths=("api/keys", "api/me", "api/tenants", "api/audit")),
    Section(module="mnemoir.server.sign_in", paths=("auth", "api/auth", "api/me", "api/users", "api/invitations")),
    Section(module="mnemoir.server.subjects", paths=("api/subjects", "api/holds", "api/retention")),
    Section(module="mnemoir.server.model", paths=("api/model",)),
    Section(module="mnemoir.server.reference", paths=("docs", "openapi.json")),
    Section(
        module="mnemoir.server.memories.routers",
        paths=(
            "api/memories",
            "api/projects",
            "api/events",
            "api/export",
            "api/import",
            "api/sample",
            "api/conversations",
        ),
    ),
    Section(module="mnemoir.server.runs", paths=("api/runs",)),
    Section(module="mnemoir.server.workflow_files", paths=("api/workflows",)),
    Section(module="mnemoir.server.workflow_trials", paths=("api/workflows",)),
    Section(module="mnemoir.server.usage", paths=("api/usage",)),
    Section(module="mnemoir.server.discussions", paths=("api/discussions",)),
    Section(module="mnemoir.server.conversations", paths=("api/conversations", "api/files")),
    Section(module="mnemoir.server.imports", paths=("api/imports",)),
    Section(
        module="mnemoir.server.protocols.model_lists",
        paths=(
            *("", "models", "v1/models", "api/page", "api/version", "api/tags", "api/ps", "api/show", "api/blobs"),
            *("api/pull", "api/push", "api/create", "api/copy", "api/delete"),
        ),
    ),
    Section(module="mnemoir.server.protocols.no_sign_in", paths=(".well-known", "mcp", "register")),
)
_DIRECT = (*chat_routes.ROUTES, *agent_tools.ROUTES, *health.ROUTES)
TABLE = Table(_DIRECT, _SECTIONS)


def create_app(parts: Parts, options: ServerOptions) -> ASGIApp:
    """The whole server over running parts. The caller, which opened the parts, starts and closes them."""
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
    )
    parts.upkeep.background.handle(ADD_LATER, add_later(site))
    if parts.serves_its_own_memory:
        parts.chats.memory_service.attach(LocalMemory(site))
    routing = Routing(
        options=options,
        guard=guard,
        turns=site.turns,
        audit=parts.access.audit,
        proxies=Proxies(options.trusted_proxies),
        ui=Ui(options, guard),
        table=TABLE,
        direct={route: route.endpoint(site) for route in _DIRECT},
        rest=RestApplication(site, TABLE),
        clients=site.clients,
        root_path=options.root_path.encode("ascii", "ignore"),
    )
    return Record(routing, metrics)
