"""How long a node may take. The time in which its client reads what it said does not count."""

import asyncio
from collections.abc import Callable
from types import TracebackType

from mnemoir.core.errors import MnemoirError
from mnemoir.workflows.run import Turn


class TimeLimit:
    """`async with TimeLimit(turn, limit_s, error):` ends its body after so many seconds, None for never.

    Raises what `error` makes. One timer serves the whole body: a timer for each batch would cost more than the batch.
    """

    def __init__(self, turn: Turn, limit_s: float | None, error: Callable[[], MnemoirError]) -> None:
        self._turn = turn
        self._limit_s = limit_s
        self._error = error

    async def __aenter__(self) -> None:
        self._timer: asyncio.TimerHandle | None = None
        if self._limit_s is None:
            return
        self._timeout = asyncio.timeout(None)
        await self._timeout.__aenter__()
        self._not_counted_s = self._turn.emitted_s
        self._arm(self._limit_s)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is None:
            return
        self._timer.cancel()
        try:
            await self._timeout.__aexit__(kind, error, trace)
        except TimeoutError as exc:
            raise self._error() from exc

    def _arm(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._on_timer)

    def _on_timer(self) -> None:
        """End the body, or wait as much longer as the client took for reading since this was last asked."""
        emitted_s = self._turn.emitted_s
        owed_s, self._not_counted_s = emitted_s - self._not_counted_s, emitted_s
        if owed_s > 0:
            self._arm(owed_s)
        else:
            self._timeout.reschedule(asyncio.get_running_loop().time())
