"""Prunes old conversations and other data that the settings limit: at the start, then daily.

The time of the last run is the modification time of a file, so frequent restarts do not repeat it.
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
    """`root` is the folder of conversations; without it there is nothing to prune. `days` of None never prunes."""

    def __init__(self, kinds: Sequence[MemoryKind], root: Path, days: int | None, clock: Clock = utc_now) -> None:
        self._kinds = kinds
        self._stamp = root / STAMP_FILE
        self._days = days
        self._clock = clock
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start pruning in the background."""
        if self._days is not None:
            self._task = asyncio.create_task(self._prune_daily(), name="prune conversations")

    async def aclose(self) -> None:
        """Stop pruning; a removal under way is completed."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def prune_if_due(self) -> int:
        """Prune once a day; return how much was removed, 0 when not due. Raises OSError and StorageUnavailable."""
        if self._days is None or not await asyncio.to_thread(self._is_due):
            return 0
        pruned = sum([await kind.prune(self._days) for kind in self._kinds if kind.prune is not None])
        await asyncio.to_thread(self._stamp.touch, 0o600)
        if pruned:
            _log.info("conversations pruned", count=pruned, days=self._days)
        return pruned

    async def last_done(self) -> datetime | None:
        """The time of the last run, also when pruning is switched off now; None for never."""
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
        """True when the last run is a day or more away in either direction (the clock may have moved back), or never
        happened; False while the folder does not exist."""
        if not self._stamp.parent.exists():
            return False
        try:
            since_s = self._clock().timestamp() - self._stamp.stat().st_mtime
        except FileNotFoundError:
            return True
        return abs(since_s) >= _EVERY_S
