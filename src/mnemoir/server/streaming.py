"""One streamed answer on its way out: head with the first bytes, one write a batch, a sign of life when it is silent.

Waiting for a slow reader is waiting in `send`, which holds back the engine and, through it, the model.
"""

import asyncio
from collections.abc import Callable
from types import TracebackType

from starlette.types import Send

Headers = list[tuple[bytes, bytes]]


class Outflow:
    """`head` is asked for the headers when the first bytes go out, `heartbeat` for the sign of life."""

    def __init__(self, send: Send, *, head: Callable[[], Headers], heartbeat: Callable[[], bytes], every_s: float):
        self._send = send
        self._head = head
        self._heartbeat = heartbeat
        self._every_s = every_s
        self._loop = asyncio.get_running_loop()
        self._one_at_a_time = asyncio.Lock()
        self._beat: asyncio.Task[None] | None = None
        self.begun = False

    async def __aenter__(self) -> "Outflow":
        self._last = self._loop.time()
        self._timer = self._loop.call_later(self._every_s, self._on_timer)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        if self._beat is not None:
            self._beat.cancel()

    async def write(self, data: bytes, *, more: bool = True) -> None:
        """Send `data`, after the head if it is the first. Returns when the connection has room again."""
        async with self._one_at_a_time:
            if not self.begun:
                self.begun = True
                await self._send({"type": "http.response.start", "status": 200, "headers": self._head()})
            await self._send({"type": "http.response.body", "body": data, "more_body": more})
            self._last = self._loop.time()

    def _on_timer(self) -> None:
        # one timer an answer, moved on only when it fires: a timer an event would cost more than the event
        silent_s = self._loop.time() - self._last
        if silent_s >= self._every_s and not self._one_at_a_time.locked():
            self._last = self._loop.time()
            self._beat = self._loop.create_task(self.write(self._heartbeat()), name="heartbeat")
            silent_s = 0.0
        self._timer = self._loop.call_later(max(self._every_s - silent_s, 0.001), self._on_timer)
