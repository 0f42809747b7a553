"""What each model is for, and how it is connected: what is in use and why, trying one, saving one.

One implementation for all roles. The language model answers chats; a saved one is in use at once. The embedding model
makes the vectors of all texts; indexes, opened conversations and the jobs that make vectors are bound to it, so a
saved one is in use after a restart. The multilingual model makes further vectors of some texts; it is in this
process, and none is saved for it.

What file, environment or command line set stays as it is; a saved value that contradicts it is refused. Nothing here
returns a key, or what a server said that is no model's answer.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Generic

import aiohttp
import structlog

from mnemoir.core.cached import Cached
from mnemoir.core.errors import SettingsError
from mnemoir.models.choice import (
    choose_embedding,
    choose_model,
    choose_multilingual,
    embedders_first,
    embedding_endpoint,
    endpoint_of,
    ollama_models,
    those_that_chat,
)
from mnemoir.models.model_address import checked_address, checked_name, key_for, set_elsewhere
from mnemoir.models.model_in_use import Chosen, M, chat_url
from mnemoir.models.model_setup import (
    EmbeddingSaved,
    EmbeddingSetup,
    EmbeddingTest,
    EmbeddingUsed,
    FixedValue,
    ModelSaved,
    ModelSetup,
    ModelsOffered,
    ModelTest,
    ModelUsed,
    OllamaFound,
    WantedModel,
)
from mnemoir.models.model_trials import ask_once, embed_once, models_at, refused_settings
from mnemoir.models.reaching import plain_url
from mnemoir.models.saved_models import ModelFiles, SavedModels
from mnemoir.ports.embedding import EmbeddingModel
from mnemoir.ports.llm import ChatModel
from mnemoir.providers.llm.endpoint import Endpoint
from mnemoir.settings import Settings
from mnemoir.settings.saved_model import SavedModel, origin_of
from mnemoir.settings.saved_role import SAVED_CHAT, SAVED_EMBEDDING, SavedRole

_LOOK_AGAIN_S = 10.0
_ANY = "any"
_SETTINGS = ("provider", "model", "base_url", "ollama_url", "api_key")
_log = structlog.get_logger(__name__)


class ModelRole(ABC, Generic[M]):
    """One role: its model is chosen by the settings."""

    def __init__(self, settings: Settings, session: aiohttp.ClientSession) -> None:
        """`settings` are those without what was saved. The caller owns the session."""
        self._settings = settings
        self._session = session

    @abstractmethod
    async def choose(self, settings: Settings, session: aiohttp.ClientSession) -> M:
        """The model that the settings name. Raises SettingsError."""

    async def open(self) -> Chosen[M]:
        """The model at the start. Raises SettingsError."""
        model = await self.choose(self._settings, self._session)
        return Chosen(model=model, settings=self._settings, session=self._session)


class ConnectedRole(ModelRole[M]):
    """A role whose model may be at a server, and be saved: below what the settings say.

    `open` comes first. With `use`, which takes the model of a change, a saved model is in use at once.
    """

    saved: ClassVar[SavedRole]
    use: Callable[[Chosen[M]], None] | None = None
    chosen: Chosen[M]  # in use

    def __init__(
        self,
        settings: Settings,
        session: aiohttp.ClientSession,
        careful: aiohttp.ClientSession,
        kept: SavedModels | None = None,
    ) -> None:
        """The caller owns the sessions; `careful` is for saved models and for trials.

        `kept` has the saved models; None for files of the data directory.
        """
        super().__init__(settings, session)
        self._careful = careful
        self._kept = kept or ModelFiles(settings.storage.data_dir)
        self._saved: SavedModel | None = None  # when the model was chosen that is in use
        self._changing = asyncio.Lock()

    @abstractmethod
    def endpoint(self, settings: Settings) -> Endpoint:
        """The server of the model that the settings name."""

    @abstractmethod
    def suitable_models(self, models: Sequence[str]) -> list[str]:
        """The models of an Ollama that may have this role, the best first."""

    async def open(self) -> Chosen[M]:
        """The model at the start: the saved one, if there is one. Raises SettingsError."""
        self._saved = await asyncio.to_thread(self._kept.read, self.saved)
        self.chosen = await self._choice(self._saved)
        return self.chosen

    async def renew(self) -> None:
        """Use a model that another server saved, if that is possible at once.

        Raises SettingsError and StorageUnavailable.
        """
        async with self._changing:
            saved = await asyncio.to_thread(self._kept.read, self.saved)
            if self.use is not None and saved != self._saved:
                self._put_to_use(saved, await self._choice(saved), self.use)
                _log.info("saved model changed elsewhere", role=self.saved.section, model=saved and saved.model)

    async def server_models(self, wanted: WantedModel) -> ModelsOffered:
        """The models at the address of `wanted`, whose own name does not matter. Raises InvalidRequest."""
        named = replace(wanted, model=self.saved.own(self._settings).model or _ANY)
        at = self.endpoint(self.saved.settings_with(self._settings, await self._checked_model(named)))
        return await models_at(at, self._careful, self.suitable_models if wanted.provider == "ollama" else None)

    async def save(self, wanted: WantedModel) -> None:
        """Save `wanted`. Raises InvalidRequest and StorageUnavailable."""
        async with self._changing:
            await self._change(await self._checked_model(wanted))

    async def forget(self) -> None:
        """Remove what was saved, and go back to what the settings say. Raises InvalidRequest, StorageUnavailable."""
        async with self._changing:
            await self._change(None)

    async def trial_model(self, wanted: WantedModel | None) -> Chosen[M]:
        """`wanted`, called once without a second try, or the model in use. Raises InvalidRequest."""
        if wanted is None:
            return self.chosen
        settings = self.saved.settings_with(self._settings, await self._checked_model(wanted))
        once = settings.model_copy(update={"llm": settings.llm.model_copy(update={"tries": 1})})
        with refused_settings():
            model = await self.choose(once, self._careful)
        return Chosen(model=model, settings=once, session=self._careful)

    async def saved_model(self) -> SavedModel | None:
        """What was saved last; None also for what was damaged since the start, which the next save replaces."""
        try:
            return await asyncio.to_thread(self._kept.read, self.saved)
        except SettingsError:
            return None

    def saved_members(self, saved: SavedModel) -> dict[str, Any]:
        """The saved model as it may be shown; not `in_force` where the settings name another protocol."""
        return {
            "provider": saved.provider,
            "model": saved.model,
            "url": saved.url,
            "has_key": saved.key is not None,
            "in_force": self.saved.is_in_force(self._settings, saved),
        }

    def fixed_values(self) -> list[FixedValue]:
        """The settings that are not changed here: an address without secrets, and no key."""
        own, given = self.saved.own(self._settings), self._settings.source.given
        open_ones = ["provider"] if self.saved.fixed_provider(self._settings) is None else []
        found = []
        for name in _SETTINGS:
            if (key := self.saved.key(name)) in given and name not in open_ones:
                value = None if name == "api_key" else getattr(own, name)
                shown = plain_url(value) if value and name.endswith("url") else value
                found.append(FixedValue(key=key, value=shown, set_by=given[key]))
        return found

    async def _choice(self, saved: SavedModel | None) -> Chosen[M]:
        is_saved = saved is not None and self.saved.is_in_force(self._settings, saved)
        session, settings = (
            self._careful if is_saved else self._session,
            self.saved.settings_with(self._settings, saved),
        )
        return Chosen(model=await self.choose(settings, session), settings=settings, session=session)

    async def _change(self, saved: SavedModel | None) -> None:
        """Save a model, None to forget the saved one, and use it, if that is possible at once."""
        chosen = None
        if self.use is not None:
            with refused_settings():
                chosen = await self._choice(saved)
        if saved is None:
            await asyncio.to_thread(self._kept.forget, self.saved)
        else:
            await asyncio.to_thread(self._kept.save, self.saved, saved)
        if self.use is not None and chosen is not None:
            self._put_to_use(saved, chosen, self.use)
        _log.info("saved model changed", role=self.saved.section, model=saved and saved.model)

    def _put_to_use(self, saved: SavedModel | None, chosen: Chosen[M], use: Callable[[Chosen[M]], None]) -> None:
        self._saved, self.chosen = saved, chosen
        use(chosen)

    async def _checked_model(self, wanted: WantedModel) -> SavedModel:
        """`wanted` with the key of its address. Raises InvalidRequest for what is wrong or set elsewhere."""
        url = await checked_address(wanted.provider, wanted.url)
        checked = SavedModel(provider=wanted.provider, url=url, model=checked_name(wanted.model))
        self._refuse_if_set_elsewhere(checked, is_new_key=bool(wanted.key))
        if wanted.provider == "ollama":
            return checked
        return replace(checked, key=key_for(url, wanted.key, await self.saved_model()))

    def _refuse_if_set_elsewhere(self, wanted: SavedModel, *, is_new_key: bool) -> None:
        """Raise InvalidRequest where file, environment or command line set another value."""
        settings, given = self._settings, self._settings.source.given
        own, at = self.saved.own(settings), self.saved.address(wanted.provider)
        is_their_key = wanted.provider != "ollama" and origin_of(wanted.url) == origin_of(
            self.saved.key_url(settings)
        )
        differs = {
            "provider": self.saved.fixed_provider(settings) not in (None, wanted.provider),
            "model": self.saved.key("model") in given and wanted.model != own.model,
            at: self.saved.key(at) in given and wanted.url != getattr(own, at),
            "api_key": own.api_key is not None and is_their_key and is_new_key,
        }
        for key in (self.saved.key(name) for name, is_other in differs.items() if is_other):
            raise set_elsewhere(key, given.get(key, "the settings"))


class ChatRole(ConnectedRole[ChatModel]):
    """The language model. An Ollama that is started later is found, too."""

    saved = SAVED_CHAT

    @cached_property
    def _ollama(self) -> Cached[list[str]]:
        return Cached(self._look_for_ollama, for_s=_LOOK_AGAIN_S)

    async def choose(self, settings: Settings, session: aiohttp.ClientSession) -> ChatModel:
        """See the base."""
        return await choose_model(settings.llm, session)

    def endpoint(self, settings: Settings) -> Endpoint:
        """See the base."""
        return endpoint_of(settings.llm, settings.llm.model)

    def suitable_models(self, models: Sequence[str]) -> list[str]:
        """See the base."""
        return those_that_chat(models)

    async def setup(self) -> ModelSetup:
        """The model in use, and what may be changed."""
        saved, used, url = await self.saved_model(), self.chosen.model, chat_url(self.chosen)
        return ModelSetup(
            in_use=ModelUsed(
                provider=used.provider,
                model=used.name,
                url=None if url is None else plain_url(url),
                has_key=used.provider.startswith("openai") and self.chosen.settings.llm.api_key is not None,
            ),
            saved=None if saved is None else ModelSaved(**self.saved_members(saved)),
            fixed=self.fixed_values(),
            ollama_url=plain_url(self._settings.llm.ollama_url),
            serves_tree=self._settings.workflows.config_dir is not None,
        )

    async def test(self, wanted: WantedModel | None) -> ModelTest:
        """Ask one question of `wanted`, or of the model in use. Raises InvalidRequest for what cannot be asked."""
        return await ask_once(await self.trial_model(wanted))

    async def later_ollama(self) -> OllamaFound:
        """An Ollama that was started later, where the settings leave the choice to the server and it has none."""
        llm = self._settings.llm
        url = plain_url(llm.ollama_url)
        is_open = llm.provider == "auto" and llm.api_key is None and self.chosen.model.provider == "offline"
        if not is_open or await self.saved_model() is not None:
            return OllamaFound(looked=False, url=url)
        return OllamaFound(looked=True, url=url, models=await self._ollama.get() or ())

    async def aclose(self) -> None:
        """Cancel the look for an Ollama."""
        await self._ollama.aclose()

    async def _look_for_ollama(self) -> list[str]:
        return those_that_chat(await ollama_models(self._settings.llm.ollama_url, self._session))


class EmbeddingRole(ConnectedRole[EmbeddingModel]):
    """The embedding model."""

    saved = SAVED_EMBEDDING

    async def choose(self, settings: Settings, session: aiohttp.ClientSession) -> EmbeddingModel:
        """See the base; nothing is loaded or called yet."""
        return choose_embedding(settings, session)

    def endpoint(self, settings: Settings) -> Endpoint:
        """See the base."""
        return embedding_endpoint(settings)

    def suitable_models(self, models: Sequence[str]) -> list[str]:
        """See the base."""
        return embedders_first(models)

    async def setup(self) -> EmbeddingSetup:
        """The model in use, that of the next start, and what may be changed."""
        saved = await self.saved_model()
        following = self.saved.settings_with(self._settings, saved)
        is_other = following.embedding != self.chosen.settings.embedding
        return EmbeddingSetup(
            in_use=_embedding_in_use(self.chosen),
            after_restart=_embedding_in_use(await self._choice(saved) if is_other else self.chosen),
            restart_needed=is_other,
            saved=None if saved is None else EmbeddingSaved(**self.saved_members(saved)),
            fixed=self.fixed_values(),
            openai_url=plain_url(self._settings.llm.base_url),
            ollama_url=plain_url(self._settings.llm.ollama_url),
        )

    async def test(self, wanted: WantedModel | None) -> EmbeddingTest:
        """Embed one short text with `wanted`, or with the model in use. Raises InvalidRequest."""
        return await embed_once(await self.trial_model(wanted))


class MultilingualRole(ModelRole[EmbeddingModel | None]):
    """The multilingual model, if any; it is loaded at its first use."""

    async def choose(self, settings: Settings, session: aiohttp.ClientSession) -> EmbeddingModel | None:
        """See the base."""
        return choose_multilingual(settings)


def _embedding_in_use(chosen: Chosen[EmbeddingModel]) -> EmbeddingUsed:
    settings, name = chosen.settings, chosen.model.name
    is_remote = settings.embedding.provider in ("openai", "ollama")
    return EmbeddingUsed(
        provider=settings.embedding.provider,
        model=name.partition(":")[2] if is_remote else name,
        url=plain_url(settings.embedding_url) if is_remote else None,
        has_key=is_remote and settings.embedding_key is not None,
    )
