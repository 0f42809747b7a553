"""Changes the embedding model: what is in use and why, trying one, saving one for the next start.

Indexes, opened conversations and the jobs that make vectors are bound to one embedding model, so a saved one is in
force after a restart. What file, environment or command line set stays as it is; a saved value that contradicts it is
refused. Nothing here returns a key.
"""

import asyncio
from dataclasses import replace

import aiohttp
import structlog

from mnemoir.models.choice import choose_embedding, embedders_first
from mnemoir.models.model_address import checked_address, checked_name, key_for, saved_or_none, set_elsewhere
from mnemoir.models.model_setup import (
    EmbeddingSaved,
    EmbeddingSetup,
    EmbeddingTest,
    EmbeddingUsed,
    FixedValue,
    ModelsOffered,
    WantedEmbedding,
)
from mnemoir.models.model_trials import embedded_once, models_at
from mnemoir.models.reaching import plain_url
from mnemoir.ports.embedding import EmbeddingModel
from mnemoir.settings import Settings
from mnemoir.settings.saved_embedding import fixed_provider, is_in_force, with_embedding
from mnemoir.settings.saved_model import EMBEDDING_MODEL, SavedEmbedder, SavedModel, origin_of

_KEYS = ("embedding.provider", "embedding.model", "embedding.base_url", "embedding.api_key")
_ANY = "any"
_log = structlog.get_logger(__name__)


class OpenEmbedding:
    """The embedding model of this run, the settings with it, and the session of its calls."""

    def __init__(self, settings: Settings, session: aiohttp.ClientSession, careful: aiohttp.ClientSession) -> None:
        """Choose the saved model below what the settings say; nothing is called yet. Raises SettingsError."""
        saved = EMBEDDING_MODEL.read(settings.storage.data_dir)
        is_saved = saved is not None and is_in_force(settings, saved)
        self.session = careful if is_saved else session
        self.settings = with_embedding(settings, saved)
        self.model = choose_embedding(self.settings, self.session)


class EmbeddingConnection:
    """Changes the embedding model that the next start uses. The caller owns `careful`, the session of trials."""

    def __init__(self, given: Settings, opened: OpenEmbedding, careful: aiohttp.ClientSession) -> None:
        """`given` are the settings without what was saved."""
        self._given = given
        self._opened = opened
        self._careful = careful
        self._changing = asyncio.Lock()

    async def setup(self) -> EmbeddingSetup:
        """The model in use, that of the next start, and what may be changed."""
        saved = await self._saved()
        following = with_embedding(self._given, saved)
        is_other = following.embedding != self._opened.settings.embedding
        in_use = _used(self._opened.settings, self._opened.model)
        return EmbeddingSetup(
            in_use=in_use,
            after_restart=_used(following, choose_embedding(following, self._careful)) if is_other else in_use,
            restart_needed=is_other,
            saved=None if saved is None else self._shown(saved),
            fixed=self._fixed(),
            openai_url=plain_url(self._given.llm.base_url),
            ollama_url=plain_url(self._given.llm.ollama_url),
        )

    async def test(self, wanted: WantedEmbedding | None) -> EmbeddingTest:
        """Embed one short text with `wanted`, or with the model in use. Raises InvalidRequest."""
        if wanted is None:
            return await embedded_once(self._opened.model, _used(self._opened.settings, self._opened.model).url)
        tried = with_embedding(self._given, await self._checked(wanted))
        tried = tried.model_copy(update={"llm": tried.llm.model_copy(update={"tries": 1})})
        return await embedded_once(choose_embedding(tried, self._careful), tried.embedding_url)

    async def offered(self, wanted: WantedEmbedding) -> ModelsOffered:
        """The models at the address of `wanted`, whose own name does not matter. Raises InvalidRequest."""
        named = replace(wanted, model=self._given.embedding.model or _ANY)
        at = with_embedding(self._given, await self._checked(named))
        llm = at.llm.model_copy(
            update={
                "provider": "ollama" if wanted.provider == "ollama" else "openai-chat",
                "ollama_url": at.embedding_url,
                "base_url": at.embedding_url,
                "api_key": at.embedding_key,
            }
        )
        return await models_at(llm, self._careful, embedders_first)

    async def save(self, wanted: WantedEmbedding) -> None:
        """Save `wanted` for the next start. Raises InvalidRequest and StorageUnavailable."""
        async with self._changing:
            saved = await self._checked(wanted)
            await asyncio.to_thread(EMBEDDING_MODEL.save, self._given.storage.data_dir, saved)
        _log.info("embedding model saved for the next start", model=saved.model, provider=saved.provider)

    async def forget(self) -> None:
        """Remove what was saved; the next start goes by the settings. Raises StorageUnavailable."""
        async with self._changing:
            await asyncio.to_thread(EMBEDDING_MODEL.forget, self._given.storage.data_dir)
        _log.info("saved embedding model forgotten")

    async def _saved(self) -> SavedModel[SavedEmbedder] | None:
        return await saved_or_none(EMBEDDING_MODEL, self._given.storage.data_dir)

    async def _checked(self, wanted: WantedEmbedding) -> SavedModel[SavedEmbedder]:
        """`wanted` with the key of its address. Raises InvalidRequest for what is wrong or set elsewhere."""
        url = await checked_address(wanted.provider, wanted.url)
        checked = SavedModel(provider=wanted.provider, url=url, model=checked_name(wanted.model))
        self._refuse_fixed(checked, is_new_key=bool(wanted.key))
        if wanted.provider == "ollama":
            return checked
        return replace(checked, key=key_for(url, wanted.key, await self._saved()))

    def _refuse_fixed(self, wanted: SavedModel[SavedEmbedder], *, is_new_key: bool) -> None:
        """Raise InvalidRequest where file, environment or command line say otherwise."""
        own, given = self._given.embedding, self._given.source.given
        is_their_key = own.api_key is not None and origin_of(wanted.url) == origin_of(self._given.embedding_url)
        differs = {
            "embedding.provider": fixed_provider(self._given) not in (None, wanted.provider),
            "embedding.model": "embedding.model" in given and wanted.model != own.model,
            "embedding.base_url": "embedding.base_url" in given and wanted.url != own.base_url,
            "embedding.api_key": is_their_key and is_new_key,
        }
        for key in (key for key, is_other in differs.items() if is_other):
            raise set_elsewhere(key, given.get(key, "the settings"))

    def _fixed(self) -> list[FixedValue]:
        own, given = self._given.embedding, self._given.source.given
        shown = {
            "embedding.provider": own.provider,
            "embedding.model": own.model,
            "embedding.base_url": None if own.base_url is None else plain_url(own.base_url),
        }
        return [FixedValue(key=key, value=shown.get(key), set_by=given[key]) for key in _KEYS if key in given]

    def _shown(self, saved: SavedModel[SavedEmbedder]) -> EmbeddingSaved:
        return EmbeddingSaved(
            provider=saved.provider,
            model=saved.model,
            url=saved.url,
            has_key=saved.key is not None,
            in_force=is_in_force(self._given, saved),
        )


def _used(settings: Settings, model: EmbeddingModel) -> EmbeddingUsed:
    provider = settings.embedding.provider
    is_remote = provider in ("openai", "ollama")
    return EmbeddingUsed(
        provider=provider,
        model=model.name.partition(":")[2] if is_remote else model.name,
        url=plain_url(settings.embedding_url) if is_remote else None,
        has_key=is_remote and settings.embedding_key is not None,
    )
