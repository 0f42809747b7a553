"""The models: the language model in use, the embedding model, and the rules that keep personal data from both."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import aiohttp

from mnemoir.access.personal_data import Discreet, discreet_embedding, make_discreet, make_rules
from mnemoir.core.owning import Own
from mnemoir.models.connecting import open_model
from mnemoir.models.embedding_connection import EmbeddingConnection, OpenEmbedding
from mnemoir.models.model_in_use import ModelInUse
from mnemoir.ports.embedding import EmbeddingModel
from mnemoir.privacy.detection import Rules
from mnemoir.settings import Settings
from mnemoir.settings.saved_model import EMBEDDING_MODEL, LANGUAGE_MODEL


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """The models of a run, and its settings, which name the embedding model that was saved."""

    settings: Settings
    in_use: ModelInUse
    embedding: EmbeddingModel
    embedding_session: aiohttp.ClientSession
    embedding_connection: EmbeddingConnection
    rules: Callable[[], Rules]
    discreet: Discreet


async def open_models(
    settings: Settings, session: aiohttp.ClientSession, careful: aiohttp.ClientSession, own: Own
) -> Models:
    """Choose the models; saved ones are called with the `careful` session. Raises SettingsError."""
    for saved in (LANGUAGE_MODEL, EMBEDDING_MODEL):
        saved.drop_former_keys(settings.storage.data_dir)  # of a save that was killed
    rules = make_rules(settings)
    discreet = make_discreet(settings, rules)
    in_use = own(ModelInUse(await open_model(settings, session, careful), discreet))
    opened = await asyncio.to_thread(OpenEmbedding, settings, session, careful)
    return Models(
        settings=opened.settings,
        in_use=in_use,
        embedding=discreet_embedding(opened.settings, rules, own(opened.model)),
        embedding_session=opened.session,
        embedding_connection=EmbeddingConnection(settings, opened, careful),
        rules=rules,
        discreet=discreet,
    )
