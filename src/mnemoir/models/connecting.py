"""Connecting a language model while the server runs: what is in use and why, trying one, saving one.

What file, environment or command line set stays as it is; a saved value that contradicts it is refused. Nothing here
returns a key, or what a server said that is no model's answer.
"""

import asyncio
from dataclasses import replace

import aiohttp
import structlog

from mnemoir.core.cached import Cached
from mnemoir.core.errors import InvalidRequest, SettingsError
from mnemoir.models.choice import choose_model, ollama_models, those_that_chat
from mnemoir.models.model_address import checked_address, checked_name, key_for, saved_or_none, set_elsewhere
from mnemoir.models.model_in_use import Chosen, ModelInUse
from mnemoir.models.model_setup import (
    FixedValue,
    ModelSaved,
    ModelSetup,
    ModelsOffered,
    ModelTest,
    ModelUsed,
    OllamaFound,
    WantedModel,
)
from mnemoir.models.model_trials import asked_once, models_at
from mnemoir.models.reaching import plain_url
from mnemoir.settings import Settings
from mnemoir.settings.saved_model import (
    LANGUAGE_MODEL,
    SavedModel,
    SavedProvider,
    effective,
    fixed_provider,
    is_in_force,
    origin_of,
)

_LOOK_AGAIN_S = 10.0
_ANY = "any"
_KEYS = ("llm.provider", "llm.model", "llm.base_url", "llm.ollama_url", "llm.api_key")
_log = structlog.get_logger(__name__)


async def open_model(settings: Settings, session: aiohttp.ClientSession, careful: aiohttp.ClientSession) -> Chosen:
    """The model at the start: the saved one, below what the settings say. Raises SettingsError."""
    saved = await asyncio.to_thread(LANGUAGE_MODEL.read, settings.storage.data_dir)
    return await _chosen(settings, saved, session, careful)


async def _chosen(
    settings: Settings,
    saved: SavedModel[SavedProvider] | None,
    session: aiohttp.ClientSession,
    careful: aiohttp.ClientSession,
) -> Chosen:
    is_saved = saved is not None and is_in_force(settings, saved)
    used, llm = careful if is_saved else session, effective(settings, saved)
    return Chosen(model=await choose_model(llm, used), llm=llm, session=used)


class ModelConnection:
    """Changes the language model of a running server. The caller owns the sessions; `careful` is for saved models."""

    def __init__(
        self,
        settings: Settings,
        in_use: ModelInUse,
        *,
        session: aiohttp.ClientSession,
        careful: aiohttp.ClientSession,
        serves_tree: bool,
    ) -> None:
        self._settings = settings
        self._in_use = in_use
        self._session = session
        self._careful = careful
        self._serves_tree = serves_tree
        self._changing = asyncio.Lock()
        self._ollama = Cached(self._look_for_ollama, for_s=_LOOK_AGAIN_S)

    async def setup(self) -> ModelSetup:
        """The model in use, and what may be changed."""
        chosen, saved = self._in_use.chosen, await self._saved()
        return ModelSetup(
            in_use=ModelUsed(
                provider=chosen.model.provider,
                model=chosen.model.name,
                url=None if chosen.url is None else plain_url(chosen.url),
                has_key=chosen.model.provider.startswith("openai") and chosen.llm.api_key is not None,
            ),
            saved=None if saved is None else self._shown(saved),
            fixed=self._fixed(),
            ollama_url=plain_url(self._settings.llm.ollama_url),
            serves_tree=self._serves_tree,
        )

    async def test(self, wanted: WantedModel | None) -> ModelTest:
        """Ask one question of `wanted`, or of the model in use. Raises InvalidRequest for what cannot be asked."""
        if wanted is None:
            return await asked_once(self._in_use.chosen.llm, self._in_use.chosen.session)
        return await asked_once(effective(self._settings, await self._checked(wanted)), self._careful)

    async def offered(self, wanted: WantedModel) -> ModelsOffered:
        """The models at the address of `wanted`, whose own name does not matter."""
        named = replace(wanted, model=self._settings.llm.model or _ANY)
        return await models_at(effective(self._settings, await self._checked(named)), self._careful)

    async def save(self, wanted: WantedModel) -> ModelSetup:
        """Save `wanted` and use it from the next call on. Raises InvalidRequest and StorageUnavailable."""
        async with self._changing:
            saved = await self._checked(wanted)
            chosen = await self._choose(saved)
            await asyncio.to_thread(LANGUAGE_MODEL.save, self._settings.storage.data_dir, saved)
            self._use(chosen)
        return await self.setup()

    async def forget(self) -> ModelSetup:
        """Remove what was saved, and go back to what the settings say. Raises InvalidRequest, StorageUnavailable."""
        async with self._changing:
            chosen = await self._choose(None)
            await asyncio.to_thread(LANGUAGE_MODEL.forget, self._settings.storage.data_dir)
            self._use(chosen)
        return await self.setup()

    async def found(self) -> OllamaFound:
        """An Ollama that was started later, where the settings leave the choice to the server and it has none."""
        llm = self._settings.llm
        url = plain_url(llm.ollama_url)
        is_open = llm.provider == "auto" and llm.api_key is None and self._in_use.now().provider == "offline"
        if not is_open or await self._saved() is not None:
            return OllamaFound(looked=False, url=url)
        return OllamaFound(looked=True, url=url, models=await self._ollama.get() or ())

    async def aclose(self) -> None:
        """Cancel the look for an Ollama."""
        await self._ollama.aclose()

    async def _look_for_ollama(self) -> list[str]:
        return those_that_chat(await ollama_models(self._settings.llm.ollama_url, self._session))

    async def _saved(self) -> SavedModel[SavedProvider] | None:
        return await saved_or_none(LANGUAGE_MODEL, self._settings.storage.data_dir)

    async def _choose(self, saved: SavedModel[SavedProvider] | None) -> Chosen:
        try:
            return await _chosen(self._settings, saved, self._session, self._careful)
        except SettingsError as exc:
            raise InvalidRequest(exc.message, code=exc.code) from exc

    def _use(self, chosen: Chosen) -> None:
        self._in_use.use(chosen)
        _log.info("language model changed", model=chosen.model.name, provider=chosen.model.provider)

    async def _checked(self, wanted: WantedModel) -> SavedModel[SavedProvider]:
        """`wanted` with the key of its address. Raises InvalidRequest for what is wrong or set elsewhere."""
        url = await checked_address(wanted.provider, wanted.url)
        checked = SavedModel(provider=wanted.provider, url=url, model=checked_name(wanted.model))
        self._refuse_fixed(checked, is_new_key=bool(wanted.key))
        if wanted.provider == "ollama":
            return checked
        return replace(checked, key=key_for(url, wanted.key, await self._saved()))

    def _refuse_fixed(self, wanted: SavedModel[SavedProvider], *, is_new_key: bool) -> None:
        """Raise InvalidRequest where file, environment or command line say otherwise."""
        llm, given = self._settings.llm, self._settings.source.given
        at = "llm.ollama_url" if wanted.provider == "ollama" else "llm.base_url"
        is_their_key = wanted.provider != "ollama" and origin_of(wanted.url) == origin_of(llm.base_url)
        differs = {
            "llm.provider": fixed_provider(self._settings) not in (None, wanted.provider),
            "llm.model": "llm.model" in given and wanted.model != llm.model,
            at: at in given and wanted.url != (llm.ollama_url if wanted.provider == "ollama" else llm.base_url),
            "llm.api_key": llm.api_key is not None and is_their_key and is_new_key,
        }
        for key in (key for key, is_other in differs.items() if is_other):
            raise set_elsewhere(key, given.get(key, "the settings"))

    def _fixed(self) -> list[FixedValue]:
        given, llm = self._settings.source.given, self._settings.llm
        shown = {
            "llm.provider": llm.provider,
            "llm.model": llm.model,
            "llm.base_url": plain_url(llm.base_url),
            "llm.ollama_url": plain_url(llm.ollama_url),
        }
        open_ones = {"llm.provider"} if fixed_provider(self._settings) is None else set()
        return [
            FixedValue(key=key, value=shown.get(key), set_by=given[key])
            for key in _KEYS
            if key in given and key not in open_ones
        ]

    def _shown(self, saved: SavedModel[SavedProvider]) -> ModelSaved:
        return ModelSaved(
            provider=saved.provider,
            model=saved.model,
            url=saved.url,
            has_key=saved.key is not None,
            in_force=is_in_force(self._settings, saved),
        )
