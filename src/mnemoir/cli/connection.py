"""Connections of commands: to a running server over HTTP, or, when none runs, to the same routes in this process.

So there is one code path: every command calls a route. The data directory has one owner at a time; when a server
owns it but cannot be reached, opening it here fails with an error that names the owner.
"""

import asyncio
import io
import os
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any, Protocol, TextIO, cast

import aiohttp
import orjson
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from yarl import URL

from mnemoir import __version__
from mnemoir.cli.logins import login_at
from mnemoir.cli.output import note
from mnemoir.core.errors import ProviderUnavailable, Unauthorized
from mnemoir.providers.http import AsgiAnswer, call_asgi, new_session, own_answer
from mnemoir.settings import Settings
from mnemoir.settings.addresses import is_loopback
from mnemoir.settings.keys import KEY_VARIABLE

NO_HEADERS: Mapping[str, str] = {}
_LOOK_S = 5.0  # time limit of the health request


class Connection(Protocol):
    """A connection to the routes. All methods raise MnemoirError for an error response.

    `place` is where the routes are: the address of a server, or this process.
    """

    @property
    def place(self) -> str: ...

    async def ask(self, method: str, target: str, body: object = None) -> Any:
        """Send a request; the parsed JSON answer. A body of bytes is sent unchanged, any other as JSON."""

    def pieces(
        self, target: str, method: str = "GET", body: object = None, headers: Mapping[str, str] = NO_HEADERS
    ) -> AsyncGenerator[bytes, None]:
        """Send a request; the bytes of the answer as they arrive. `headers` are added to the usual ones."""

    def lines(
        self, target: str, method: str = "GET", body: object = None, headers: Mapping[str, str] = NO_HEADERS
    ) -> AsyncGenerator[bytes, None]:
        """Send a request; the lines of the answer as they arrive, without line ends and blank lines."""


class OverHttp:
    """Connection to a server at a URL."""

    def __init__(
        self, url: str, session: aiohttp.ClientSession, headers: Mapping[str, str], login: str | None = None
    ) -> None:
        """`login` is the name of the user logged in there, if the headers are theirs."""
        self._url = url
        self._session = session
        self._headers = {**headers, **_own_origin(url)}
        self._login = login

    @property
    def place(self) -> str:
        """See Connection."""
        return self._url

    async def ask(self, method: str, target: str, body: object = None) -> Any:
        """See Connection."""
        try:
            async with self._session.request(
                method, self._at(target), data=_bytes(body), headers=dict(self._headers), allow_redirects=False
            ) as response:
                return self._read(response.status, await response.read())
        except aiohttp.ClientError as exc:
            raise ProviderUnavailable(f"The server at {self._url} broke off: {exc or type(exc).__name__}.") from exc

    async def pieces(
        self, target: str, method: str = "GET", body: object = None, headers: Mapping[str, str] = NO_HEADERS
    ) -> AsyncGenerator[bytes, None]:
        """See Connection."""
        sent = {**self._headers, **headers}
        try:
            async with self._session.request(
                method, self._at(target), data=_bytes(body), headers=sent, allow_redirects=False
            ) as response:
                if response.status != 200:
                    self._read(response.status, await response.read())
                async for piece in response.content.iter_any():
                    yield piece
        except aiohttp.ClientError as exc:
            raise ProviderUnavailable(f"The server at {self._url} broke off: {exc or type(exc).__name__}.") from exc

    def lines(
        self, target: str, method: str = "GET", body: object = None, headers: Mapping[str, str] = NO_HEADERS
    ) -> AsyncGenerator[bytes, None]:
        """See Connection."""
        return _lines(self.pieces(target, method, body, headers))

    def _read(self, status: int, body: bytes) -> Any:
        try:
            return own_answer(status, body)
        except Unauthorized as exc:
            if self._login is None:
                raise
            ended = f"The login of {self._login} at {self._url} has ended. Run `mnemoir login` again."
            raise Unauthorized(ended) from exc

    def _at(self, target: str) -> URL:
        """The URL of a target, without normalisation: an unquoted character would name another object."""
        return URL(self._url + target, encoded=True)


class ComingServer:
    """Connection to a server that may start later: requests check it first, until one succeeds and after a failure.

    So a long-running command survives a restart of the server.
    """

    def __init__(
        self, url: str, session: aiohttp.ClientSession, headers: Mapping[str, str], login: str | None = None
    ) -> None:
        self._url = url
        self._session = session
        self._server = OverHttp(url, session, headers, login)
        self._is_there = False

    async def ask(self, method: str, target: str, body: object = None) -> Any:
        """See Connection."""
        if not (self._is_there or await is_mnemoir(self._url, self._session)):
            raise ProviderUnavailable(
                f"No server answers at {self._url}. Start it with `mnemoir serve`, then try again; if it has another "
                "address, give that with --url."
            )
        self._is_there = True
        try:
            return await self._server.ask(method, target, body)
        except ProviderUnavailable:
            self._is_there = False
            raise


class InProcess:
    """Connection to the application inside this process."""

    place = "this process"

    def __init__(self, app: ASGIApp, headers: Mapping[str, str]) -> None:
        self._app = app
        self._headers = {**headers, **_own_origin("http://localhost")}

    async def ask(self, method: str, target: str, body: object = None) -> Any:
        """See Connection."""
        answer = await call_asgi(self._app, method, target, headers=self._headers, body=_bytes(body))
        return own_answer(answer.status, answer.body)

    async def pieces(
        self, target: str, method: str = "GET", body: object = None, headers: Mapping[str, str] = NO_HEADERS
    ) -> AsyncGenerator[bytes, None]:
        """See Connection."""
        said: asyncio.Queue[Message | None] = asyncio.Queue()

        async def watched_app(scope: Scope, receive: Receive, send: Send) -> None:
            async def tell(message: Message) -> None:
                said.put_nowait(message)
                await send(message)

            await self._app(scope, receive, tell)

        sent = {**self._headers, **{name: value.encode().decode("latin-1") for name, value in headers.items()}}
        asked = call_asgi(watched_app, method, target, headers=sent, body=_bytes(body))
        async with _ended_with(asyncio.create_task(asked), said) as answer:
            head = await said.get()
            if head is not None and head["status"] == 200:
                while (message := await said.get()) is not None:
                    yield message.get("body", b"")
            whole = await answer
            if whole.status != 200:
                own_answer(whole.status, whole.body)

    def lines(
        self, target: str, method: str = "GET", body: object = None, headers: Mapping[str, str] = NO_HEADERS
    ) -> AsyncGenerator[bytes, None]:
        """See Connection."""
        return _lines(self.pieces(target, method, body, headers))


@asynccontextmanager
async def connect(
    settings: Settings, *, url: str | None, in_process: bool, chats: bool = False
) -> AsyncIterator[Connection]:
    """Connect to the server at `url`; without it, to the server of the settings if it runs, else to this process.

    `in_process` ignores a running server, for an explicit data directory. With `chats` this process also runs the
    background work of a server, so that chats recall and are remembered.
    """
    async with new_session(settings.http.proxies) as session:
        address = url or settings.server.url
        if not in_process and await is_mnemoir(address, session):
            yield OverHttp(address, session, *_caller(settings, "cli", address))
            return
    if url:
        raise ProviderUnavailable(f"No server answers at {url}. Start it (`mnemoir serve`), or leave --url out.")
    if not in_process:  # else the caller named the directory
        note(f"No server runs at {address}; working on {settings.storage.data_dir} directly.")
    async with _open_app(settings, chats=chats) as app:
        yield InProcess(app, _headers_of(settings, "cli"))


@asynccontextmanager
async def connect_on_demand(settings: Settings, *, url: str | None, caller: str) -> AsyncIterator[ComingServer]:
    """Connection to the server at `url`, else of the settings; it may start later. `caller` is in the user agent."""
    async with new_session(settings.http.proxies) as session:
        address = url.rstrip("/") if url else settings.server.url
        yield ComingServer(address, session, *_caller(settings, caller, address))


async def is_mnemoir(url: str, session: aiohttp.ClientSession) -> bool:
    """True when a Mnemoir server answers at `url`, False when no server does.

    Raises ProviderUnavailable when another program answers.
    """
    timeout = aiohttp.ClientTimeout(total=_LOOK_S)
    try:
        async with session.get(f"{url}/health", timeout=timeout, allow_redirects=False) as response:
            health = orjson.loads(await response.read())
    except aiohttp.ClientConnectorError:
        return False
    except (aiohttp.ClientError, TimeoutError, orjson.JSONDecodeError):
        health = None
    if isinstance(health, dict) and {"status", "version", "storage"} <= health.keys():
        return True
    raise ProviderUnavailable(
        f"Something answers at {url} that is not a Mnemoir server. Give the right address with --url."
    )


class _StandardError(io.TextIOBase):
    """A stream to the current `sys.stderr`, which is replaced while a chat draws so that lines appear above."""

    def write(self, text: str) -> int:
        return sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()

    def isatty(self) -> bool:
        return sys.stderr.isatty()


@asynccontextmanager
async def _open_app(settings: Settings, *, chats: bool) -> AsyncIterator[ASGIApp]:
    from mnemoir.app import logs, open_parts
    from mnemoir.cli.serve import server_options
    from mnemoir.server import create_app

    # request logs are for servers, and a chat shows final errors only, not retries
    told = settings.log.model_copy(update={"level": "error" if chats else "warning"})
    logs.set_up(told, cast(TextIO, _StandardError()))
    parts = await open_parts(settings)
    for line in parts.opened.notes:
        note(line)
    try:
        app = create_app(parts, replace(server_options(settings), is_in_process=True))
        if chats:
            await parts.start()
        yield app
    finally:
        await parts.aclose()


@asynccontextmanager
async def _ended_with(
    task: asyncio.Task[AsgiAnswer], said: asyncio.Queue[Message | None]
) -> AsyncIterator[asyncio.Task[AsgiAnswer]]:
    """The task, cancelled on leaving the block; None is put into `said` when it ends."""
    task.add_done_callback(lambda _: said.put_nowait(None))
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _lines(pieces: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    rest = b""
    async with aclosing(pieces):
        async for piece in pieces:
            *whole, rest = (rest + piece).split(b"\n")
            for line in filter(bytes.strip, whole):
                yield line
    if rest.strip():
        yield rest


def _headers_of(settings: Settings, caller: str) -> dict[str, str]:
    """The headers of all requests, with a key: MNEMOIR_API_KEY, else the settings' admin key or first API key."""
    key = settings.server.admin_api_key or next(iter(settings.server.api_keys), None)
    text = os.environ.get(KEY_VARIABLE, "").strip() or (key.get_secret_value() if key else "")
    return own_headers(caller) | ({"authorization": f"Bearer {text}"} if text else {})


def _caller(settings: Settings, caller: str, address: str) -> tuple[dict[str, str], str | None]:
    """The headers for a server, and the name of the user logged in there: the key of the environment goes first."""
    login = None if os.environ.get(KEY_VARIABLE, "").strip() else login_at(address)
    if login is None:
        return _headers_of(settings, caller), None
    return own_headers(caller) | {"authorization": f"Bearer {login.token}"}, login.name


def own_headers(caller: str) -> dict[str, str]:
    """The headers of all requests but the credential; `caller` is in the user agent."""
    return {"content-type": "application/json", "user-agent": f"mnemoir-{caller}/{__version__}"}


def _own_origin(url: str) -> dict[str, str]:
    """The origin that pages of a server on this machine send; without it a change of the model is refused."""
    at = URL(url)
    return {"origin": str(at.origin())} if at.host is not None and is_loopback(at.host) else {}


def _bytes(body: object) -> bytes:
    if body is None:
        return b""
    return body if isinstance(body, bytes) else orjson.dumps(body)
