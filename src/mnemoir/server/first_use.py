"""What a server at rest does without: its modules are imported when a request or a job first needs them."""

from collections.abc import Mapping
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from mnemoir.core.scope import Scope as Owner
from mnemoir.memory.background import Handler
from mnemoir.ports.jobs import Job
from mnemoir.server.door.table import Table
from mnemoir.server.site import Site


class RestApplication:
    """The REST application of a site."""

    def __init__(self, site: Site, table: Table) -> None:
        self._site = site
        self._table = table
        self._made: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.application(scope, receive, send)

    @property
    def application(self) -> ASGIApp:
        """The application itself, made when it is first asked for."""
        if self._made is None:
            from mnemoir.server.rest_application import rest_application

            self._made = rest_application(self._site, self._table)
        return self._made


class LocalMemory:
    """The routes of memories for chats of this server; see `LocalMemoryRoutes`."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def __call__(
        self, route: str, scope: Owner, body: Mapping[str, Any], key: str | None
    ) -> tuple[int, Mapping[str, Any]]:
        """The status and the JSON of the answer. Raises nothing."""
        from mnemoir.server.memories.local import LocalMemoryRoutes

        return await LocalMemoryRoutes(self._site)(route, scope, body, key)


def add_later(site: Site) -> Handler:
    """The handler of jobs that add memories; see `later.add_later`."""

    async def run(job: Job) -> Mapping[str, Any]:
        from mnemoir.server.memories import later

        parts = site.parts
        return await later.add_later(parts.memory.facts, parts.chats.times.write, parts.chats.quotas)(job)

    return run
