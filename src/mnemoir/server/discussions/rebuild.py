"""A rebuild as a streamed answer: JSON lines report its progress. A client that disconnects cancels it."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mnemoir.core.errors import MnemoirError
from mnemoir.server.discussions.answers import RebuildStep
from mnemoir.server.request import visit_of
from mnemoir.server.rest import tolerant_json
from mnemoir.server.under_way import Departure, Headers, Outflow
from mnemoir.workflows.rebuilding import RebuildProgress

_SILENCE = b"\n"  # a blank line, which is no JSON line


class RebuildAnswer(Response):
    """One object a line: `done`, `all`, `finished`, `notes`. After a failure the last line has `error`."""

    def __init__(self, steps: AsyncGenerator[RebuildProgress, None], heartbeat_s: float) -> None:
        super().__init__(media_type="application/x-ndjson", headers={"cache-control": "no-cache"})
        self._steps = steps
        self._heartbeat_s = heartbeat_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with (
            Departure(receive) as departure,
            aclosing(self._steps) as steps,
            Outflow(send, head=self._head, heartbeat=lambda: _SILENCE, every_s=self._heartbeat_s) as out,
        ):
            try:
                async for step in steps:
                    await out.write(_line(step))
            except MnemoirError as exc:
                if not out.begun:  # it can still be answered as an error
                    raise
                await out.write(_line({"error": exc.message, "code": exc.code}))
            await out.write(b"", more=False)
        visit_of(scope).left = departure.happened

    def _head(self) -> Headers:
        own = [(name, value) for name, value in self.raw_headers if name != b"content-length"]
        return [*own, (b"x-accel-buffering", b"no")]


def _line(told: RebuildProgress | RebuildStep) -> bytes:
    return tolerant_json(told) + b"\n"
