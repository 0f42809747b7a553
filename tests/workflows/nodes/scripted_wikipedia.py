"""An offline Wikipedia service with scripted answers, over real HTTP."""

from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web


@dataclass(kw_only=True)
class ScriptedWikipedia:
    """A server on a free loopback port. `asked` are the requests, as path and query."""

    answer: Any = None
    status: int = 200
    body: bytes | None = None  # in place of the answer as JSON
    headers: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    port: int = 0

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_get("/{path}", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2, handler_cancellation=True)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append((request.path, dict(request.query)))
        if self.body is not None:
            return web.Response(status=self.status, body=self.body, headers=self.headers)
        return web.json_response(self.answer, status=self.status, headers=self.headers)
