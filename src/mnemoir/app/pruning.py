"""Old conversations go by themselves, and what else is pruned, where the settings say so: at the start, then daily.

A file's time tells when it was last done, so that a server that is started ten times a day prunes once.
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import structlog

from mnemoir.core.clock import Clock, utc_now
from mnemoir.core.errors import StorageUnavailable
from mnemoir.ports.memory_kinds import MemoryKind

_log = structlog.get_logger(__name__)

STAMP_FILE = ".pruned"
_EVERY_S = 24 * 3600.0
_LOOK_S = 3600.0


class Pruning:
    """`root` is the folder of conversations: where it is missing, nothing is there. `days` of None never prunes."""

    def __init__(self, kinds: Sequence[MemoryKind], root: Path, days: int | None, clock: Clock = utc_now) -> None:
        self._kinds = kinds
        self._stamp = root / STAMP_FILE
        self._days = days
        self._clock = clock
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, in the background."""
        if self._days is not None:
            self._task = asyncio.create_task(self._prune_daily(), name="prune conversations")

    async def aclose(self) -> None:
        """End it; the conversation that is being removed is removed whole."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def prune_if_due(self) -> int:
        """How much went; 0 where a day has not gone by. Raises OSError and StorageUnavailable."""
        if self._days is None or not await asyncio.to_thread(self._is_due):
            return 0
        pruned = sum([await kind.prune(self._days) for kind in self._kinds if kind.prune is not None])
        await asyncio.to_thread(self._stamp.touch, 0o600)
        if pruned:
            _log.info("conversations pruned", count=pruned, days=self._days)
        return pruned

    async def last_done(self) -> datetime | None:
        """When old conversations were last looked for; None for never. Also where that is switched off by now."""
        try:
            stamp = await asyncio.to_thread(self._stamp.stat)
        except OSError:
            return None
        return datetime.fromtimestamp(stamp.st_mtime, UTC)

    async def _prune_daily(self) -> None:
        while True:
            try:
                await self.prune_if_due()
            except (OSError, StorageUnavailable) as exc:
                _log.warning("conversations not pruned", error=type(exc).__name__)
            await asyncio.sleep(_LOOK_S)

    def _is_due(self) -> bool:
        """Also after the clock was set back; not where nobody has said anything yet."""
        if not self._stamp.parent.exists():
            return False
        try:
            since_s = self._clock().timestamp() - self._stamp.stat().st_mtime
        except FileNotFoundError:
            return True
        return abs(since_s) >= _EVERY_S
