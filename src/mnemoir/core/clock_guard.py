"""Whether the clock may decide what is deleted by its age.

What was deleted is gone, so a wrong clock must not decide it. A clock shows that it may be wrong by a jump of more
than a day, against the time that passed in this process or against the time when it was last trusted. A long rest
looks the same, and at a first run there is nothing to compare with. So in each of these cases nothing is deleted for
an hour, by itself or by hand, in which somebody can set the clock right; setting it right is a jump, too.
"""

import logging
import time
from collections.abc import Callable
from datetime import datetime

import structlog

from mnemoir.core.clock import Clock, to_text

_log = structlog.get_logger(__name__)
WAIT_S = 3600.0
_JUMP_S = 24 * 3600.0  # a clock may be corrected by less
_DAY_S = 24 * 3600.0


def elapsed_s() -> float:
    """Seconds that passed, whatever the clock is set to; with those of a machine that slept, where that is known."""
    with_sleep: int | None = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if with_sleep is None else time.clock_gettime(with_sleep)


class ClockGuard:
    """`stamp` is the time when the clock was last trusted, None for never. `elapsed` counts seconds that passed."""

    def __init__(self, stamp: datetime | None, clock: Clock, elapsed: Callable[[], float] = elapsed_s) -> None:
        self._clock = clock
        self._elapsed = elapsed
        self._ahead_s = self._clock_ahead_s()
        self._waits_since_s: float | None = None
        self.why = ""  # the clock cannot be trusted; of the last time that it could not
        if stamp is None:
            self._wait("nothing tells yet whether the clock is right", level=logging.INFO)  # as on each fresh machine
        elif abs(away_s := (clock() - stamp).total_seconds()) > _JUMP_S:
            days = f"{abs(away_s) / _DAY_S:.1f} days {'after' if away_s > 0 else 'before'}"
            self._wait(f"the clock is {days} {to_text(stamp)}, when it was last trusted")

    def trusts(self) -> bool:
        """Whether the clock may decide now. Why it may not is logged once."""
        ahead_s = self._clock_ahead_s()
        if abs(moved_s := ahead_s - self._ahead_s) > _JUMP_S:
            self._ahead_s = ahead_s
            self._wait(f"the clock was moved by {moved_s / _DAY_S:.1f} days")
        if self._waits_since_s is not None and self._elapsed() - self._waits_since_s >= WAIT_S:
            self._waits_since_s = None
        return self._waits_since_s is None

    def _wait(self, why: str, level: int = logging.WARNING) -> None:
        self._waits_since_s, self.why = self._elapsed(), why
        _log.log(level, "nothing is deleted by its age for an hour", cause=why, clock=to_text(self._clock()))

    def _clock_ahead_s(self) -> float:
        """By how much the clock is ahead of the time that passed; it changes only when the clock is set."""
        return self._clock().timestamp() - self._elapsed()
