"""The baseline for proxying: Starlette and aiohttp, which forward bytes without reading them.

`python -m bench.passthrough PORT UPSTREAM_URL`.
"""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route


def build(upstream: str) -> Starlette:
    """An application that forwards one route."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
            app.state.session = session
            yield

    async def chat(request: Request) -> Response:
        body = await request.body()
        session: aiohttp.ClientSession = request.app.state.session
        answer = await session.post(f"{upstream}/v1/chat/completions", data=body)
        if answer.content_type != "text/event-stream":
            async with answer:
                return Response(await answer.read(), media_type=answer.content_type)

        async def pieces() -> AsyncIterator[bytes]:
            async with answer:
                async for piece in answer.content.iter_any():
                    yield piece

        return StreamingResponse(pieces(), media_type="text/event-stream")

    return Starlette(routes=[Route("/v1/chat/completions", chat, methods=["POST"])], lifespan=lifespan)


def main() -> None:
    """Serve until the process is ended."""
    app = build(sys.argv[2])
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error", access_log=False)


if __name__ == "__main__":
    main()
