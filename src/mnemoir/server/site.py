"""What every route works with: the running parts, the options, and what the server itself counts."""

import asyncio
from dataclasses import dataclass

from starlette.types import Scope

from mnemoir.app.parts import Parts
from mnemoir.core.errors import Overloaded
from mnemoir.core.scope import DEFAULT_TENANT, project_name
from mnemoir.ports.memory_store import Project
from mnemoir.server.clients import Clients
from mnemoir.server.metrics import Metrics
from mnemoir.server.options import ServerOptions
from mnemoir.server.under_way import UnderWay
from mnemoir.server.visit import header, query


class Places:
    """Places for chats under way: a chat takes one or is refused at once, for a queue only hides the overload."""

    def __init__(self, most: int, metrics: Metrics | None) -> None:
        self._most = most
        self._metrics = metrics
        self.taken = 0

    def __enter__(self) -> None:
        if self.taken >= self._most:
            raise Overloaded(f"All {self._most} places for chats are taken. Try again in a moment.")
        self._count(1)

    def __exit__(self, *exc: object) -> None:
        self._count(-1)

    def _count(self, change: int) -> None:
        self.taken += change
        if self._metrics is not None:
            self._metrics.active_chats(self.taken)


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One server. `metrics` is None when switched off."""

    parts: Parts
    options: ServerOptions
    metrics: Metrics | None
    places: Places
    under_way: UnderWay
    clients: Clients
    settings_change: asyncio.Lock  # a project's settings are read, changed and written back

    def project(self, scope: Scope) -> Project:
        """Query `project`, else header `X-Etienne-Project`, else the default. Raises InvalidRequest."""
        named = query(scope, "project")
        if named is None:
            named = header(scope, b"x-etienne-project")
        project = self.options.default_project if named is None else project_name(named)
        return Project(tenant=DEFAULT_TENANT, project=project)

    def count(self, operation: str) -> None:
        """A memory route did its work."""
        if self.metrics is not None:
            self.metrics.memory_operation(operation)
