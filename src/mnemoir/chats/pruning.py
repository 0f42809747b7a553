"""Deletion by age, which is all done here: of conversations that were not used for so many days, daily; of what is
older than the settings allow, and of what has ended and is of no more use, hourly.

Both begin at the start, go through the list of holdings, and wait while the clock cannot be trusted; what somebody
asks for is refused meanwhile. When conversations were last pruned is a row, so frequent restarts repeat nothing.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import datetime

import structlog

from mnemoir.chats.clock_trust import ClockTrust
from mnemoir.core.clock import Clock, utc_now
from mnemoir.core.clock_guard import WAIT_S
from mnemoir.core.errors import StorageUnavailable
from mnemoir.ports.holdings import Amounts, OpenHolding
from mnemoir.storage.sql.ageing import Stamp

_log = structlog.get_logger(__name__)
_EVERY_S = 24 * 3600.0


class Pruning:
    """`days` is for how long conversations that are not used are kept; with None they are never pruned."""

    def __init__(
        self,
        holdings: Sequence[OpenHolding],
        days: int | None,
        trust: ClockTrust,
        clock: Clock = utc_now,
    ) -> None:
        self._holdings = holdings
        self._days = days
        self._clock = clock
        self.trust = trust
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start deleting in the background."""
        self._task = asyncio.create_task(self._prune_hourly(), name="delete by age")

    async def aclose(self) -> None:
        """Stop; a removal under way is completed."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def prune_if_due(self) -> int:
        """Prune conversations once a day; return how many, 0 when not due. Raises OSError and StorageUnavailable."""
        if self._days is None:
            return 0
        last = await self.last_run_at()
        since_s = None if last is None else (self._clock() - last).total_seconds()
        if since_s is not None and 0 <= since_s < _EVERY_S:
            return 0
        return await self._prune(self._days) if await self.trust.decides() else 0

    async def expire_if_due(self) -> Amounts:
        """Delete what is too old and what has ended; how much of the former. Raises StorageUnavailable."""
        if not await self.trust.decides():
            return {}
        for holding in self._holdings:
            if holding.sweep is not None:
                await holding.sweep()
        return await self._expire()

    async def run(self, *, dry_run: bool) -> Amounts:
        """Expire and prune now, as somebody asked, or only count what would go; how much of what.

        Raises OSError, StorageUnavailable, and Conflict (`clock_not_trusted`).
        """
        if not dry_run:
            await self.trust.check()
        done = dict(await self._expire(dry_run=dry_run))
        if self._days is not None:
            done["conversations"] = await self._prune(self._days, dry_run=dry_run)
        return done

    async def last_run_at(self) -> datetime | None:
        """The time of the last pruning, also when it is switched off now; None for never."""
        return await self.trust.stamps.read(Stamp.PRUNED)

    async def _expire(self, *, dry_run: bool = False) -> Amounts:
        expired: Counter[str] = Counter()
        for holding in self._holdings:
            if holding.expire is not None:
                expired.update(await holding.expire(dry_run))
        if expired.total() and not dry_run:
            _log.info("old data expired", **expired)
        return expired

    async def _prune(self, days: int, *, dry_run: bool = False) -> int:
        pruned = sum([await holding.prune(days, dry_run) for holding in self._holdings if holding.prune is not None])
        if dry_run:
            return pruned
        await self.trust.stamps.write(Stamp.PRUNED, self._clock())
        if pruned:
            _log.info("conversations pruned", count=pruned, days=days)
        return pruned

    async def _prune_hourly(self) -> None:
        while True:
            try:
                await self.expire_if_due()
                await self.prune_if_due()
            except (OSError, StorageUnavailable) as exc:
                _log.warning("old data not pruned", error=type(exc).__name__)
            await asyncio.sleep(WAIT_S)
