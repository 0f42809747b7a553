"""What every route works with: the running parts, the options, and what the server itself counts."""

import asyncio
from dataclasses import dataclass

from mnemoir.app.parts import Parts
from mnemoir.core.errors import Overloaded
from mnemoir.server.clients import Clients
from mnemoir.server.metrics import Metrics
from mnemoir.server.options import ServerOptions
from mnemoir.server.under_way import UnderWay


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

    def count(self, operation: str) -> None:
        """A memory route did its work."""
        if self.metrics is not None:
            self.metrics.memory_operation(operation)
