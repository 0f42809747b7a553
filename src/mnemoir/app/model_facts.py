"""Facts about the language model (such as its context size), asked of its server on request and cached."""

import asyncio
from dataclasses import replace
from typing import Any

import aiohttp

from mnemoir.app.cached import Cached
from mnemoir.app.models import endpoint_of
from mnemoir.core.errors import MnemoirError
from mnemoir.ports.llm import ChatModel
from mnemoir.providers.http import most_of
from mnemoir.providers.llm.border import provider_errors
from mnemoir.providers.llm.endpoint import Endpoint
from mnemoir.settings import Settings
from mnemoir.wire import upstream
from mnemoir.wire.model_facts import ModelFacts, read_card, read_shown, read_size

_ASK_AGAIN_S = 60.0
_PATIENCE_S = 1.0  # a client's list of models is not kept waiting for a server that gives no answer
_LONGEST_S = 5.0
_MOST_BYTES = 8 * 1024 * 1024  # of one answer: an Ollama shows the model's licence and vocabulary too
_UNKNOWN = ModelFacts()


class ModelInquiry:
    """Asks the server of one model; no facts for models in this process."""

    def __init__(self, settings: Settings, model: ChatModel, session: aiohttp.ClientSession) -> None:
        self._endpoint = endpoint_of(settings.llm, model.name)
        self._model = model
        self._session = session
        self._facts = Cached(self._find_out, for_s=_ASK_AGAIN_S)

    async def facts(self) -> ModelFacts:
        """The known facts of the model; empty when its server does not answer in time."""
        if self._model.provider not in ("ollama", "openai-chat"):
            return _UNKNOWN
        return await self._facts.get(patience_s=_PATIENCE_S) or _UNKNOWN

    async def aclose(self) -> None:
        """Cancel the request under way."""
        await self._facts.aclose()

    async def _find_out(self) -> ModelFacts:
        try:
            async with asyncio.timeout(_LONGEST_S):
                with provider_errors(self._endpoint):
                    return await (self._of_ollama() if self._model.provider == "ollama" else self._of_openai())
        except (MnemoirError, TimeoutError):  # problems are reported by calls of the model
            return _UNKNOWN

    async def _of_ollama(self) -> ModelFacts:
        shown = read_shown(await self._asked("POST", "/api/show", {"model": self._model.name}))
        return replace(shown, size_bytes=read_size(await self._asked("GET", "/api/tags"), self._model.name))

    async def _of_openai(self) -> ModelFacts:
        return read_card(await self._asked("GET", "/models"), self._model.name)

    async def _asked(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """The JSON of an answer; {} when the server refuses or the answer is too large."""
        endpoint: Endpoint = self._endpoint
        async with self._session.request(
            method, endpoint.url(path), json=body, headers=endpoint.headers(), allow_redirects=False
        ) as answer:
            data = await most_of(answer, _MOST_BYTES) if answer.status == 200 else None
        return {} if data is None else upstream.decode(data)
