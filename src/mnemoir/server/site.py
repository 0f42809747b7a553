"""The shared state of one server, which its routes work with."""

import asyncio
from dataclasses import dataclass

from starlette.types import Scope

from mnemoir.app.parts import Parts
from mnemoir.core.events import Usage
from mnemoir.core.scope import Scope as Owner
from mnemoir.server.door.access import Guard, presented_key
from mnemoir.server.door.clients import Clients
from mnemoir.server.door.entry import Metrics
from mnemoir.server.door.options import ServerOptions
from mnemoir.server.door.shares import Shares
from mnemoir.server.door.table import Table
from mnemoir.server.door.turns import Turns
from mnemoir.server.door.under_way import Places, UnderWay
from mnemoir.server.live_answers import LiveAnswers


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The shared state of one server. `metrics` is None when switched off."""

    parts: Parts
    options: ServerOptions
    guard: Guard
    metrics: Metrics | None
    places: Places
    feeds: Shares
    turns: Turns
    under_way: UnderWay
    live_answers: LiveAnswers
    clients: Clients
    table: Table

    def count(self, operation: str) -> None:
        """Count one completed operation of a memory route."""
        if self.metrics is not None:
            self.metrics.memory_operation(operation)

    async def zone_of_user(self, owner: Owner) -> str | None:
        """The time zone that the person says of themselves whose memories these are; None without one."""
        users = self.parts.access.users
        return await asyncio.to_thread(users.time_zone, owner.tenant, owner.user) if users.are_there else None

    def credential_for_memory(self, scope: Scope) -> str | None:
        """The key for another memory server, if the caller's may go there.

        A server without keys accepts any key; apps then send a placeholder, which must go nowhere.
        """
        may_go = self.parts.settings.memory.forward_credentials and self.guard.needs_key
        return presented_key(scope) if may_go else None

    def count_tokens(self, usage: Usage) -> None:
        """Count the tokens that a model took for an add."""
        if self.metrics is not None:
            self.metrics.usage("add", usage)
