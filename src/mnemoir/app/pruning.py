"""Old conversations go by themselves, where the settings say so: at the start, and at most once a day.

A file's time tells when it was last done, so that a server that is started ten times a day prunes once.
"""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import structlog

from mnemoir.app.conversations import Conversations
from mnemoir.core.clock import Clock, utc_now

_log = structlog.get_logger(__name__)

STAMP_FILE = ".pruned"
_EVERY_S = 24 * 3600.0
_LOOK_S = 3600.0


class Pruning:
    """`days` of None never prunes."""

    def __init__(self, conversations: Conversations, days: int | None, clock: Clock = utc_now) -> None:
        self._conversations = conversations
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
        """How many conversations went; 0 where a day has not gone by. Raises OSError."""
        stamp = self._conversations.root / STAMP_FILE
        if self._days is None or not await asyncio.to_thread(self._is_due, stamp):
            return 0
        pruned = await self._conversations.prune(self._days)
        await asyncio.to_thread(stamp.touch, 0o600)
        if pruned:
            _log.info("conversations pruned", count=pruned, days=self._days)
        return pruned

    async def last_done(self) -> datetime | None:
        """When old conversations were last looked for; None for never. Also where that is switched off by now."""
        try:
            stamp = await asyncio.to_thread((self._conversations.root / STAMP_FILE).stat)
        except OSError:
            return None
        return datetime.fromtimestamp(stamp.st_mtime, UTC)

    async def _prune_daily(self) -> None:
        while True:
            try:
                await self.prune_if_due()
            except OSError as exc:
                _log.warning("conversations not pruned", error=type(exc).__name__)
            await asyncio.sleep(_LOOK_S)

    def _is_due(self, stamp: Path) -> bool:
        """Also after the clock was set back; not where nobody has said anything yet."""
        if not stamp.parent.exists():
            return False
        try:
            since_s = self._clock().timestamp() - stamp.stat().st_mtime
        except FileNotFoundError:
            return True
        return abs(since_s) >= _EVERY_S
