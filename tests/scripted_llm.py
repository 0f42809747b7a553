"""A model server that says what a test tells it to, over real HTTP.

It plays the far side of the network in every test: OpenAI's `/v1/responses`, `/v1/chat/completions`,
`/v1/completions` and `/v1/embeddings`, Ollama's `/api/chat`, `/api/generate`, `/api/embed`, `/api/tags`, `/api/show`
and `/api/version`, KoboldCpp's `/api/v1/generate` and `/api/extra/generate/stream`, whole and streamed. An answer
comes from the first rule that fits, else from the queue, else it is `default`. What was asked is in `requests`;
`disconnected` is set when a client leaves before its answer is complete.

    async with ScriptedLLM() as llm:
        llm.reply("Hello there.")
        ... ask llm.openai_url ...
        assert llm.requests[0].body["model"] == "gpt-5-mini"

For a test without an event loop of its own, `with ScriptedLLM.in_thread() as llm:` gives the same from a thread.
"""

import asyncio
import contextlib
import gzip
import hashlib
import json
import math
import re
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from aiohttp import web

from tests.scripted_dialects import CHAT_DIALECTS, CREATED_AT, MODEL, Answer, Dialect, to_json
from tests.serving import free_port

__all__ = ["Answer", "Asked", "ScriptedLLM", "closed_port_url", "failure", "gzip_bomb", "html_page", "redirect"]

_MOST_ENDLESS_EVENTS = 2_000_000  # a test that never hangs up ends all the same
_EMBEDDING_ROUTES = ("/v1/embeddings", "/api/embed")


@dataclass(frozen=True)
class Asked:
    """One request as it came in; `body` is the decoded JSON, None when there was none."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any

    @property
    def prompt(self) -> str:
        """The whole body as text, to look for a word in it."""
        return json.dumps(self.body, ensure_ascii=False)


Rule = tuple[Callable[[Asked], bool], Answer | Callable[[Asked], Answer | str] | str]


def failure(
    status: int,
    message: str = "scripted failure",
    *,
    code: str | None = None,
    param: str | None = None,
    **headers: str,
) -> Answer:
    """An HTTP error in OpenAI's shape; `Retry_After="1"` becomes the header Retry-After."""
    error = {"error": {"message": message, "type": "scripted_error", "code": code, "param": param}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status=status, body=to_json(error), headers={"Content-Type": "application/json", **named})


def html_page(status: int = 200) -> Answer:
    """What a proxy or a wrong port says."""
    return Answer(status=status, body=b"<html><body>It works!</body></html>", headers={"Content-Type": "text/html"})


def redirect(to: str) -> Answer:
    """307 to another address."""
    return Answer(status=307, body=b"", headers={"Location": to})


def gzip_bomb(size_bytes: int, media_type: str = "application/json") -> Answer:
    """A small body that unpacks to `size_bytes` of spaces."""
    blank = gzip.compress(b" " * 1_048_576, compresslevel=9)  # gzip members may follow one another
    packed = blank * max(1, size_bytes // 1_048_576)
    return Answer(body=packed, headers={"Content-Type": media_type, "Content-Encoding": "gzip"})


def closed_port_url() -> str:
    """An address on which nothing listens."""
    return f"http://127.0.0.1:{free_port()}"


class ScriptedLLM:
    """One server on a free port of the loopback."""

    def __init__(self) -> None:
        self.requests: list[Asked] = []
        self.default = Answer(text="Understood.")
        self.models: Sequence[str] = (MODEL,)
        self.shown: Mapping[str, Any] = {}  # what /api/show tells of any model; nothing refuses it
        self.cards: Mapping[str, Mapping[str, Any]] = {}  # further members of a model's entry in both lists
        self.dimension = 16
        self.url = ""
        self.arrived = asyncio.Event()
        self.disconnected = asyncio.Event()
        self._resume = asyncio.Event()
        self._rules: list[Rule] = []
        self._answers: deque[Answer] = deque()
        self._vectors: deque[Answer] = deque()
        self._runner: web.AppRunner | None = None

    @property
    def openai_url(self) -> str:
        """The base URL an OpenAI client wants."""
        return f"{self.url}/v1"

    # --- the script

    def reply(self, text: str = "", **members: Any) -> None:
        """Queue an answer; `members` are those of Answer."""
        self._answers.append(Answer(text=text, **members))

    def reply_json(self, value: object, **members: Any) -> None:
        """Queue an answer whose text is `value` as JSON."""
        self.reply(json.dumps(value, ensure_ascii=False), **members)

    def queue(self, *answers: Answer) -> None:
        """Queue answers for the chat routes, in order."""
        self._answers.extend(answers)

    def queue_embedding(self, *answers: Answer) -> None:
        """Queue answers for the embedding routes, in order."""
        self._vectors.extend(answers)

    def rule(self, fits: Callable[[Asked], bool], answer: Answer | Callable[[Asked], Answer | str] | str) -> None:
        """Give `answer` to every request that `fits`, before the queue is looked at; it may be computed."""
        self._rules.append((fits, answer))

    def release(self) -> None:
        """Let every stalled or silent answer go on."""
        self._resume.set()

    def clear(self) -> None:
        """Forget what was asked and what is queued; the rules stay."""
        self.requests.clear()
        self._answers.clear()
        self._vectors.clear()
        for event in (self.arrived, self.disconnected, self._resume):
            event.clear()

    # --- life

    async def start(self, port: int = 0) -> None:
        """Listen, on a free port unless one is named; `url` is set afterwards. After a stop it may start again."""
        app = web.Application(client_max_size=64 * 1024 * 1024)
        for path in (*CHAT_DIALECTS, *_EMBEDDING_ROUTES):
            app.router.add_post(path, self._answer)
        app.router.add_get("/api/tags", self._tags)
        app.router.add_post("/api/show", self._show)
        app.router.add_get("/api/version", self._version)
        app.router.add_get("/v1/models", self._models)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.2, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"

    async def stop(self) -> None:
        """Close every connection and the port."""
        self.release()
        if self._runner is not None:
            await self._runner.cleanup()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @staticmethod
    @contextlib.contextmanager
    def in_thread() -> "Iterator[ThreadedLLM]":
        """The same server on an event loop in a thread of its own, for tests without one."""
        threaded = ThreadedLLM()
        try:
            yield threaded
        finally:
            threaded.close()

    # --- answering

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        asked = await self._record(request)
        answer = self._choose(asked)
        try:
            if answer.silent:
                await self._resume.wait()
            if answer.body is not None:
                return web.Response(status=answer.status, body=answer.body, headers=answer.headers)
            if asked.path in _EMBEDDING_ROUTES:
                return self._embedding(asked, answer)
            return await self._chat(request, asked, answer)
        except (ConnectionError, asyncio.CancelledError):
            self.disconnected.set()
            raise

    async def _record(self, request: web.Request) -> Asked:
        raw = await request.read()
        asked = Asked(request.method, request.path, dict(request.headers), json.loads(raw) if raw else None)
        self.requests.append(asked)
        self.arrived.set()
        return asked

    def _choose(self, asked: Asked) -> Answer:
        for fits, answer in self._rules:
            if fits(asked):
                made = answer(asked) if callable(answer) else answer
                return Answer(text=made) if isinstance(made, str) else made
        queue = self._vectors if asked.path in _EMBEDDING_ROUTES else self._answers
        return queue.popleft() if queue else self.default

    async def _chat(self, request: web.Request, asked: Asked, answer: Answer) -> web.StreamResponse:
        dialect = CHAT_DIALECTS[asked.path]
        if not dialect.streams(asked.body):
            return web.json_response(dialect.whole(answer, asked.body), status=answer.status)
        headers = {"Content-Type": dialect.media_type, **(answer.headers or {})}
        response = web.StreamResponse(status=answer.status, headers=headers)
        await response.prepare(request)
        if await self._stream(request, response, dialect, answer, asked):
            await response.write_eof()
        return response

    async def _stream(
        self, request: web.Request, response: web.StreamResponse, dialect: Dialect, answer: Answer, asked: Asked
    ) -> bool:
        """Send the frames with the faults asked for; False when the connection was torn."""
        frames = dialect.frames(answer, asked.body)

        async def send(data: bytes) -> None:
            data = data.replace(b"\n", b"\r\n") if answer.crlf else data
            for piece in (data[n : n + 1] for n in range(len(data))) if answer.bytewise else (data,):
                await response.write(piece)

        for frame in frames.opening:
            await send(frame)
        for count, frame in enumerate([*frames.pieces, b""]):
            if answer.bad_after == count:
                await send(dialect.wrap(answer.bad_event))
            if answer.stall_after == count:
                await self._resume.wait()
            if answer.cut_after == count:
                _reset(request)
                return False
            if answer.end_after == count:
                return True
            await send(frame) if frame else None
        if answer.endless:
            for _ in range(_MOST_ENDLESS_EVENTS):
                await send(frames.pieces[-1])
        for frame in frames.closing:
            await send(frame)
        return True

    def _embedding(self, asked: Asked, answer: Answer) -> web.Response:
        given = asked.body["input"]
        texts = [given] if isinstance(given, str) else given
        vectors = answer.vectors if answer.vectors is not None else [self.vector_of(text) for text in texts]
        if asked.path == "/api/embed":
            return _json({"model": asked.body["model"], "embeddings": vectors, "prompt_eval_count": len(texts)})
        data = [{"object": "embedding", "index": n, "embedding": vector} for n, vector in enumerate(vectors)]
        usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
        return _json({"object": "list", "model": asked.body["model"], "data": data, "usage": usage})

    def vector_of(self, text: str) -> list[float]:
        """What the embedding routes answer for `text`: unit length, near for texts that share words."""
        vector = [0.0] * self.dimension
        for word in re.findall(r"\w+", text.lower()) or [""]:
            digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
            vector[digest[0] % self.dimension] += 1 if digest[1] % 2 else -1
            vector[digest[2] % self.dimension] += 0.5
        length = math.sqrt(sum(value * value for value in vector))
        return [value / length for value in vector] if length else [1.0] + [0.0] * (self.dimension - 1)

    async def _tags(self, request: web.Request) -> web.Response:
        await self._record(request)
        models = [
            {"name": name, "model": name, "modified_at": CREATED_AT, **self.cards.get(name, {})}
            for name in self.models
        ]
        return _json({"models": models})

    async def _models(self, request: web.Request) -> web.Response:
        await self._record(request)
        data = [{"id": name, "object": "model", **self.cards.get(name, {})} for name in self.models]
        return _json({"object": "list", "data": data})

    async def _show(self, request: web.Request) -> web.Response:
        asked = await self._record(request)
        if any(fits(asked) for fits, _ in self._rules) and self._choose(asked).silent:
            await self._resume.wait()
        return _json(self.shown) if self.shown else web.Response(status=404)

    async def _version(self, request: web.Request) -> web.Response:
        await self._record(request)
        return _json({"version": "0.12.0"})


class ThreadedLLM:
    """A ScriptedLLM on its own thread; every method may be called from any thread, none needs a loop."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="scripted-llm", daemon=True)
        self._thread.start()
        self.script = ScriptedLLM()
        self._call(self.script.start())
        self.url = self.script.url
        self.openai_url = self.script.openai_url
        self.requests = self.script.requests
        self.reply = self.script.reply
        self.reply_json = self.script.reply_json
        self.queue = self.script.queue
        self.queue_embedding = self.script.queue_embedding
        self.rule = self.script.rule
        self.vector_of = self.script.vector_of

    def clear(self) -> None:
        """Forget what was asked and what is queued; the rules stay."""

        async def cleared() -> None:
            self.script.clear()

        self._call(cleared())

    def release(self) -> None:
        """Let every stalled or silent answer go on."""
        self._loop.call_soon_threadsafe(self.script.release)

    def wait_request(self, timeout_s: float = 120) -> bool:
        """Whether a request came in by then, since the start."""
        return self._wait(self.script.arrived, timeout_s)

    def wait_disconnected(self, timeout_s: float = 120) -> bool:
        """Whether a client left before its answer was complete by then."""
        return self._wait(self.script.disconnected, timeout_s)

    def close(self) -> None:
        """Stop the server and its thread."""
        self._call(self.script.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def _wait(self, event: asyncio.Event, timeout_s: float) -> bool:
        async def waited() -> bool:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(event.wait(), timeout_s)
            return event.is_set()

        return bool(self._call(waited(), timeout_s + 5))

    def _call(self, work: Any, timeout_s: float = 10) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout_s)


def _json(value: object) -> web.Response:
    return web.Response(body=to_json(value), content_type="application/json")


def _reset(request: web.Request) -> None:
    """Tear the connection with a reset, as a killed process does."""
    transport = request.transport
    if transport is None:
        return
    sock = transport.get_extra_info("socket")
    linger_and_drop = b"\x01\x00\x00\x00\x00\x00\x00\x00"
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_and_drop)
    transport.abort()
