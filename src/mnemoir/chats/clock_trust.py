"""Whether the clock of this server may decide what has ended by its age: what is deleted, and what counts no more.

When the clock was last trusted is a row, so that the next start can compare with it.
"""

from collections.abc import Callable

from mnemoir.core.clock import Clock, to_text, utc_now
from mnemoir.core.clock_guard import ClockGuard, elapsed_s
from mnemoir.core.errors import Conflict
from mnemoir.storage.sql.ageing import SqlStamps, Stamp


class ClockTrust:
    """`stamps` are of this data directory. `elapsed` counts seconds that passed, whatever the clock is set to."""

    def __init__(self, stamps: SqlStamps, clock: Clock = utc_now, elapsed: Callable[[], float] = elapsed_s) -> None:
        self.stamps = stamps
        self._clock = clock
        self._elapsed = elapsed
        self._guard: ClockGuard | None = None

    async def decides(self) -> bool:
        """Whether the clock may decide; noted. Raises StorageUnavailable."""
        if self._guard is None:
            self._guard = ClockGuard(await self.stamps.read(Stamp.CLOCK), self._clock, self._elapsed)
        if not self._guard.trusts():
            return False
        await self.stamps.write(Stamp.CLOCK, self._clock())
        return True

    def is_known_to_decide(self) -> bool:
        """The same by what is in memory; False until `decides` was asked once."""
        return self._guard is not None and self._guard.trusts()

    async def check(self) -> None:
        """Raise Conflict (`clock_not_trusted`) while the clock may not decide what is deleted by its age."""
        if not await self.decides():
            assert self._guard is not None
            raise Conflict(
                f"Nothing was deleted: {self._guard.why}, and it says {to_text(self._clock())}. Set it right, or ask "
                "again when a server has run with it for an hour.",
                code="clock_not_trusted",
            )
