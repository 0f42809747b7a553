"""The models: those in use, how they are changed and looked at, and the rules that keep personal data from them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import aiohttp

from mnemoir.access.personal_data import discreet_embedding, make_discreet, make_rules
from mnemoir.core.owning import Own
from mnemoir.models.choice import ModelInquiry, timeouts_of
from mnemoir.models.client_embedding import ClientEmbedding
from mnemoir.models.endpoints import Endpoints
from mnemoir.models.health import Checkup
from mnemoir.models.model_in_use import ModelInUse
from mnemoir.models.roles import ChatRole, EmbeddingRole
from mnemoir.models.saved_models import Renewal, SavedModels
from mnemoir.models.spaces import open_spaces
from mnemoir.ports.embedding import EmbeddingModel
from mnemoir.ports.llm import ModelServers
from mnemoir.privacy.detection import Rules
from mnemoir.privacy.models import DiscreetServers
from mnemoir.providers.llm.model_servers import HttpModelServers
from mnemoir.search.spaces import FurtherSpace
from mnemoir.settings import Settings
from mnemoir.settings.addresses import is_loopback
from mnemoir.settings.saved_model import EMBEDDING_MODEL, LANGUAGE_MODEL
from mnemoir.trees.served import Served
from mnemoir.wire.forwarding import Forwarding


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """The models of a run, and its settings, which name the embedding model that was saved."""

    settings: Settings
    in_use: ModelInUse
    chat_role: ChatRole
    embedding: EmbeddingModel
    embedding_role: EmbeddingRole
    spaces: Sequence[FurtherSpace]  # beside that of the embedding model
    client_embedding: ClientEmbedding
    servers: ModelServers  # the endpoints of a config tree
    rules: Callable[[], Rules]
    checkup: Checkup
    inquiry: ModelInquiry


async def open_models(
    settings: Settings,
    served: Served | None,
    session: aiohttp.ClientSession,
    careful: aiohttp.ClientSession,
    kept: SavedModels,
    own: Own,
) -> Models:
    """Choose the models; those that `kept` has saved are called with the `careful` session.

    Raises SettingsError and StorageUnavailable.
    """
    for saved in (LANGUAGE_MODEL, EMBEDDING_MODEL):
        saved.drop_former_keys(settings.storage.data_dir)  # of a save that was killed
    rules = make_rules(settings)
    discreet = make_discreet(settings, rules)
    chat_role = own(ChatRole(settings, session, careful, kept))
    in_use = own(ModelInUse(await chat_role.open(), discreet))
    chat_role.use = in_use.use
    own(await Renewal.begin(chat_role.renew, kept))
    embedding_role = EmbeddingRole(settings, session, careful, kept)
    opened = await embedding_role.open()
    settings = opened.settings
    embedding = discreet_embedding(settings, rules, own(opened.model))
    servers = _model_servers(settings, session)
    endpoints = Endpoints(served, servers, session)
    return Models(
        settings=settings,
        in_use=in_use,
        chat_role=chat_role,
        embedding=embedding,
        embedding_role=embedding_role,
        spaces=await open_spaces(settings, session, own),
        client_embedding=ClientEmbedding(embedding, forwarding_of(settings).forward),
        servers=DiscreetServers(servers, discreet),
        rules=rules,
        checkup=own(Checkup(settings, in_use, embedding, endpoints, opened.session)),
        inquiry=own(ModelInquiry(in_use)),
    )


def forwarding_of(settings: Settings) -> Forwarding:
    """The members of client requests that models get: by default all if only this machine can call and no key is set.

    A server that others can reach passes only members known to be harmless.
    """
    server = settings.server
    private = is_loopback(server.host) and not server.api_keys and server.admin_api_key is None
    return Forwarding(
        forward=settings.llm.forward or ("all" if private else "listed"), think_as=settings.llm.think_as
    )


def _model_servers(settings: Settings, session: aiohttp.ClientSession) -> HttpModelServers:
    """The endpoints of a config tree; none is called yet."""
    return HttpModelServers(
        session,
        timeouts=timeouts_of(settings.workflows.timeouts),
        tries=settings.llm.tries,
        most_bytes=settings.llm.most_bytes,
        calls_at_once=settings.workflows.endpoint_calls_at_once,
    )
