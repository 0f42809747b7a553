"""What the tests of the server share: a server at hand, its answers looked at, and settings for the far model."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import orjson
from starlette.types import ASGIApp

from mnemoir.app.parts import Parts
from mnemoir.providers.http import AsgiAnswer, call_asgi
from mnemoir.server import ServerOptions, serve
from mnemoir.server.run import bind
from tests.scripted_llm import ScriptedLLM
from tests.server.declared import check_shape

JSON = dict[str, Any]

# Promised seconds: until a call of the model ends for which nobody waits, and until an answer when other clients have
# left or are slow. A far limit would let a slow default through, so the tests of these promises count real time and
# have the marker `real_time`: a failure, which a busy machine can cause, is repeated once, alone.
CUT_S, QUICK_S = 2, 1


@dataclass(frozen=True, kw_only=True, repr=False)  # asyncio.Runner makes one of each result, and throws it away
class Server:
    """One server of a test; `url` only when it listens."""

    app: ASGIApp
    parts: Parts
    url: str = ""

    async def ask(self, method: str, target: str, body: object = None, **headers: str) -> AsgiAnswer:
        """One request in this process; header names with underscores become dashes. An answer has its shape."""
        sent = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = await call_asgi(self.app, method, target, headers=named, body=sent)
        check_shape(method, target, answer)
        return answer

    async def get(self, target: str, **headers: str) -> Any:
        """The JSON of a GET that must succeed."""
        return succeeded(await self.ask("GET", target, **headers))

    async def post(self, target: str, body: object, **headers: str) -> Any:
        """The JSON of a POST that must succeed."""
        return succeeded(await self.ask("POST", target, body, **headers))


def succeeded(answer: AsgiAnswer) -> Any:
    """The JSON of an answer with status 200."""
    assert answer.status == 200, answer.body
    return orjson.loads(answer.body)


def error_of(answer: AsgiAnswer) -> tuple[int, str]:
    """Status and code of a refusal, whose shape is checked on the way."""
    body = orjson.loads(answer.body)
    assert answer.headers["x-request-id"] == body["request_id"]
    assert {"detail", "error", "code", "request_id"} <= body.keys()
    return answer.status, body["code"]


@contextlib.asynccontextmanager
async def listening(app: ASGIApp, options: ServerOptions) -> AsyncIterator[str]:
    """The URL of `app` on a free port while it is served."""
    listener, started = bind("127.0.0.1", 0), asyncio.Event()
    port = listener.getsockname()[1]
    task = asyncio.create_task(serve(app, options, listener=listener, on_started=lambda _: started.set()))
    try:
        await started.wait()
        yield f"http://127.0.0.1:{port}"
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def asks(llm: ScriptedLLM, **more: Any) -> JSON:
    """Settings of a server whose model is the scripted one."""
    return {
        "llm.provider": "openai-chat",
        "llm.base_url": llm.openai_url,
        "llm.api_key": "sk-canary-3141592653",
        "llm.model": "far-model",
        "llm.tries": 1,
    } | more


def hello(stream: bool = False, **more: Any) -> JSON:
    """The body of a short chat."""
    return {"model": "mnemoir", "stream": stream, "messages": [{"role": "user", "content": "Hello"}]} | more
