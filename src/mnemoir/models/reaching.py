"""Checks whether servers of models can be reached, by listing their models, which costs no tokens.

Endpoints often share one server, which is asked once for all of them; only a few servers are asked at a time.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import aiohttp
import orjson
from pydantic import SecretStr
from yarl import URL

from mnemoir.core.cached import Cached
from mnemoir.core.clock import now_text
from mnemoir.core.errors import MnemoirError
from mnemoir.models.choice import ollama_models
from mnemoir.models.model_in_use import Chosen
from mnemoir.ports.llm import ChatModel, ModelServerKind
from mnemoir.providers.http import most_of
from mnemoir.providers.llm.border import provider_errors
from mnemoir.providers.llm.endpoint import Endpoint

Health = Literal["ok", "warn", "fail"]
_LOOK_AGAIN_S = 30.0
_AT_ONCE = 6
_LONGEST_LOOK_S = 5.0
_MOST_BYTES = 4 * 1024 * 1024  # of a list of models


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """The result of a check. `found` describes the problem, "" for none; `to_do` is the next step."""

    state: Health = "ok"
    found: str = ""
    to_do: str = ""


async def reach_model(chosen: Chosen[ChatModel]) -> Reached:
    """Check the server of a language model."""
    llm, name = chosen.settings.llm, chosen.model.name
    if chosen.model.provider == "offline":
        looked = f"Looked for Ollama at {plain_url(llm.ollama_url)}."
        to_do = f"Connect one on the page Connect, or set OPENAI_API_KEY. {looked}"
        return Reached(state="warn", found="no language model is connected", to_do=to_do)
    if chosen.model.provider == "ollama":
        return await reach_ollama(llm.ollama_url, name, chosen.session)
    return await reach_openai(llm.base_url, llm.api_key, chosen.session, timeout_s=llm.timeouts.connect_s)


async def reach_ollama(url: str, model: str, session: aiohttp.ClientSession) -> Reached:
    """Check that an Ollama answers and has the model."""
    installed = await ollama_models(url, session)
    if {model, f"{model}:latest"} & set(installed):
        return Reached()
    found = f"it has no model {model}" if installed else "it cannot be reached"
    return Reached(state="fail", found=found, to_do=f"Start Ollama there and run: ollama pull {model}")


async def reach_openai(
    url: str, key: SecretStr | None, session: aiohttp.ClientSession, *, timeout_s: float
) -> Reached:
    """Check a server of OpenAI's protocol. A server without a model list still counts as reached."""
    headers = {"authorization": f"Bearer {key.get_secret_value()}"} if key else {}
    timeout = aiohttp.ClientTimeout(total=timeout_s)
    try:
        async with session.get(f"{url}/models", headers=headers, timeout=timeout, allow_redirects=False) as answer:
            status = answer.status
    except (aiohttp.ClientError, TimeoutError) as exc:
        to_do = "Check the address (on the page Connect, or OPENAI_BASE_URL) and the network."
        return Reached(state="fail", found=type(exc).__name__, to_do=to_do)
    if status in (401, 403):
        return Reached(
            state="fail", found="refused the key", to_do="Check the key: on the page Connect, or OPENAI_API_KEY."
        )
    if status >= 500:
        return Reached(state="warn", found=f"answers {status}", to_do="Try again later.")
    return Reached()


def plain_url(url: str) -> str:
    """The address without the parts that may be secret: user, password, query."""
    return str(URL(url).with_user(None).with_query(None).with_fragment(None))


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
        async def check_server() -> Look:
            async with self._places:
                return await _look(server, self._session, self._limit)

        # keyed by the list's path: protocols with different chat requests may list their models alike
        return self._kept.setdefault((server.path, server.url, server.key), Cached(check_server, for_s=_LOOK_AGAIN_S))


async def _look(server: Server, session: aiohttp.ClientSession, limit: aiohttp.ClientTimeout) -> Look:
    try:
        endpoint = Endpoint(base_url=server.url, api_key=server.key or None)  # refuses an invalid address
        with provider_errors(endpoint):
            status, body = await _ask_server(endpoint, server, session, limit)
    except MnemoirError as exc:
        return Look(at=now_text(), problem=exc.message)
    models = _models_in(body) if server.path == _OLLAMA and status == 200 else None
    return Look(at=now_text(), status=status, models=models)


async def _ask_server(
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
