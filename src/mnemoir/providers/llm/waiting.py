"""Time limits for many short waits, with one timer for all of them that is rescheduled only when it fires.

`asyncio.timeout` starts and cancels a timer for each wait. For the pieces of a streamed answer that was the most
expensive part of reading them.
"""

import asyncio
from types import TracebackType


class Waits:
    """A reusable time limit: `with waits.until(due):` raises TimeoutError when the loop's clock reaches `due`.

    Create it in a running event loop, use it for one wait at a time, and close it at the end. `has_ended` is True
    once a wait has reached its limit, whatever was raised within it.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[object] | None = None  # the task inside the `with` block
        self._due = self._fires_at = float("inf")
        self._has_expired = self.has_ended = False

    def until(self, due: float) -> "Waits":
        """Set the time limit of the next wait, in seconds of the loop's clock."""
        self._due = due
        return self

    def close(self) -> None:
        """Cancel the timer."""
        if self._timer is not None:
            self._timer.cancel()

    def __enter__(self) -> None:
        self._task = asyncio.current_task()
        if self._due < self._fires_at:
            self._arm()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        task, self._task = self._task, None
        if self._has_expired:
            self._has_expired, self.has_ended = False, True
            # when something else cancelled the task too, it stays cancelled
            if task is not None and task.uncancel() == 0 and kind is asyncio.CancelledError:
                raise TimeoutError from error

    def _arm(self) -> None:
        self.close()
        self._fires_at = self._due
        self._timer = self._loop.call_at(self._due, self._on_timer)

    def _on_timer(self) -> None:
        self._fires_at = float("inf")
        if self._task is None:
            return
        if self._loop.time() < self._due:
            self._arm()
            return
        self._has_expired = True
        self._task.cancel()
