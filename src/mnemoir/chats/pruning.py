"""Pruning of what was not used for so many days, daily, and of what is older than the settings allow, hourly.

Both begin at the start, and go through the list of holdings.

The time of the last run is the modification time of a file, so frequent restarts do not repeat it.

What is pruned is gone, so a wrong clock must not decide it. Nothing is pruned while the clock is behind the last run
or what was used last, and nothing in a process whose clock has moved by more than a day against the time that passed.
At a start long after the last run nobody can tell a jump from a long rest: it is told, and pruned an hour later.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import structlog

from mnemoir.core.clock import Clock, utc_now
from mnemoir.core.errors import StorageUnavailable
from mnemoir.ports.holdings import Amounts, OpenHolding

_log = structlog.get_logger(__name__)
STAMP_FILE = ".pruned"
_EVERY_S = 24 * 3600.0
_LOOK_S = 3600.0
_NO_JUMP_S = 24 * 3600.0  # by which a clock may be corrected
_GAP_S = 2 * _EVERY_S  # since the last run: at least one was missed


def elapsed_s() -> float:
    """Seconds that passed, whatever the clock is set to; with those of a machine that slept, where that is known."""
    with_sleep: int | None = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if with_sleep is None else time.clock_gettime(with_sleep)


class Pruning:
    """`root` is the folder of conversations; without it there is nothing to prune. `days` of None never prunes."""

    def __init__(
        self,
        holdings: Sequence[OpenHolding],
        root: Path,
        days: int | None,
        clock: Clock = utc_now,
        elapsed: Callable[[], float] = elapsed_s,
    ) -> None:
        self._holdings = holdings
        self._stamp = root / STAMP_FILE
        self._days = days
        self._clock = clock
        self._elapsed = elapsed
        self._ahead_s = self._clock_ahead_s()  # at the last run, or the start
        self._gap_told_s: float | None = None
        self._told = ""
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start pruning in the background, if there is anything that ever ends."""
        if self._days is not None or any(holding.expire is not None for holding in self._holdings):
            self._task = asyncio.create_task(self._prune_daily(), name="prune conversations")

    async def aclose(self) -> None:
        """Stop pruning; a removal under way is completed."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def prune_if_due(self) -> int:
        """Prune once a day; return how much was removed, 0 when not due. Raises OSError and StorageUnavailable."""
        if self._days is None or not await asyncio.to_thread(self._stamp.parent.exists):
            return 0
        last = await self.last_run_at()
        since_s = None if last is None else (self._clock() - last).total_seconds()
        if since_s is not None and 0 <= since_s < _EVERY_S:
            return 0
        if not await self._may_prune(self._days, since_s):
            return 0
        return await self._prune(self._days)

    async def expire(self, *, dry_run: bool = False) -> Amounts:
        """Delete what is older than its holding allows, or only count it; return how much of what.

        Nothing is deleted in a process whose clock was moved. Raises StorageUnavailable.
        """
        if abs(self._clock_ahead_s() - self._ahead_s) > _NO_JUMP_S:
            return {}
        expired: Counter[str] = Counter()
        for holding in self._holdings:
            if holding.expire is not None:
                expired.update(await holding.expire(dry_run))
        if expired.total() and not dry_run:
            _log.info("old data expired", **expired)
        return expired

    async def run(self, *, dry_run: bool) -> Amounts:
        """Expire and prune now, whenever that was done last, or only count what would go; how much of what.

        Conversations stay while the clock cannot be trusted. Raises OSError and StorageUnavailable.
        """
        done = dict(await self.expire(dry_run=dry_run))
        if self._days is not None and await asyncio.to_thread(self._stamp.parent.exists):
            is_trusted = await self._may_prune(self._days, None)
            done["conversations"] = await self._prune(self._days, dry_run=dry_run) if is_trusted else 0
        return done

    async def last_run_at(self) -> datetime | None:
        """The time of the last run, also when pruning is switched off now; None for never."""
        try:
            stamp = await asyncio.to_thread(self._stamp.stat)
        except OSError:
            return None
        return datetime.fromtimestamp(stamp.st_mtime, UTC)

    async def _prune(self, days: int, *, dry_run: bool = False) -> int:
        pruned = sum([await holding.prune(days, dry_run) for holding in self._holdings if holding.prune is not None])
        if dry_run:
            return pruned
        await asyncio.to_thread(self._stamp.touch, 0o600)
        self._ahead_s, self._gap_told_s, self._told = self._clock_ahead_s(), None, ""
        if pruned:
            _log.info("conversations pruned", count=pruned, days=days)
        return pruned

    async def _prune_daily(self) -> None:
        while True:
            try:
                await self.expire()
                await self.prune_if_due()
            except (OSError, StorageUnavailable) as exc:
                _log.warning("old data not pruned", error=type(exc).__name__)
            await asyncio.sleep(_LOOK_S)

    async def _may_prune(self, days: int, since_s: float | None) -> bool:
        """False while the clock cannot be trusted; each reason is told once."""
        ages = [await holding.ageing(days) for holding in self._holdings if holding.ageing is not None]
        newest = max((age.newest_at for age in ages if age.newest_at is not None), default=None)
        due = sum(age.due for age in ages)
        if since_s is not None and since_s < 0:
            return self._refuse("the clock is behind the last run", due)
        if newest is not None and newest > self._clock():
            return self._refuse("the clock is behind what was used last", due)
        if abs(self._clock_ahead_s() - self._ahead_s) > _NO_JUMP_S:
            return self._refuse("the clock was moved; if it is right now, restart the server", due)
        if since_s is None or since_s < _GAP_S or not due:
            return True
        if self._gap_told_s is None:
            self._gap_told_s = self._elapsed()
            _log.warning("conversations are pruned in an hour", count=due, last_run_days_ago=int(since_s // _EVERY_S))
        return self._elapsed() - self._gap_told_s >= _LOOK_S

    def _refuse(self, why: str, due: int) -> bool:
        if why != self._told:
            self._told = why
            _log.warning("conversations not pruned", cause=why, count=due)
        return False

    def _clock_ahead_s(self) -> float:
        """By how much the clock is ahead of the time that passed; it changes only when the clock is set."""
        return self._clock().timestamp() - self._elapsed()
