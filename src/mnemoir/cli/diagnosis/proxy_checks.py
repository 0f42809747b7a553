"""The check of `doctor` for proxies: by which way each server is asked, without the password of a proxy."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from yarl import URL

from mnemoir.chats.chat_memory import points_here
from mnemoir.cli.diagnosis.file_checks import Finding
from mnemoir.core.errors import MnemoirError
from mnemoir.core.proxies import Proxies
from mnemoir.models.model_in_use import chat_url
from mnemoir.models.roles import ChatRole, EmbeddingRole
from mnemoir.models.saved_models import saved_models_of
from mnemoir.providers.http import new_session
from mnemoir.settings import Settings
from mnemoir.settings.addresses import without_password
from mnemoir.trees.served import open_tree
from mnemoir.workflows.checking.asked import asked_endpoints
from mnemoir.workflows.node import node_types

_DIRECTLY = "directly"
_REMOTE_EMBEDDINGS = ("openai", "ollama")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A server that is asked; `is_typed`: a person typed its address in, or an identity provider told it."""

    name: str
    url: str
    is_typed: bool = False


async def check_proxies(settings: Settings) -> Finding:
    """Tell through which proxy each server of the settings and of the config tree is asked."""
    proxies = settings.http.proxies
    ways: dict[str, list[str]] = {}
    for asked in [*await _models(settings), *_of_settings(settings), *_of_tree(settings)]:
        ways.setdefault(_way_to(asked, proxies), []).append(asked.name)
    found = "; ".join(f"{way}: {', '.join(names)}" for way, names in sorted(ways.items()))
    return Finding(check="proxies", state="ok", found=found or "set, and no server is asked")


def _way_to(asked: _Asked, proxies: Proxies) -> str:
    url = URL(asked.url)
    proxy = proxies.proxy_of(url.scheme, url.host or "", url.port, is_typed=asked.is_typed)
    return _DIRECTLY if proxy is None else f"through {without_password(proxy)}"


async def _models(settings: Settings) -> Sequence[_Asked]:
    """The language model and the embedding model in use, where they are elsewhere; saved ones were typed in."""
    found: list[_Asked] = []
    async with new_session() as session, new_session(is_careful=True) as careful:
        with suppress(MnemoirError):  # of a model that cannot be used, which has its own check
            async with saved_models_of(settings) as kept:
                chat = await ChatRole(settings, session, careful, kept).open()
            if (url := chat_url(chat)) is not None:
                found.append(_Asked(name="language model", url=url, is_typed=chat.session is careful))
        with suppress(MnemoirError, ImportError):
            async with saved_models_of(settings) as kept:
                embedding = await EmbeddingRole(settings, session, careful, kept).open()
            if embedding.settings.embedding.provider in _REMOTE_EMBEDDINGS:
                url, is_typed = embedding.settings.embedding_url, embedding.session is careful
                found.append(_Asked(name="embedding model", url=url, is_typed=is_typed))
    return found


def _of_settings(settings: Settings) -> Iterator[_Asked]:
    for issuer in [*(one.issuer for one in settings.auth.oidc), *(one.issuer for one in settings.auth.jwt)]:
        yield _Asked(name=f"keys of {URL(issuer).host}", url=issuer, is_typed=True)
    if not points_here(settings):
        yield _Asked(name="memory service", url=settings.memory.management_url)


def _of_tree(settings: Settings) -> Iterator[_Asked]:
    with suppress(MnemoirError):  # of a tree that cannot be read, which has its own check
        served = open_tree(settings)
        for one in () if served is None else asked_endpoints(served.tree, served.users, node_types(), ()):
            if one.definition is not None:
                with suppress(ValueError):
                    yield _Asked(name=f"endpoint {one.name}", url=str(URL(one.definition.url).origin()))
