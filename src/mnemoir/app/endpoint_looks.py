"""Checks the servers of endpoints by listing their models, which costs no tokens.

Endpoints often share one server, which is asked once for all of them; only a few servers are asked at a time.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

import aiohttp
import orjson

from mnemoir.app.cached import Cached
from mnemoir.core.clock import now_text
from mnemoir.core.errors import MnemoirError
from mnemoir.ports.llm import ModelServerKind
from mnemoir.providers.http import most_of
from mnemoir.providers.llm.border import provider_errors
from mnemoir.providers.llm.endpoint import Endpoint

_LOOK_AGAIN_S = 30.0
_AT_ONCE = 6
_LONGEST_LOOK_S = 5.0
_MOST_BYTES = 4 * 1024 * 1024  # of a list of models
_OPENAI, _KOBOLD, _OLLAMA = "/v1/models", "/api/v1/model", "/api/tags"
_PATHS: Mapping[ModelServerKind, str] = {
    "openai-chat": _OPENAI,
    "openai-completions": _OPENAI,
    "koboldcpp": _KOBOLD,
    "ollama-chat": _OLLAMA,
    "ollama-generate": _OLLAMA,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """The identity of a server: address, key and protocol. Never shown to users."""

    kind: ModelServerKind
    url: str
    key: str

    @property
    def path(self) -> str:
        """The path of its model list."""
        return _PATHS[self.kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """The result of a check: the status of the answer, or else the `problem` that prevented one.

    `models` are those of an Ollama, None when it returned no list.
    """

    at: str
    status: int | None = None
    problem: str = ""
    models: frozenset[str] | None = None


class EndpointLooks:
    """The last check of each server, repeated on request when it is over half a minute old."""

    def __init__(self, session: aiohttp.ClientSession, *, longest_s: float = _LONGEST_LOOK_S) -> None:
        self._session = session
        self._limit = aiohttp.ClientTimeout(total=longest_s)
        self._places = asyncio.Semaphore(_AT_ONCE)
        self._kept: dict[tuple[str, str, str], Cached[Look]] = {}

    async def at(self, server: Server, *, patience_s: float, fresh: bool) -> Look | None:
        """The last check; an older one when a new one takes over `patience_s`, None before the first has ended."""
        return await self._of(server).get(patience_s=patience_s, fresh=fresh)

    async def aclose(self) -> None:
        """Cancel checks under way."""
        await asyncio.gather(*(kept.aclose() for kept in self._kept.values()))

    def _of(self, server: Server) -> Cached[Look]:
        async def look() -> Look:
            async with self._places:
                return await _look(server, self._session, self._limit)

        # keyed by the list's path: protocols with different chat requests may list their models alike
        return self._kept.setdefault((server.path, server.url, server.key), Cached(look, for_s=_LOOK_AGAIN_S))


async def _look(server: Server, session: aiohttp.ClientSession, limit: aiohttp.ClientTimeout) -> Look:
    try:
        endpoint = Endpoint(base_url=server.url, api_key=server.key or None)  # refuses an invalid address
        with provider_errors(endpoint):
            status, body = await _asked(endpoint, server, session, limit)
    except MnemoirError as exc:
        return Look(at=now_text(), problem=exc.message)
    models = _models_in(body) if server.path == _OLLAMA and status == 200 else None
    return Look(at=now_text(), status=status, models=models)


async def _asked(
    endpoint: Endpoint, server: Server, session: aiohttp.ClientSession, limit: aiohttp.ClientTimeout
) -> tuple[int, bytes]:
    url, headers = endpoint.url(server.path), endpoint.headers()
    async with session.get(url, headers=headers, timeout=limit, allow_redirects=False) as answer:
        if server.path != _OLLAMA or answer.status != 200:
            return answer.status, b""
        return answer.status, await most_of(answer, _MOST_BYTES) or b""


def _models_in(body: bytes) -> frozenset[str] | None:
    try:
        told = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    listed = told.get("models") if isinstance(told, dict) else None
    if not isinstance(listed, list):
        return None
    return frozenset(str(one["name"]) for one in listed if isinstance(one, dict) and one.get("name"))
