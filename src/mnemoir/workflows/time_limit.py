"""The time limit of a node. Time spent on sending to a slow client does not count."""

import asyncio
from collections.abc import Callable
from types import TracebackType

from mnemoir.core.errors import MnemoirError
from mnemoir.workflows.run import Turn


class TimeLimit:
    """`async with TimeLimit(turn, limit_s, error):` ends its body after `limit_s` seconds; None means no limit.

    Raises the exception that `error` creates. One timer serves the whole body: a timer for each batch would cost more
    than the batch, and an additional `asyncio.timeout` as much again.
    """

    def __init__(self, turn: Turn, limit_s: float | None, error: Callable[[], MnemoirError]) -> None:
        self._turn = turn
        self._limit_s = limit_s
        self._error = error
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[object] | None = None  # the task that runs the body
        self._has_expired = False

    async def __aenter__(self) -> None:
        if self._limit_s is not None:
            self._task = task = asyncio.current_task()
            self._cancelling = 0 if task is None else task.cancelling()
            self._not_counted_s = self._turn.emitted_s
            self._arm(self._limit_s)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if not self._has_expired or self._task is None:
            return
        # if another caller has cancelled the task too, it stays cancelled
        if self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise self._error() from error

    def _arm(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._on_timer)

    def _on_timer(self) -> None:
        """End the body, or extend the time by that spent on sending to the client since the last check."""
        emitted_s = self._turn.emitted_s
        owed_s, self._not_counted_s = emitted_s - self._not_counted_s, emitted_s
        if owed_s > 0:
            self._arm(owed_s)
        elif self._task is not None:
            self._has_expired = True
            self._task.cancel()
