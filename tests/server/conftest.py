"""Servers for these tests: the real parts over a fresh data directory, in-process or on a real socket."""

import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from mnemoir.access.access_file import AccessFile
from mnemoir.access.api_keys import ApiKeys
from mnemoir.access.sign_in.sessions import Sessions
from mnemoir.app.parts import Parts, open_parts
from mnemoir.server import ServerOptions, create_app
from mnemoir.settings import load_settings
from tests.scripted_llm import ScriptedLLM
from tests.server.server_kit import JSON, Server, listening

OpenServer = Callable[..., Awaitable[Server]]

PATIENT = {"memory.search_timeout_s": 60}  # a model that loads while others compute is slow, and that is no failure


@pytest.fixture
def database_settings() -> JSON:
    """Settings of the databases: files. `storages.py` has others."""
    return {}


@pytest.fixture
async def open_parts_over(tmp_path: Path, database_settings: JSON) -> AsyncIterator[Callable[..., Awaitable[Parts]]]:
    """Real parts over a fresh data directory; settings as dotted keys."""
    async with contextlib.AsyncExitStack() as opened:

        async def start(settings: JSON) -> Parts:
            data = {"storage.data_dir": str(tmp_path / "data"), "llm.provider": "offline"} | database_settings
            given = data | PATIENT | settings
            parts = await open_parts(load_settings(None, given, environ={}))
            opened.push_async_callback(parts.aclose)
            await parts.start()
            return parts

        yield start


@pytest.fixture
async def open_server(open_parts_over: Callable[..., Awaitable[Parts]]) -> OpenServer:
    """A server called in this process; options by name, settings as a dict."""

    async def start(settings: JSON | None = None, **options: Any) -> Server:
        parts = await open_parts_over(settings or {})
        app = create_app(parts, ServerOptions(**options))
        return Server(app=app, parts=parts)

    return start


@pytest.fixture
async def listen(open_server: OpenServer) -> AsyncIterator[OpenServer]:
    """A server on a real socket, in this event loop."""
    async with contextlib.AsyncExitStack() as running:

        async def start(settings: JSON | None = None, **options: Any) -> Server:
            server = await open_server(settings, **options)
            url = await running.enter_async_context(listening(server.app, ServerOptions(**options)))
            return Server(app=server.app, parts=server.parts, url=url)

        yield start


@pytest.fixture
def known(tmp_path: Path) -> tuple[ApiKeys, Sessions]:
    """The keys and sessions of a new data directory."""
    settings = load_settings(None, {"storage.data_dir": str(tmp_path)}, environ={})
    file = AccessFile(settings)
    return ApiKeys(file), Sessions(settings, file)


class Clock:
    """The time by which rate limits are counted, in seconds since 1970; a test sets it."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0  # a full minute, so that all windows begin here

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that stands still until a test sets it."""
    by_hand = Clock()
    monkeypatch.setattr(time, "time", by_hand)
    return by_hand


@pytest.fixture
async def server(open_server: OpenServer) -> Server:
    """A keyless server with the offline model, called in this process."""
    return await open_server()


@pytest.fixture
async def llm() -> AsyncIterator[ScriptedLLM]:
    """The far model."""
    async with ScriptedLLM() as scripted:
        yield scripted


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    """A plain HTTP client."""
    async with aiohttp.ClientSession() as session:
        yield session
