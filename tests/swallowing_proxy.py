"""A proxy before a server on a Unix socket, which swallows what both sides send when it is told to."""

import asyncio
from contextlib import suppress
from pathlib import Path
from types import TracebackType


class SwallowingProxy:
    """Listens on a port of this machine; an asynchronous context manager."""

    def __init__(self, target: Path) -> None:
        self.is_swallowing = False
        self._target = target
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def port(self) -> int:
        """Where it listens."""
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def __aenter__(self) -> "SwallowingProxy":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        ends = [writer]
        try:
            behind, there = await asyncio.open_unix_connection(self._target)
            ends.append(there)
            pumps = [asyncio.create_task(self._pass_on(*each)) for each in ((reader, there), (behind, writer))]
            try:
                await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for pump in pumps:
                    pump.cancel()
                await asyncio.gather(*pumps, return_exceptions=True)
        except OSError:  # nobody is there
            pass
        finally:
            for end in ends:
                end.transport.abort()

    async def _pass_on(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await source.read(65536):
                if not self.is_swallowing:
                    sink.write(data)
                    await sink.drain()
