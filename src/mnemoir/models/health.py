"""Health of the models: their names, whether they can be reached, their last errors.

A model's server is checked on request, at most twice a minute, by a request that costs no tokens. An embedding model
in this process embeds one plain sentence.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import aiohttp

from mnemoir.core.cached import Cached
from mnemoir.core.clock import now_text
from mnemoir.core.errors import MnemoirError
from mnemoir.models.endpoints import EndpointHealth, Endpoints
from mnemoir.models.model_in_use import ModelInUse, chat_url
from mnemoir.models.reaching import Health, Reached, plain_url, reach_model, reach_ollama, reach_openai
from mnemoir.ports.embedding import EmbeddingModel, Passage
from mnemoir.settings import Settings

_LOOK_AGAIN_S = 30.0
_PATIENCE_S = 3.0  # a page is not kept waiting for a server that gives no answer
_PLAIN = Passage(text="A plain sentence.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Connected:
    """The result of a check; `state` is None before the first one. Both texts are "" when all is well."""

    state: Health | None
    problem: str
    to_do: str
    checked_at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelHealth:
    """The language model. `url` is None for the offline model; `error` is how its last failed call ended."""

    name: str
    provider: str
    url: str | None
    connected: Connected
    answered_at: str | None
    failed_at: str | None
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderHealth:
    """The embedding model. `dimension` is None until its first answer; `url` is None for one in this process."""

    name: str
    provider: str
    url: str | None
    dimension: int | None
    connected: Connected


class Checkup:
    """Checks the models of one server."""

    def __init__(
        self,
        settings: Settings,
        in_use: ModelInUse,
        embedding: EmbeddingModel,
        endpoints: Endpoints,
        session: aiohttp.ClientSession,
    ) -> None:
        self._settings = settings
        self._in_use = in_use
        self._embedding = embedding
        self._endpoints = endpoints
        self._session = session
        self._of_model = Cached(self._reach_model, for_s=_LOOK_AGAIN_S)
        self._of_embedder = Cached(self._reach_embedder, for_s=_LOOK_AGAIN_S)
        in_use.on_change(self._of_model.forget)

    async def model(self, *, fresh: bool = False) -> ModelHealth:
        """The health of the language model."""
        connected = await _looked_at(self._of_model, fresh=fresh)
        model, url = self._in_use.now(), chat_url(self._in_use.chosen)
        last = model.last_calls
        return ModelHealth(
            name=model.name,
            provider=model.provider,
            url=None if url is None else plain_url(url),
            connected=connected,
            answered_at=last.answered_at,
            failed_at=last.failed_at,
            error=last.error,
        )

    async def embedder(self, *, fresh: bool = False) -> EmbedderHealth:
        """The health of the embedding model."""
        provider = self._settings.embedding.provider
        is_remote = provider in ("openai", "ollama")
        connected = await _looked_at(self._of_embedder, fresh=fresh)
        return EmbedderHealth(
            name=self._embedding.name,
            provider=provider,
            url=plain_url(self._settings.embedding_url) if is_remote else None,
            dimension=self._embedding.dimension,
            connected=connected,
        )

    async def endpoints(self, *, fresh: bool = False) -> Sequence[EndpointHealth]:
        """The endpoints of the config tree, those with problems first."""
        return await self._endpoints.health(patience_s=_PATIENCE_S, fresh=fresh)

    async def aclose(self) -> None:
        """Cancel checks under way."""
        await self._endpoints.aclose()
        await self._of_model.aclose()
        await self._of_embedder.aclose()

    async def _reach_model(self) -> Connected:
        return _connection_state(await reach_model(self._in_use.chosen))

    async def _reach_embedder(self) -> Connected:
        settings, provider = self._settings, self._settings.embedding.provider
        if provider == "ollama":
            model = self._embedding.name.partition(":")[2]
            return _connection_state(await reach_ollama(settings.embedding_url, model, self._session))
        if provider == "openai":
            patience_s = settings.embedding.timeouts.connect_s
            url, key = settings.embedding_url, settings.embedding_key
            return _connection_state(await reach_openai(url, key, self._session, timeout_s=patience_s))
        try:
            await self._embedding.embed([_PLAIN])
        except (MnemoirError, ImportError) as exc:  # ImportError: an extra that is not installed
            to_do = "Correct the embedding settings; until then, search matches words only."
            return _connection_state(Reached(state="fail", found=str(exc), to_do=to_do))
        return _connection_state(Reached())


async def _looked_at(kept: Cached[Connected], *, fresh: bool) -> Connected:
    found = await kept.get(patience_s=_PATIENCE_S, fresh=fresh)
    return found or Connected(state=None, problem="", to_do="", checked_at=None)


def _connection_state(reached: Reached) -> Connected:
    now = now_text()
    return Connected(state=reached.state, problem=reached.found, to_do=reached.to_do, checked_at=now)
