"""Selects the language model and the embedding model, and asks for facts about them, such as the context size."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import aiohttp
import orjson
from pydantic import SecretStr

from mnemoir.core.cached import Cached
from mnemoir.core.errors import MnemoirError, SettingsError
from mnemoir.models.model_in_use import ModelInUse
from mnemoir.ports.embedding import EmbeddingModel
from mnemoir.ports.llm import ChatModel
from mnemoir.providers.embedding.minilm_model import MiniLM
from mnemoir.providers.embedding.multilingual_model import UniversalSentenceEncoder
from mnemoir.providers.embedding.remote import OllamaEmbeddings, OpenAIEmbeddings
from mnemoir.providers.http import most_of
from mnemoir.providers.llm.border import provider_errors
from mnemoir.providers.llm.endpoint import Endpoint, SettingNames, Timeouts
from mnemoir.providers.llm.offline import OfflineModel
from mnemoir.providers.llm.ollama_chat import OllamaChat
from mnemoir.providers.llm.openai_chat import OpenAIChat
from mnemoir.providers.llm.openai_responses import OpenAIResponses
from mnemoir.settings import Llm, Settings
from mnemoir.settings import Timeouts as TimeoutSettings
from mnemoir.wire import upstream
from mnemoir.wire.model_facts import ModelFacts, read_card, read_shown, read_size

DEFAULT_OPENAI_MODEL = "gpt-5-mini"
_LOOK_S = 0.5  # how long an Ollama on this machine may take to say that it is there
_EMBEDDERS = ("embed", "minilm", "bge-")  # names of Ollama models that cannot chat
_OPENAI_SETTINGS = SettingNames(key="llm.api_key", model="llm.model", url="llm.base_url")
_OLLAMA_SETTINGS = SettingNames(key="user and password in llm.ollama_url", model="llm.model", url="llm.ollama_url")
_DEFAULT_EMBEDDING = {"openai": "text-embedding-3-small", "ollama": "nomic-embed-text"}
_ASK_AGAIN_S = 60.0
_PATIENCE_S = 1.0  # a client's list of models is not kept waiting for a server that gives no answer
_LONGEST_S = 5.0
_MOST_BYTES = 8 * 1024 * 1024  # of one answer: an Ollama shows the model's licence and vocabulary too
_UNKNOWN = ModelFacts()


async def choose_model(settings: Llm, session: aiohttp.ClientSession) -> ChatModel:
    """The model the settings name; with `auto`: OpenAI when there is a key, else a running Ollama, else offline."""
    provider = settings.provider
    if provider == "auto":
        provider = "openai-responses" if settings.api_key else "ollama"
        if provider == "ollama":
            models = await ollama_models(settings.ollama_url, session)
            chosen = settings.model or next(iter(those_that_chat(models)), None)
            return OllamaChat(endpoint_of(settings, chosen), session) if models and chosen else OfflineModel()
    if provider == "offline":
        return OfflineModel()
    if provider == "ollama":
        chosen = settings.model or next(
            iter(those_that_chat(await ollama_models(settings.ollama_url, session))), None
        )
        if not chosen:
            raise SettingsError(
                f"llm.provider is ollama, and the Ollama at {settings.ollama_url} offers no model that chats. "
                "Start it and pull one (`ollama pull llama3.2`), or name one in llm.model."
            )
        return OllamaChat(endpoint_of(settings, chosen), session)
    endpoint = endpoint_of(settings, settings.model or DEFAULT_OPENAI_MODEL)
    return OpenAIChat(endpoint, session) if provider == "openai-chat" else OpenAIResponses(endpoint, session)


async def ollama_models(url: str, session: aiohttp.ClientSession) -> list[str]:
    """Names of the models an Ollama has; [] when none answers there."""
    try:
        async with asyncio.timeout(_LOOK_S), session.get(f"{url}/api/tags", allow_redirects=False) as response:
            tags = orjson.loads(await response.read()) if response.status == 200 else {}
    except (TimeoutError, aiohttp.ClientError, orjson.JSONDecodeError, OSError):
        return []
    listed = tags.get("models") if isinstance(tags, dict) else None
    return [str(entry["name"]) for entry in listed or () if isinstance(entry, dict) and entry.get("name")]


def choose_embedding(settings: Settings, session: aiohttp.ClientSession) -> EmbeddingModel:
    """The embedding model the settings name; nothing is loaded or called yet."""
    chosen = settings.embedding
    if chosen.provider == "builtin":
        return MiniLM()
    if chosen.provider == "sentence-transformers":
        from mnemoir.providers.embedding.sentence_transformers_model import SentenceTransformersModel

        return SentenceTransformersModel(chosen.model or "sentence-transformers/all-MiniLM-L6-v2")
    endpoint = embedding_endpoint(settings)
    return (OllamaEmbeddings if chosen.provider == "ollama" else OpenAIEmbeddings)(endpoint, session)


def embedding_endpoint(settings: Settings) -> Endpoint:
    """The endpoint of a remote embedding model."""
    chosen = settings.embedding
    return Endpoint(
        base_url=settings.embedding_url,
        api_key=_plain(settings.embedding_key),
        model=chosen.model or _DEFAULT_EMBEDDING[chosen.provider],
        timeouts=timeouts_of(chosen.timeouts),
        tries=settings.llm.tries,
        settings=SettingNames(key="embedding.api_key", model="embedding.model", url="embedding.base_url"),
    )


def choose_multilingual(settings: Settings) -> EmbeddingModel | None:
    """The multilingual model beside the embedding model, if any; it is loaded at its first use."""
    chosen = settings.embedding
    is_wanted = chosen.multilingual == "always" or (chosen.multilingual == "auto" and chosen.provider == "builtin")
    return UniversalSentenceEncoder() if is_wanted else None


def those_that_chat(models: Sequence[str]) -> list[str]:
    """The models of an Ollama without those whose names say that they only embed."""
    return [name for name in models if not any(part in name.lower() for part in _EMBEDDERS)]


def embedders_first(models: Sequence[str]) -> list[str]:
    """All models of an Ollama, first those whose names say that they embed; any may be able to."""
    chat = set(those_that_chat(models))
    return sorted(models, key=lambda name: name in chat)


def endpoint_of(settings: Llm, model: str | None) -> Endpoint:
    """The endpoint of the language model that the settings name."""
    is_ollama = settings.provider == "ollama" or (settings.provider == "auto" and settings.api_key is None)
    return Endpoint(
        base_url=settings.ollama_url if is_ollama else settings.base_url,
        api_key=None if is_ollama else _plain(settings.api_key),
        model=model or "",
        timeouts=timeouts_of(settings.timeouts),
        tries=settings.tries,
        most_bytes=settings.most_bytes,
        settings=_OLLAMA_SETTINGS if is_ollama else _OPENAI_SETTINGS,
    )


def timeouts_of(settings: TimeoutSettings) -> Timeouts:
    """The timeouts of one kind of calls."""
    return Timeouts(
        connect_s=settings.connect_s,
        first_byte_s=settings.first_byte_s,
        between_bytes_s=settings.between_bytes_s,
        total_s=settings.total_s,
    )


def _plain(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret else None


class ModelInquiry:
    """Asks the server of the model in use; no facts for models in this process."""

    def __init__(self, in_use: ModelInUse) -> None:
        self._in_use = in_use
        self._facts = Cached(self._find_out, for_s=_ASK_AGAIN_S)
        in_use.on_change(self._facts.forget)

    async def facts(self) -> ModelFacts:
        """The known facts of the model; empty when its server does not answer in time."""
        if self._in_use.now().provider not in ("ollama", "openai-chat"):
            return _UNKNOWN
        return await self._facts.get(patience_s=_PATIENCE_S) or _UNKNOWN

    async def context_tokens(self) -> int | None:
        """How many tokens the model takes, as far as its server has told; nobody waits for it."""
        if self._in_use.now().provider not in ("ollama", "openai-chat"):
            return None
        return (await self._facts.get(patience_s=0) or _UNKNOWN).context_tokens

    async def aclose(self) -> None:
        """Cancel the request under way."""
        await self._facts.aclose()

    async def _find_out(self) -> ModelFacts:
        chosen = self._in_use.chosen
        endpoint = endpoint_of(chosen.settings.llm, chosen.model.name)
        try:
            async with asyncio.timeout(_LONGEST_S):
                with provider_errors(endpoint):
                    find_out = _of_ollama if chosen.model.provider == "ollama" else _of_openai
                    return await find_out(endpoint, chosen.session)
        except (MnemoirError, TimeoutError):  # problems are reported by calls of the model
            return _UNKNOWN


async def _of_ollama(endpoint: Endpoint, session: aiohttp.ClientSession) -> ModelFacts:
    shown = read_shown(await _json_answer(endpoint, session, "POST", "/api/show", {"model": endpoint.model}))
    return replace(
        shown, size_bytes=read_size(await _json_answer(endpoint, session, "GET", "/api/tags"), endpoint.model)
    )


async def _of_openai(endpoint: Endpoint, session: aiohttp.ClientSession) -> ModelFacts:
    return read_card(await _json_answer(endpoint, session, "GET", "/models"), endpoint.model)


async def _json_answer(
    endpoint: Endpoint, session: aiohttp.ClientSession, method: str, path: str, body: object = None
) -> dict[str, Any]:
    """The JSON of an answer; {} when the server refuses or the answer is too large."""
    async with session.request(
        method, endpoint.url(path), json=body, headers=endpoint.headers(), allow_redirects=False
    ) as answer:
        data = await most_of(answer, _MOST_BYTES) if answer.status == 200 else None
    return {} if data is None else upstream.decode(data)
